package io.github.distributedlock.test;

import javax.sql.DataSource;

import org.junit.jupiter.api.Test;

import org.springframework.boot.autoconfigure.EnableAutoConfiguration;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.Import;

import static org.assertj.core.api.Assertions.assertThat;

class NoDatabaseTests {

	private final ApplicationContextRunner memory = new ApplicationContextRunner()
		.withPropertyValues("distributed-lock.backend=memory");

	@Test
	void applicationHasNoDatabase() {
		this.memory.withUserConfiguration(Without.class)
			.run((context) -> assertThat(context).doesNotHaveBean(DataSource.class));
	}

	@Test
	void thoughSpringBootWouldGiveItOne() {
		this.memory.withUserConfiguration(With.class)
			.run((context) -> assertThat(context).hasSingleBean(DataSource.class));
	}

	@Configuration(proxyBeanMethods = false)
	@EnableAutoConfiguration
	@Import(NoDatabase.class)
	static class Without {

	}

	@Configuration(proxyBeanMethods = false)
	@EnableAutoConfiguration
	static class With {

	}

}
