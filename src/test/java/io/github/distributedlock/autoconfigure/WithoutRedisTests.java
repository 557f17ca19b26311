package io.github.distributedlock.autoconfigure;

import java.io.File;
import java.util.Arrays;
import java.util.List;
import java.util.Map;

import io.github.distributedlock.fixtures.JvmProcess;
import io.github.distributedlock.fixtures.Programs;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;

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

	private static final String IN_DATABASE = application("--distributed-lock.backend=jdbc");

	private static final String IN_MEMORY_OR_DATABASE = application("--distributed-lock.backend=memory,jdbc");

	private static final String ANYWHERE = application("");

	private static Programs withoutRedis;

	@BeforeAll
	static void run() {
		withoutRedis = without("redis|jedis|lettuce|redisson|r2dbc", IN_DATABASE, IN_MEMORY_OR_DATABASE, ANYWHERE);
	}

	@Test
	void locksElsewhere() {
		assertThat(List.of(IN_DATABASE, IN_MEMORY_OR_DATABASE))
			.allSatisfy((application) -> assertThat(withoutRedis.output(application))
				.contains("Redis: false, held: [greeting]"));
	}

	@Test
	void saysThatRedisIsMissing() {
		assertThat(withoutRedis.hasFailed(ANYWHERE)).isTrue();
		assertThat(withoutRedis.output(ANYWHERE)).contains("APPLICATION FAILED TO START")
			.anyMatch((line) -> line.contains("Spring Data Redis is not on the class path"))
			.anyMatch((line) -> line.contains("distributed-lock.backend=jdbc"));
	}

	@Test
	void saysThatSpringJdbcIsMissing() {
		Programs withoutJdbc = without("jdbc", IN_DATABASE);
		assertThat(withoutJdbc.hasFailed(IN_DATABASE)).isTrue();
		assertThat(withoutJdbc.output(IN_DATABASE)).contains("APPLICATION FAILED TO START")
			.anyMatch((line) -> line.contains("spring-boot-starter-jdbc"));
	}

	private static String application(String arguments) {
		return (Application.class.getName() + " " + arguments).strip();
	}

	private static Programs without(String excluded, String... applications) {
		List<String> classPath = Arrays.stream(JvmProcess.classPath().split(File.pathSeparator))
			.filter((entry) -> !new File(entry).getName().matches(".*(" + excluded + ").*"))
			.toList();
		return Programs.run(classPath, Map.of("spring.main.banner-mode", "off"), applications);
	}

	/**
	 * Has a database, since H2 is there. With R2DBC, Spring Boot 3.5 would make none.
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
