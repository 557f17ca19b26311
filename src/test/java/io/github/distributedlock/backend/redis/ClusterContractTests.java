package io.github.distributedlock.backend.redis;

import java.util.stream.Stream;

import io.github.distributedlock.backend.LockBackend;
import io.github.distributedlock.backend.LockBackendContractTests;
import io.github.distributedlock.test.RedisCluster;
import io.github.distributedlock.test.RedisServers;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;

/**
 * The contract on a cluster, by each client.
 */
class ClusterContractTests extends LockBackendContractTests {

	private RedisCluster cluster;

	@BeforeAll
	void startCluster() {
		this.cluster = RedisCluster.start(RedisServers.EMBEDDED, 3);
	}

	@AfterAll
	void stopCluster() {
		this.cluster.close();
	}

	@Override
	protected Stream<String> stores() {
		return Stream.of(Factories.values()).map(Factories::name);
	}

	// PUBLISH counts who listens to the same node.
	@Override
	protected boolean knowsWhoHears() {
		return false;
	}

	@Override
	protected LockBackend backend(String store) {
		return new RedisLockBackend(Factories.valueOf(store).to(this.cluster));
	}

}
