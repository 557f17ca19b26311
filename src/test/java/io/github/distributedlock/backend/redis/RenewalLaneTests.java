package io.github.distributedlock.backend.redis;

import java.time.Duration;
import java.util.List;

import io.github.distributedlock.backend.Claim;
import io.github.distributedlock.backend.redis.RedisLockSettings.Atomicity;
import io.github.distributedlock.test.Client;
import io.github.distributedlock.test.RedisServers;
import io.github.distributedlock.test.RedisServers.Server;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import redis.clients.jedis.Jedis;

import org.springframework.data.redis.connection.RedisStandaloneConfiguration;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Tests for {@link RenewalLane}.
 */
class RenewalLaneTests {

	@ParameterizedTest
	@CsvSource({ "JEDIS, LUA", "JEDIS, TRANSACTION", "LETTUCE, LUA", "LETTUCE, TRANSACTION" })
	void aLockIsRenewedThoughTheServerHasNoOtherConnectionToGive(Client client, Atomicity way) {
		Claim claim = new Claim("k", "a:1", "a", Duration.ofSeconds(30));
		try (Server server = RedisServers.start(RedisServers.EMBEDDED);
				Jedis admin = server.admin();
				RedisLockBackend backend = client.backend(new RedisStandaloneConfiguration("localhost", server.port()),
						RedisLockSettings.defaults().commandTimeout(Duration.ofSeconds(20)).atomicity(way))) {
			assertThat(backend.acquire(claim).acquired()).isTrue();
			// A step that has a connection of its own, if there are several kinds.
			backend.withdraw("k", "nobody");
			admin.configSet("maxclients", "1");
			assertThat(backend.renew(List.of(claim))).containsExactly(true);
			assertThat(backend.release(claim.key(), claim.owner())).isTrue();
		}
	}

}
