package io.github.distributedlock.backend.redis;

import java.util.stream.Stream;

import io.github.distributedlock.backend.LockBackend;
import io.github.distributedlock.backend.LockBackendContractTests;
import io.github.distributedlock.test.RedisServers;

/**
 * The contract on Jedis.
 */
class JedisRedisLockBackendContractTests extends LockBackendContractTests {

	@Override
	protected Stream<String> stores() {
		return RedisServers.names();
	}

	@Override
	protected LockBackend backend(String store) {
		return new RedisLockBackend(Factories.JEDIS.to(RedisServers.shared(store).port()));
	}

}
