package io.github.distributedlock.autoconfigure;

import java.io.ByteArrayOutputStream;
import java.io.File;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;

import javax.tools.ToolProvider;

import io.github.distributedlock.fixtures.JvmProcess;
import io.github.distributedlock.fixtures.Programs;
import io.github.distributedlock.fixtures.TestRedis;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.api.io.TempDir;

import org.springframework.boot.SpringApplicationAotProcessor;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * An application is processed ahead of time, as Spring Boot's plugins do. The generated
 * sources are compiled, and run with {@code spring.aot.enabled=true}.
 */
class AheadOfTimeTests {

	@RegisterExtension
	static final TestRedis redis = new TestRedis();

	@TempDir
	private static Path directory;

	private static Programs processed;

	private static Programs applications;

	@BeforeAll
	static void processCompileAndRun() throws IOException {
		List<String> classPath = List.of(JvmProcess.classPath());
		processed = Programs.run(classPath, Map.of(), processing(AheadOfTime.class),
				processing(AheadOfTimeRefused.class));
		assertThat(processed.hasFailed(processing(AheadOfTime.class))).isFalse();
		compile(AheadOfTime.class);
		applications = Programs.run(
				List.of(directory(AheadOfTime.class, "classes"), directory(AheadOfTime.class, "resources"),
						JvmProcess.classPath()),
				Map.of("spring.aot.enabled", "true"), inMemory(), inRedis(), refused(), switchedOff());
	}

	private static void compile(Class<?> application) throws IOException {
		List<String> arguments = new ArrayList<>(List.of("-proc:none", "-nowarn", "-cp",
				directory(application, "classes") + File.pathSeparator + JvmProcess.classPath(), "-d",
				directory(application, "classes")));
		try (Stream<Path> sources = Files.walk(Path.of(directory(application, "sources")))) {
			sources.map(Path::toString).filter((source) -> source.endsWith(".java")).forEach(arguments::add);
		}
		ByteArrayOutputStream said = new ByteArrayOutputStream();
		assertThat(ToolProvider.getSystemJavaCompiler().run(null, said, said, arguments.toArray(String[]::new)))
			.as(said::toString)
			.isZero();
	}

	@Test
	void anApplicationLocksInMemory() {
		assertThat(applications.output(inMemory())).contains("ahead of time: true, held: [stock:A1]");
	}

	@Test
	void anApplicationLocksInRedis() {
		assertThat(applications.output(inRedis())).contains("ahead of time: true, held: [stock:A1]");
		assertThat(redis.admin().info("commandstats")).contains("cmdstat_evalsha");
	}

	@Test
	void anApplicationThatIsSwitchedOffTooLateSaysWhatIsStillLocked() {
		assertThat(applications.output(switchedOff())).contains("ahead of time: true, held: [stock:A1]")
			.anyMatch((line) -> line.contains("the application was processed ahead of time with locks: methods with"
					+ " @DistributedLock run WITHOUT their locks, and what is locked in code still is"));
	}

	@Test
	void anAnnotationThatCannotWorkIsRefusedAtTheStart() {
		assertThat(applications.hasFailed(refused())).isTrue();
		assertThat(applications.output(refused())).contains("APPLICATION FAILED TO START")
			.anyMatch((line) -> line.contains("eternal"));
	}

	@Test
	void anAnnotationThatCanNeverWorkIsNotEvenProcessed() {
		String processing = processing(AheadOfTimeRefused.class);
		assertThat(processed.hasFailed(processing)).isTrue();
		assertThat(processed.output(processing)).anyMatch((line) -> line.contains("unknown parameter #article"));
	}

	private static String processing(Class<?> application) {
		return String.join(" ", SpringApplicationAotProcessor.class.getName(), application.getName(),
				directory(application, "sources"), directory(application, "resources"),
				directory(application, "classes"), "com.example", "application");
	}

	private static String directory(Class<?> application, String name) {
		return directory.resolve(application.getSimpleName()).resolve(name).toString();
	}

	private static String inMemory() {
		return AheadOfTime.class.getName() + " --distributed-lock.backend=memory";
	}

	private static String inRedis() {
		return AheadOfTime.class.getName() + " --" + String.join(" --", Contexts.patient(redis.port()));
	}

	private static String switchedOff() {
		return inMemory() + " --distributed-lock.enabled=false";
	}

	private static String refused() {
		return inMemory() + " --till.patience=eternal";
	}

}
