package io.github.distributedlock.backend.redis;

import java.util.stream.Stream;

import io.github.distributedlock.backend.redis.atomic.Atomicity;
import io.github.distributedlock.fixtures.AllowedCommands;
import io.github.distributedlock.fixtures.AtomicityCase;
import io.github.distributedlock.fixtures.RedisServers;
import io.github.distributedlock.tck.LockBackendContractTests;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import redis.clients.jedis.HostAndPort;

/**
 * The contract by the commands of Tair, on a stand-in for it that allows nothing else.
 */
@Tag("thorough")
class TairStandInContractTests extends LockBackendContractTests {

	private final AtomicityStores stores = new AtomicityStores();

	private TairStandIn tair;

	@BeforeAll
	void start() {
		RedisServers.Server server = RedisServers.shared(RedisServers.EMBEDDED);
		HostAndPort redis = new HostAndPort(server.host(), server.port());
		AllowedCommands.NOTHING_ATOMIC.grantOn(redis);
		this.tair = new TairStandIn(redis);
		this.stores.add(new AtomicityCase("Tair", this.tair.address(), AllowedCommands.NOTHING_ATOMIC, Atomicity.AUTO,
				"native (TAIR)"));
	}

	@AfterAll
	void stop() {
		this.tair.close();
	}

	@Override
	protected Stream<String> stores() {
		return this.stores.names();
	}

	@Override
	protected RedisLockBackend backend(String store) {
		return this.stores.open(store);
	}

}
