package io.github.distributedlock.backend.redis;

import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;

import io.github.distributedlock.backend.redis.ReleaseRace.Outcome;
import io.github.distributedlock.fixtures.AtomicityCase;
import io.github.distributedlock.fixtures.Client;
import io.github.distributedlock.fixtures.RedisServers;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.MethodSource;
import redis.clients.jedis.HostAndPort;

import org.springframework.beans.factory.DisposableBean;
import org.springframework.beans.factory.InitializingBean;
import org.springframework.context.SmartLifecycle;
import org.springframework.data.redis.connection.RedisConnectionFactory;
import org.springframework.data.redis.connection.RedisStandaloneConfiguration;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * The reason for atomic releases: {@code -Dlock.race.releases} releases, 500 by default,
 * at the moment at which the lease runs out, by each candidate on the first server that
 * has that candidate.
 */
@Tag("thorough")
@Timeout(value = 30, unit = TimeUnit.MINUTES)
@Tag("optimized")
class ReleaseRaceTests {

	private static final int RELEASES = Integer.getInteger("lock.race.releases", 500);

	static Stream<Arguments> candidates() {
		return AtomicityCase.ofEachCandidate()
			.flatMap((one) -> Stream.of(Client.values()).map((client) -> Arguments.of(one, client)));
	}

	@ParameterizedTest
	@MethodSource("candidates")
	void noReleaseDeletesTheLockOfAnother(AtomicityCase one, Client client) throws Exception {
		String prefix = "race-" + client;
		try (RedisLockBackend backend = one.backend(client, prefix)) {
			ReleaseRace race = new ReleaseRace(one.server(), prefix, (key, name, owner) -> backend.release(key, owner));
			Outcome outcome = race.run(RELEASES);
			// Best effort leaves a lock alone that is so near to the end.
			while (outcome.met() == 0 && one.atomicity() != Atomicity.BEST_EFFORT) {
				outcome = outcome.and(race.run(RELEASES));
			}
			AtomicityTables.race(one.candidate(), one.server(), client, outcome);
			assertThat(outcome.deleted()).as("locks of others deleted: %s", outcome).isZero();
		}
	}

	@ParameterizedTest
	@EnumSource
	void aHomeMadeReleaseDoes(Client client) throws Exception {
		RedisServers.Server redis = RedisServers.shared(RedisServers.EMBEDDED);
		HostAndPort server = new HostAndPort(redis.host(), redis.port());
		RedisConnectionFactory factory = client
			.connectTo(new RedisStandaloneConfiguration(server.getHost(), server.getPort()));
		((InitializingBean) factory).afterPropertiesSet();
		((SmartLifecycle) factory).start();
		try {
			HomeMadeLock lock = new HomeMadeLock(factory);
			ReleaseRace race = new ReleaseRace(server, "home-made-" + client,
					(key, name, owner) -> lock.release(name, owner));
			Outcome outcome = race.run(RELEASES);
			while (outcome.deleted() == 0) {
				outcome = outcome.and(race.run(RELEASES));
			}
			AtomicityTables.race("`GET`, then `DEL`, as in home-made locks", server, client, outcome);
		}
		finally {
			((DisposableBean) factory).destroy();
		}
	}

}
