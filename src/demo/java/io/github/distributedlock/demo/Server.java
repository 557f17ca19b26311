package io.github.distributedlock.demo;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.util.Map;

import io.github.distributedlock.fixtures.RedisServers;
import io.zonky.test.db.postgres.embedded.EmbeddedPostgres;

import org.springframework.data.redis.connection.RedisStandaloneConfiguration;
import org.springframework.data.redis.connection.jedis.JedisConnectionFactory;
import org.springframework.data.redis.core.StringRedisTemplate;
import org.springframework.jdbc.core.JdbcTemplate;

/**
 * The server that has the locks, and the stock.
 *
 * @param name the name of the server
 * @param properties the properties by which a JVM finds the server
 * @param stock the stock, for a program that does not take part in the sale
 * @param process ends the server
 */
record Server(String name, Map<String, String> properties, Stock stock,
		AutoCloseable process) implements AutoCloseable {

	static final String REDIS = "redis";

	static final String POSTGRESQL = "postgresql";

	static Server start(String store) {
		return switch (store) {
			case REDIS -> redis();
			case POSTGRESQL -> postgresql();
			default ->
				throw new IllegalArgumentException("--store=" + store + ": there are " + REDIS + " and " + POSTGRESQL);
		};
	}

	private static Server redis() {
		RedisServers.Server server = RedisServers.start(RedisServers.EMBEDDED);
		JedisConnectionFactory connections = new JedisConnectionFactory(
				new RedisStandaloneConfiguration("localhost", server.port()));
		connections.afterPropertiesSet();
		connections.start();
		return new Server("Redis", Map.of("spring.data.redis.port", String.valueOf(server.port())),
				new RedisStock(new StringRedisTemplate(connections)), () -> {
					connections.destroy();
					server.close();
				});
	}

	private static Server postgresql() {
		try {
			EmbeddedPostgres server = EmbeddedPostgres.start();
			JdbcTemplate database = new JdbcTemplate(server.getPostgresDatabase());
			database.execute(SqlStock.TABLE);
			return new Server("PostgreSQL", Map.of("spring.datasource.url", server.getJdbcUrl("postgres", "postgres"),
					"spring.datasource.username", "postgres"), new SqlStock(database), server);
		}
		catch (IOException ex) {
			throw new UncheckedIOException(ex);
		}
	}

	@Override
	public void close() {
		try {
			this.process.close();
		}
		catch (Exception ex) {
			throw new IllegalStateException(this.name + " does not end", ex);
		}
	}

}
