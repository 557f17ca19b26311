package io.github.distributedlock.faults;

import io.github.distributedlock.fixtures.Client;
import org.junit.jupiter.api.Tag;
import redis.clients.jedis.Jedis;
import redis.clients.jedis.args.ClientType;
import redis.clients.jedis.params.ClientKillParams;

/**
 * Connections that end, or that cannot be had.
 */
@Tag("faults")
class ConnectionFaultsTests {

	private static final int TIMES = 5;

	private static final long PAUSE_MILLIS = 50;

	private static final long REFUSED_MILLIS = Trial.LEASE.toMillis() * 2 / 5;

	@EachClient
	void allConnectionsForCommandsAreKilled(Client client) throws Exception {
		FaultRow.of("CLIENT KILL TYPE normal, five times", client)
			.promising(Promise.NOTHING_LOST)
			.run((trial) -> kill(trial, ClientType.NORMAL));
	}

	@EachClient
	void allSubscriptionsAreKilled(Client client) throws Exception {
		FaultRow.of("CLIENT KILL TYPE pubsub, five times", client)
			.promising(Promise.NOTHING_LOST)
			.run((trial) -> kill(trial, ClientType.PUBSUB));
	}

	@EachClient
	void noConnectionCanBeHad(Client client) throws Exception {
		FaultRow.of("maxclients reached for 0.4 leases", client).promising(Promise.NOTHING_LOST).run((trial) -> {
			try (Jedis admin = trial.server().admin()) {
				String before = admin.configGet("maxclients").get("maxclients");
				admin.configSet("maxclients", "1");
				kill(admin, ClientType.NORMAL);
				Thread.sleep(REFUSED_MILLIS);
				admin.configSet("maxclients", before);
			}
		});
	}

	private static void kill(Trial trial, ClientType type) throws InterruptedException {
		for (int i = 0; i < TIMES; i++) {
			trial.admin((redis) -> kill(redis, type));
			Thread.sleep(PAUSE_MILLIS);
		}
	}

	private static void kill(Jedis admin, ClientType type) {
		admin.clientKill(new ClientKillParams().type(type).skipMe(ClientKillParams.SkipMe.YES));
	}

}
