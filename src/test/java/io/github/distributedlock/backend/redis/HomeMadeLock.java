package io.github.distributedlock.backend.redis;

import org.springframework.data.redis.connection.RedisConnectionFactory;
import org.springframework.data.redis.core.StringRedisTemplate;

/**
 * The lock of many applications where scripts are forbidden. Here to be measured, not to
 * be used: between the two commands the lease may run out, and somebody else get the
 * lock.
 */
final class HomeMadeLock {

	private final StringRedisTemplate redis;

	HomeMadeLock(RedisConnectionFactory factory) {
		this.redis = new StringRedisTemplate(factory);
	}

	boolean release(String name, String owner) {
		if (owner.equals(this.redis.opsForValue().get(name))) {
			return this.redis.delete(name);
		}
		return false;
	}

}
