package io.github.distributedlock.docs;

import java.io.IOException;
import java.util.Arrays;
import java.util.List;

import io.github.distributedlock.fixtures.NoDatabase;
import org.junit.jupiter.api.Test;

import org.springframework.boot.WebApplicationType;
import org.springframework.boot.autoconfigure.EnableAutoConfiguration;
import org.springframework.boot.builder.SpringApplicationBuilder;
import org.springframework.cache.CacheManager;
import org.springframework.cache.annotation.EnableCaching;
import org.springframework.cache.concurrent.ConcurrentMapCacheManager;
import org.springframework.context.ConfigurableApplicationContext;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.Import;
import org.springframework.data.redis.cache.RedisCacheManager;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Spring Boot's further uses of Redis, and the three properties of the documents that
 * stop them.
 */
class NewToRedisTests {

	@Test
	void springBootUsesRedisForMoreThanLocks() {
		try (ConfigurableApplicationContext context = start(List.of())) {
			assertThat(context.getBean(CacheManager.class)).isInstanceOf(RedisCacheManager.class);
			assertThat(redisBeans(context)).containsExactly("keyValueMappingContext", "redisHealthContributor");
		}
	}

	@Test
	void threePropertiesStopIt() throws IOException {
		List<String> properties = List.of(Documents.properties("repositories"));
		assertThat(properties).hasSize(3);
		try (ConfigurableApplicationContext context = start(properties)) {
			assertThat(context.getBean(CacheManager.class)).isInstanceOf(ConcurrentMapCacheManager.class);
			assertThat(redisBeans(context)).isEmpty();
		}
	}

	private static List<String> redisBeans(ConfigurableApplicationContext context) {
		return Arrays.stream(context.getBeanDefinitionNames())
			.filter((name) -> name.equals("redisHealthContributor") || name.equals("keyValueMappingContext"))
			.sorted()
			.toList();
	}

	private static ConfigurableApplicationContext start(List<String> properties) {
		return new SpringApplicationBuilder(Application.class).web(WebApplicationType.NONE)
			.properties(properties.toArray(String[]::new))
			.properties("spring.main.banner-mode=off")
			.run();
	}

	@Configuration(proxyBeanMethods = false)
	@EnableAutoConfiguration
	@Import(NoDatabase.class)
	@EnableCaching
	static class Application {

	}

}
