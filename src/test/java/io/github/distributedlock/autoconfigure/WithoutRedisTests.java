package io.github.distributedlock.autoconfigure;

import java.io.File;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.stream.Collectors;

import io.github.distributedlock.fixtures.JvmProcess;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

import org.springframework.boot.WebApplicationType;
import org.springframework.boot.autoconfigure.EnableAutoConfiguration;
import org.springframework.boot.builder.SpringApplicationBuilder;
import org.springframework.context.ConfigurableApplicationContext;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.Import;
import org.springframework.util.ClassUtils;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * An application with the starter, from which Spring Data Redis and Jedis are excluded,
 * in a JVM of its own.
 */
class WithoutRedisTests {

	@ParameterizedTest
	@ValueSource(strings = { "jdbc", "memory,jdbc" })
	void locksElsewhere(String backend) {
		try (JvmProcess application = run("--distributed-lock.backend=" + backend)) {
			application.awaitLine("Redis: false, held: [greeting]");
		}
	}

	@Test
	void saysThatRedisIsMissing() {
		try (JvmProcess application = run()) {
			assertThat(application.awaitExit()).isNotZero();
			assertThat(application.output()).contains("APPLICATION FAILED TO START")
				.anyMatch((line) -> line.contains("Spring Data Redis is not on the class path"))
				.anyMatch((line) -> line.contains("distributed-lock.backend=jdbc"));
		}
	}

	@Test
	void saysThatSpringJdbcIsMissing() {
		try (JvmProcess application = start("jdbc", "--distributed-lock.backend=jdbc")) {
			assertThat(application.awaitExit()).isNotZero();
			assertThat(application.output()).contains("APPLICATION FAILED TO START")
				.anyMatch((line) -> line.contains("spring-boot-starter-jdbc"));
		}
	}

	private static JvmProcess run(String... arguments) {
		return start("redis|jedis|lettuce|redisson|r2dbc", arguments);
	}

	private static JvmProcess start(String excluded, String... arguments) {
		String classPath = Arrays.stream(JvmProcess.classPath().split(File.pathSeparator))
			.filter((entry) -> !new File(entry).getName().matches(".*(" + excluded + ").*"))
			.collect(Collectors.joining(File.pathSeparator));
		return JvmProcess.start(List.of("-cp", classPath), Application.class, Map.of("spring.main.banner-mode", "off"),
				arguments);
	}

	/**
	 * Has a database, since H2 is there. With R2DBC, Spring Boot 3.5 would give it none.
	 */
	@Configuration(proxyBeanMethods = false)
	@EnableAutoConfiguration
	@Import(Greeter.class)
	static class Application {

		public static void main(String[] arguments) {
			try (ConfigurableApplicationContext context = new SpringApplicationBuilder(Application.class)
				.web(WebApplicationType.NONE)
				.run(arguments)) {
				System.out
					.println("Redis: " + ClassUtils.isPresent("org.springframework.data.redis.core.RedisTemplate", null)
							+ ", held: " + context.getBean(Greeter.class).heldKeys());
			}
		}

	}

}
