package io.github.distributedlock.backend.redis;

import java.util.stream.Stream;

import io.github.distributedlock.fixtures.AtomicityCase;
import io.github.distributedlock.fixtures.Client;
import io.github.distributedlock.fixtures.Patience;
import io.github.distributedlock.fixtures.RedisCluster;
import io.github.distributedlock.fixtures.RedisServers;
import io.github.distributedlock.tck.SharedContractTests;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;

/**
 * Features that need scripts, on each server and a cluster, with each client.
 */
class SharedByScriptsTests extends SharedContractTests {

	private static final String CLUSTER = "cluster, ";

	private final AtomicityStores stores = new AtomicityStores();

	private RedisCluster cluster;

	@BeforeAll
	void startServers() {
		AtomicityCase.onAllServers().filter((one) -> one.atomicity() == Atomicity.LUA).forEach(this.stores::add);
		this.cluster = RedisCluster.start(RedisServers.EMBEDDED, 3);
	}

	@AfterAll
	void stopCluster() {
		this.cluster.close();
	}

	@Override
	protected Stream<String> stores() {
		return Stream.concat(this.stores.names(), Stream.of(Client.values()).map((client) -> CLUSTER + client));
	}

	@Override
	protected RedisLockBackend backend(String store) {
		if (!store.startsWith(CLUSTER)) {
			return this.stores.open(store);
		}
		Client client = Client.valueOf(store.substring(CLUSTER.length()));
		RedisLockSettings settings = RedisLockSettings.defaults()
			.prefix("shared-" + this.stores.nextNumber())
			.commandTimeout(Patience.COMMAND);
		return new RedisLockBackend(client.connectTo(this.cluster), settings);
	}

}
