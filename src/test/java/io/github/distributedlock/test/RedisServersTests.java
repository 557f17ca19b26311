package io.github.distributedlock.test;

import java.time.Duration;
import java.util.List;
import java.util.stream.Stream;

import io.github.distributedlock.test.RedisServers.Server;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import redis.clients.jedis.Jedis;
import redis.clients.jedis.exceptions.JedisConnectionException;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

@Tag("thorough")
class RedisServersTests {

	static Stream<String> names() {
		return Stream.of(RedisServers.EMBEDDED);
	}

	@Test
	void aServerCanBePausedAndKilled() {
		Server server = RedisServers.start(RedisServers.EMBEDDED);
		try (Jedis impatient = new Jedis("localhost", server.port(), 100)) {
			server.pause();
			assertThatExceptionOfType(JedisConnectionException.class).isThrownBy(impatient::ping);
			server.resume();
			impatient.disconnect();
			assertThat(impatient.ping()).isEqualTo("PONG");
			long pid = server.pid();
			server.kill();
			assertThat(isAlive(pid)).isFalse();
			server.start();
			assertThat(server.pid()).isNotEqualTo(pid);
			server.pause();
		}
		finally {
			server.close();
		}
		assertThat(isAlive(server.pid())).isFalse();
	}

	@ParameterizedTest
	@MethodSource("names")
	void whatAServerSavedItFindsAgain(String name) {
		try (Server server = RedisServers.start(name, "appendonly yes", "appendfsync always")) {
			try (Jedis admin = server.admin()) {
				admin.set("k", "v");
			}
			server.kill();
			server.start();
			try (Jedis admin = server.admin()) {
				assertThat(admin.get("k")).isEqualTo("v");
			}
			server.stop();
			server.start();
		}
	}

	@ParameterizedTest
	@MethodSource("names")
	void eachMasterOfAClusterServesItsKeys(String name) {
		try (RedisCluster cluster = RedisCluster.start(name, 3)) {
			assertThat(cluster.masters()).hasSize(3);
			for (String key : List.of("a", "b", "c", "d", "lock:{a}")) {
				try (Jedis master = cluster.masterOf(key).admin()) {
					assertThat(master.set(key, "v")).isEqualTo("OK");
				}
			}
		}
	}

	@ParameterizedTest
	@MethodSource("names")
	void replicasFollowTheirMaster(String name) {
		try (RedisReplicas servers = RedisReplicas.start(name, 2); Jedis master = servers.master().admin()) {
			master.set("k", "v");
			assertThat(master.waitReplicas(2, 5_000)).isEqualTo(2);
			for (Server replica : servers.replicas()) {
				try (Jedis admin = replica.admin()) {
					assertThat(admin.get("k")).isEqualTo("v");
				}
			}
		}
	}

	@ParameterizedTest
	@MethodSource("names")
	void sentinelsPromoteAReplica(String name) {
		try (RedisSentinels sentinels = RedisSentinels.start(name, 1)) {
			assertThat(sentinels.master()).isSameAs(sentinels.servers().master());
			sentinels.servers().master().kill();
			Awaitility.await()
				.atMost(Duration.ofSeconds(60))
				.untilAsserted(() -> assertThat(sentinels.master()).isSameAs(sentinels.servers().replicas().get(0)));
		}
	}

	private static boolean isAlive(long pid) {
		return ProcessHandle.of(pid).map(ProcessHandle::isAlive).orElse(false);
	}

}
