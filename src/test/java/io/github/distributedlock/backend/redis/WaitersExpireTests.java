package io.github.distributedlock.backend.redis;

import java.io.IOException;
import java.time.Duration;
import java.util.Arrays;
import java.util.stream.Stream;

import io.github.distributedlock.LockBackendException;
import io.github.distributedlock.backend.Claim;
import io.github.distributedlock.backend.redis.RedisLockSettings.Atomicity;
import io.github.distributedlock.test.Client;
import io.github.distributedlock.test.RedisServers;
import io.github.distributedlock.test.RedisServers.Server;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;
import redis.clients.jedis.Jedis;

import org.springframework.data.redis.connection.RedisStandaloneConfiguration;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.awaitility.Awaitility.await;

/**
 * Who waits without scripts leaves nothing for ever, although it hears no more from the
 * server from the moment of its registration on, as if it had died.
 */
class WaitersExpireTests {

	private static final Duration LEASE = Duration.ofSeconds(30);

	static Stream<Arguments> ways() {
		return Arrays.stream(Client.values())
			.flatMap((client) -> Stream.of(Atomicity.TRANSACTION, Atomicity.BEST_EFFORT)
				.map((way) -> Arguments.of(client, way)));
	}

	@ParameterizedTest
	@MethodSource("ways")
	void aRegistrationWithoutAnAnswerExpires(Client client, Atomicity way) throws IOException {
		try (Server server = RedisServers.start(RedisServers.EMBEDDED);
				Jedis admin = server.admin();
				Relay relay = new Relay(server.port());
				RedisLockBackend backend = client.backend(new RedisStandaloneConfiguration("localhost", relay.port()),
						RedisLockSettings.defaults().commandTimeout(Duration.ofSeconds(3)).atomicity(way))) {
			assertThat(backend.acquire(new Claim("k", "a:1", "a", LEASE)).acquired()).isTrue();
			relay.answerNothingFrom("ZADD");
			assertThatExceptionOfType(LockBackendException.class)
				.isThrownBy(() -> backend.acquireOrRegister(new Claim("k", "b:1", "b", LEASE)));
			await("the waiters expire").atMost(LEASE).until(() -> admin.pttl("lock-waiters:{k}") > 0);
		}
	}

}
