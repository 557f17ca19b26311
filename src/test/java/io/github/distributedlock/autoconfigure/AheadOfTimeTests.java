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
import io.github.distributedlock.fixtures.TestRedis;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.api.io.TempDir;

import org.springframework.boot.SpringApplicationAotProcessor;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * What Spring Boot's plugins do with an application: it is processed ahead of time, what
 * comes of that is compiled, and run with {@code spring.aot.enabled=true}.
 */
class AheadOfTimeTests {

	@RegisterExtension
	static final TestRedis redis = new TestRedis();

	@TempDir
	private static Path directory;

	@BeforeAll
	static void processAndCompile() throws IOException {
		try (JvmProcess processing = process(AheadOfTime.class)) {
			assertThat(processing.awaitExit()).as(() -> String.join("\n", processing.output())).isZero();
		}
		List<String> arguments = new ArrayList<>(
				List.of("-proc:none", "-nowarn", "-cp", classPath(), "-d", directory("classes")));
		try (Stream<Path> sources = Files.walk(directory.resolve("sources"))) {
			sources.map(Path::toString).filter((source) -> source.endsWith(".java")).forEach(arguments::add);
		}
		ByteArrayOutputStream said = new ByteArrayOutputStream();
		assertThat(ToolProvider.getSystemJavaCompiler().run(null, said, said, arguments.toArray(String[]::new)))
			.as(said::toString)
			.isZero();
	}

	@Test
	void anApplicationLocksInMemory() {
		try (JvmProcess application = run("--distributed-lock.backend=memory")) {
			application.awaitLine("ahead of time: true, held: [stock:A1]");
		}
	}

	@Test
	void anApplicationLocksInRedis() {
		redis.admin().configResetStat();
		try (JvmProcess application = run("--spring.data.redis.port=" + redis.port())) {
			application.awaitLine("ahead of time: true, held: [stock:A1]");
		}
		assertThat(redis.admin().info("commandstats")).contains("cmdstat_evalsha");
	}

	@Test
	void anAnnotationThatCannotWorkIsRefusedAtTheStart() {
		try (JvmProcess application = run("--distributed-lock.backend=memory", "--till.patience=eternal")) {
			assertThat(application.awaitExit()).isNotZero();
			assertThat(application.output()).contains("APPLICATION FAILED TO START")
				.anyMatch((line) -> line.contains("eternal"));
		}
	}

	@Test
	void anAnnotationThatCanNeverWorkIsNotEvenProcessed() {
		try (JvmProcess processing = process(AheadOfTimeRefused.class)) {
			assertThat(processing.awaitExit()).isNotZero();
			assertThat(processing.output()).anyMatch((line) -> line.contains("unknown parameter #article"));
		}
	}

	private static JvmProcess process(Class<?> application) {
		return JvmProcess.start(SpringApplicationAotProcessor.class, application.getName(), directory("sources"),
				directory("resources"), directory("classes"), "com.example", "application");
	}

	private static String directory(String name) {
		return directory.resolve(name).toString();
	}

	private static JvmProcess run(String... arguments) {
		return JvmProcess.start(List.of("-cp", classPath()), AheadOfTime.class, Map.of("spring.aot.enabled", "true"),
				arguments);
	}

	private static String classPath() {
		return String.join(File.pathSeparator, directory("classes"), directory("resources"), JvmProcess.classPath());
	}

}
