package io.github.distributedlock.docs;

import io.github.distributedlock.autoconfigure.Contexts;
import io.github.distributedlock.fixtures.NoDatabase;
import io.github.distributedlock.fixtures.RedisServers.Server;

import org.springframework.boot.WebApplicationType;
import org.springframework.boot.autoconfigure.SpringBootApplication;
import org.springframework.boot.builder.SpringApplicationBuilder;
import org.springframework.context.ConfigurableApplicationContext;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Import;
import org.springframework.jdbc.core.JdbcTemplate;
import org.springframework.jdbc.datasource.DriverManagerDataSource;

/**
 * An application with the README's classes. Two instances on one Redis have as little in
 * common as two JVMs.
 */
@SpringBootApplication
@Import(NoDatabase.class)
class DocsApplication {

	@Bean
	Migrated migrated() {
		return new Migrated();
	}

	@Bean
	PriceSource priceSource() {
		return (sku) -> "price of " + sku;
	}

	/**
	 * A database that all instances share, and that is not there before it is used.
	 */
	@Bean
	JdbcTemplate database() {
		return new JdbcTemplate(new DriverManagerDataSource("jdbc:h2:mem:docs;DB_CLOSE_DELAY=-1"));
	}

	static ConfigurableApplicationContext start(Server redis, String... properties) {
		return new SpringApplicationBuilder(DocsApplication.class).web(WebApplicationType.NONE)
			.properties(Contexts.patient(redis.port()))
			.properties("spring.main.banner-mode=off")
			.properties(properties)
			.run();
	}

}
