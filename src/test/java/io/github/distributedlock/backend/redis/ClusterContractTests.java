package io.github.distributedlock.backend.redis;

import java.util.EnumMap;
import java.util.Map;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.Stream;

import io.github.distributedlock.fixtures.AtomicityCase;
import io.github.distributedlock.fixtures.Client;
import io.github.distributedlock.fixtures.Patience;
import io.github.distributedlock.fixtures.RedisCluster;
import io.github.distributedlock.fixtures.RedisServers;
import io.github.distributedlock.tck.LockBackendContractTests;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * The contract on a cluster, by each client, with scripts and, on the first server that
 * compares by itself, without.
 */
@Tag("thorough")
class ClusterContractTests extends LockBackendContractTests {

	private static final String NO_SCRIPTS = "user default on nopass ~* &* +@all -eval -evalsha";

	private final AtomicInteger opened = new AtomicInteger();

	private final Map<Atomicity, RedisCluster> clusters = new EnumMap<>(Atomicity.class);

	@BeforeAll
	void startClusters() {
		this.clusters.put(Atomicity.LUA, RedisCluster.start(RedisServers.EMBEDDED, 3));
		RedisServers.names()
			.filter(ClusterContractTests::compares)
			.findFirst()
			.ifPresent((name) -> this.clusters.put(Atomicity.NATIVE, RedisCluster.start(name, 3, NO_SCRIPTS)));
	}

	private static boolean compares(String name) {
		return AtomicityCase.onServer(name).stream().anyMatch((one) -> one.atomicity() == Atomicity.NATIVE);
	}

	@AfterAll
	void stopClusters() {
		this.clusters.values().forEach(RedisCluster::close);
	}

	@Override
	protected Stream<String> stores() {
		return this.clusters.keySet()
			.stream()
			.flatMap((way) -> Stream.of(Client.values()).map((client) -> client + " " + way));
	}

	// PUBLISH counts who listens to the same node.
	@Override
	protected boolean knowsWhoHears() {
		return false;
	}

	@Override
	protected RedisLockBackend backend(String store) {
		String[] clientAndWay = store.split(" ");
		Atomicity way = Atomicity.valueOf(clientAndWay[1]);
		// Tests that run side by side must not hear each other.
		RedisLockBackend backend = new RedisLockBackend(
				Client.valueOf(clientAndWay[0]).connectTo(this.clusters.get(way)),
				RedisLockSettings.defaults()
					.prefix("contract-" + this.opened.incrementAndGet())
					.commandTimeout(Patience.COMMAND));
		assertThat(backend.atomicity()).isEqualTo(way);
		return backend;
	}

}
