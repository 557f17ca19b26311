package io.github.distributedlock.faults;

import java.util.List;

import io.github.distributedlock.fixtures.Client;
import io.github.distributedlock.fixtures.RedisCluster;
import io.github.distributedlock.fixtures.RedisServers;
import io.github.distributedlock.fixtures.Relay;
import io.github.distributedlock.fixtures.Variant;
import org.junit.jupiter.api.Tag;
import redis.clients.jedis.Jedis;
import redis.clients.jedis.args.ClientType;
import redis.clients.jedis.params.ClientKillParams;

import org.springframework.data.redis.connection.RedisClusterConfiguration;

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

	@EachClient
	void allConnectionsAreForgotten(Client client) throws Exception {
		FaultRow.of("all connections forgotten by a NAT, nothing passes on them", client)
			.relayed()
			.promising(Promise.NOTHING_LOST)
			.run((trial) -> {
				trial.holder().relay().silence();
				trial.rival().relay().silence();
			});
	}

	@EachClient
	void allConnectionsToAClusterAreForgotten(Client client) throws Exception {
		Relay nat = new Relay(1);
		FaultRow.of("all connections to a cluster forgotten by a NAT", client)
			.on(() -> behind(nat))
			.promising(Promise.NOTHING_LOST)
			.run((trial) -> nat.silence());
		nat.close();
	}

	private static Deployment behind(Relay nat) {
		RedisCluster cluster = RedisCluster.start(Variant.SERVER, 1, "cluster-announce-port " + nat.port());
		RedisServers.Server master = cluster.masters().get(0);
		nat.leadTo(master.port());
		return new Deployment(new RedisClusterConfiguration(List.of("localhost:" + nat.port())), Trial.SETTINGS,
				() -> master, () -> {
				}, cluster::close);
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
