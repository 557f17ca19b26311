package io.github.distributedlock.autoconfigure;

import java.io.IOException;
import java.nio.file.Path;

import io.github.distributedlock.annotation.DistributedLock;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

import org.springframework.aot.hint.RuntimeHints;
import org.springframework.aot.hint.RuntimeHintsRegistrar;
import org.springframework.aot.hint.predicate.RuntimeHintsPredicates;
import org.springframework.core.io.Resource;
import org.springframework.core.io.support.PathMatchingResourcePatternResolver;
import org.springframework.core.io.support.SpringFactoriesLoader;
import org.springframework.data.redis.connection.jedis.JedisClientConfiguration;
import org.springframework.data.redis.connection.lettuce.LettuceConnectionFactory;
import org.springframework.util.ClassUtils;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assumptions.assumeThat;

class DistributedLockRuntimeHintsTests {

	private static final String SCRIPTS = "io/github/distributedlock/backend/";

	private final RuntimeHints hints = new RuntimeHints();

	@BeforeEach
	void registerAllThatAreFound() {
		SpringFactoriesLoader.forResourceLocation("META-INF/spring/aot.factories")
			.load(RuntimeHintsRegistrar.class)
			.stream()
			.filter(DistributedLockRuntimeHints.class::isInstance)
			.forEach((registrar) -> registrar.registerHints(this.hints, getClass().getClassLoader()));
	}

	@ParameterizedTest
	@CsvSource({ "redis/, *.lua", "jdbc/, *.sql" })
	void keepTheScripts(String store, String pattern) throws IOException {
		Resource[] scripts = new PathMatchingResourcePatternResolver()
			.getResources("classpath*:" + SCRIPTS + store + pattern);
		assertThat(scripts).hasSizeGreaterThanOrEqualTo(4)
			.extracting(Resource::getFilename)
			.allSatisfy((name) -> assertThat(RuntimeHintsPredicates.resource().forResource(SCRIPTS + store + name))
				.accepts(this.hints));
	}

	@Test
	void keepTheFileOfTheStarterForDatabases() {
		assertThat(Path.of("src/artifacts/jdbc/resources", Stores.JDBC_STARTER)).exists();
		assertThat(RuntimeHintsPredicates.resource().forResource(Stores.JDBC_STARTER)).accepts(this.hints);
	}

	@Test
	@SuppressWarnings("removal") // The replacement exists since Spring Framework 7.
	void letTheAnnotationBeSynthesized() throws NoSuchMethodException {
		assertThat(RuntimeHintsPredicates.proxies().forInterfaces(DistributedLock.class)).accepts(this.hints);
		assertThat(RuntimeHintsPredicates.reflection().onMethod(DistributedLock.class.getMethod("key")).invoke())
			.accepts(this.hints);
	}

	@Test
	@SuppressWarnings("removal")
	void letTheConfigurationOfJedisBeOverridden() throws NoSuchMethodException {
		Class<?> configuration = JedisClientConfiguration.class;
		assertThat(RuntimeHintsPredicates.proxies().forInterfaces(configuration)).accepts(this.hints);
		assertThat(RuntimeHintsPredicates.reflection().onMethod(configuration.getMethod("isUseSsl")).invoke())
			.accepts(this.hints);
	}

	@Test
	@SuppressWarnings("removal")
	void letTheBodyOfAResponseBeRead() throws ReflectiveOperationException {
		String entity = "org.springframework.http.HttpEntity";
		assumeThat(ClassUtils.isPresent(entity, null)).as("Spring Web is there").isTrue();
		assertThat(RuntimeHintsPredicates.reflection().onMethod(Class.forName(entity).getMethod("getBody")).invoke())
			.accepts(this.hints);
	}

	@Test
	@SuppressWarnings("removal")
	void showWhereLettuceKeepsItsServers() throws NoSuchFieldException {
		assertThat(RuntimeHintsPredicates.reflection()
			.onField(LettuceConnectionFactory.class.getDeclaredField("configuration"))).accepts(this.hints);
	}

}
