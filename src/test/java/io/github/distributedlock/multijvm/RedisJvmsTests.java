package io.github.distributedlock.multijvm;

import io.github.distributedlock.backend.LockBackend;
import io.github.distributedlock.fixtures.Client;
import io.github.distributedlock.fixtures.TestRedis;
import org.junit.jupiter.api.extension.RegisterExtension;

/**
 * JVMs on Jedis and on Lettuce share a lock in Redis.
 */
class RedisJvmsTests extends JvmsContract {

	@RegisterExtension
	final TestRedis redis = new TestRedis();

	@Override
	LockBackend open() {
		return this.redis.backend(Client.JEDIS);
	}

	@Override
	String[] store(int jvm) {
		return new String[] { Client.values()[jvm % Client.values().length].name(), "" + this.redis.port() };
	}

}
