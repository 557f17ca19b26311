package io.github.distributedlock.benchmark;

import java.time.Duration;

import com.zaxxer.hikari.HikariDataSource;
import org.apache.commons.pool2.impl.GenericObjectPoolConfig;

import org.springframework.core.io.ClassPathResource;
import org.springframework.data.redis.connection.RedisStandaloneConfiguration;
import org.springframework.data.redis.connection.jedis.JedisClientConfiguration;
import org.springframework.data.redis.connection.jedis.JedisConnectionFactory;
import org.springframework.data.redis.connection.lettuce.LettuceConnectionFactory;
import org.springframework.jdbc.core.JdbcTemplate;
import org.springframework.jdbc.datasource.SingleConnectionDataSource;
import org.springframework.jdbc.datasource.init.ResourceDatabasePopulator;

/**
 * Ways to the server.
 */
final class Connections {

	static final String HOST = "localhost";

	/** Large enough that nobody waits for a connection. */
	private static final int POOL = 128;

	private Connections() {
	}

	static JedisConnectionFactory jedis(int port) {
		return started(new JedisConnectionFactory(new RedisStandaloneConfiguration(HOST, port)));
	}

	static JedisConnectionFactory pooledJedis(int port) {
		return started(new JedisConnectionFactory(new RedisStandaloneConfiguration(HOST, port),
				JedisClientConfiguration.builder().usePooling().poolConfig(pool()).build()));
	}

	static LettuceConnectionFactory lettuce(int port) {
		LettuceConnectionFactory factory = new LettuceConnectionFactory(HOST, port);
		factory.afterPropertiesSet();
		factory.start();
		return factory;
	}

	static String postgresUrl(int port) {
		return "jdbc:postgresql://" + HOST + ":" + port + "/postgres?user=postgres";
	}

	static String mariaDbUrl(int port) {
		return "jdbc:mariadb://" + HOST + ":" + port + "/locks?user=root&useAffectedRows=true";
	}

	/**
	 * Returns the operator's access to a database, after the tables of all contestants
	 * were made there.
	 */
	static JdbcTemplate withTables(String url, String timestamp, String... schemas) {
		JdbcTemplate admin = new JdbcTemplate(new SingleConnectionDataSource(url, true));
		for (String schema : schemas) {
			new ResourceDatabasePopulator(new ClassPathResource(schema)).execute(admin.getDataSource());
		}
		admin.execute(ShedLocks.TABLE);
		admin.execute(RawJdbcLocks.TABLE.formatted(timestamp));
		return admin;
	}

	static HikariDataSource postgres(int port) {
		return pool(postgresUrl(port));
	}

	static HikariDataSource mariaDb(int port) {
		return pool(mariaDbUrl(port));
	}

	/**
	 * Makes a pool with a connection for each thread that has a key of its own.
	 */
	private static HikariDataSource pool(String url) {
		HikariDataSource pool = new HikariDataSource();
		pool.setJdbcUrl(url);
		pool.setMaximumPoolSize(32);
		pool.setMinimumIdle(1);
		return pool;
	}

	static <T> GenericObjectPoolConfig<T> pool() {
		GenericObjectPoolConfig<T> pool = new GenericObjectPoolConfig<>();
		pool.setMaxTotal(POOL);
		pool.setMaxIdle(POOL);
		pool.setMaxWait(Duration.ofSeconds(10));
		pool.setJmxEnabled(false);
		return pool;
	}

	private static JedisConnectionFactory started(JedisConnectionFactory factory) {
		factory.afterPropertiesSet();
		factory.start();
		return factory;
	}

}
