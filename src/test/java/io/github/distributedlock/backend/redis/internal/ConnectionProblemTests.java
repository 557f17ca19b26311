package io.github.distributedlock.backend.redis.internal;

import java.time.Duration;

import io.github.distributedlock.LockBackendException;
import io.github.distributedlock.backend.redis.RedisLockBackend;
import io.github.distributedlock.backend.redis.RedisLockSettings;
import io.github.distributedlock.fixtures.Client;
import io.github.distributedlock.fixtures.RedisServers;
import io.github.distributedlock.fixtures.RedisServers.Server;
import org.junit.jupiter.api.parallel.Execution;
import org.junit.jupiter.api.parallel.ExecutionMode;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

import org.springframework.data.redis.connection.RedisConnectionFactory;
import org.springframework.data.redis.connection.RedisStandaloneConfiguration;
import org.springframework.data.redis.connection.jedis.JedisClientConfiguration;
import org.springframework.data.redis.connection.jedis.JedisConnectionFactory;
import org.springframework.data.redis.connection.lettuce.LettuceClientConfiguration;
import org.springframework.data.redis.connection.lettuce.LettuceConnectionFactory;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * The exception of a failed connection says what to change.
 */
@Execution(ExecutionMode.CONCURRENT)
class ConnectionProblemTests {

	private final Server server = RedisServers.shared(RedisServers.EMBEDDED);

	@ParameterizedTest
	@EnumSource
	void aPasswordThatIsMissingIsNamed(Client client) {
		try (Server guarded = RedisServers.start(RedisServers.EMBEDDED, "user default on >secret ~* &* +@all",
				"user admin on nopass ~* &* +@all")) {
			RedisStandaloneConfiguration address = new RedisStandaloneConfiguration("localhost", guarded.port());
			assertThat(failure(client.connectTo(address))).hasMessageContainingAll("NOAUTH",
					"spring.data.redis.password");
			address.setPassword("wrong");
			assertThat(failure(client.connectTo(address))).hasMessageContainingAll("WRONGPASS",
					"spring.data.redis.password");
		}
	}

	@ParameterizedTest
	@EnumSource
	void aPortWithoutTlsIsTold(Client client) {
		RedisStandaloneConfiguration address = new RedisStandaloneConfiguration("localhost", this.server.port());
		assertThat(failure(withTls(client, address), Duration.ofSeconds(1)))
			.hasMessageContainingAll("does not speak TLS on this port", "spring.data.redis.ssl.enabled=false");
	}

	@ParameterizedTest
	@EnumSource
	void aHostThatIsUnknownIsTold(Client client) {
		assertThat(failure(client.connectTo(new RedisStandaloneConfiguration("nowhere.invalid", 6379))))
			.hasMessageContainingAll("nowhere.invalid", "no such host is known", "spring.data.redis.host");
	}

	private static RedisConnectionFactory withTls(Client client, RedisStandaloneConfiguration address) {
		return switch (client) {
			case JEDIS -> new JedisConnectionFactory(address, JedisClientConfiguration.builder().useSsl().build());
			case LETTUCE ->
				new LettuceConnectionFactory(address, LettuceClientConfiguration.builder().useSsl().build());
		};
	}

	private static LockBackendException failure(RedisConnectionFactory application) {
		return failure(application, Duration.ofSeconds(30));
	}

	private static LockBackendException failure(RedisConnectionFactory application, Duration timeout) {
		try (RedisLockBackend backend = new RedisLockBackend(application,
				RedisLockSettings.defaults().commandTimeout(timeout))) {
			backend.atomicity();
			throw new AssertionError("It was connected");
		}
		catch (LockBackendException ex) {
			return ex;
		}
	}

}
