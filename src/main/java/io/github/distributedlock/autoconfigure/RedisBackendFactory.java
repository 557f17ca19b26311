package io.github.distributedlock.autoconfigure;

import java.time.Duration;
import java.util.function.Function;

import io.github.distributedlock.autoconfigure.DistributedLockProperties.Redis;
import io.github.distributedlock.backend.LockBackend;
import io.github.distributedlock.backend.redis.RedisLockBackend;
import io.github.distributedlock.backend.redis.RedisLockSettings;

import org.springframework.beans.factory.ListableBeanFactory;
import org.springframework.data.redis.connection.RedisConnectionFactory;

import static io.github.distributedlock.autoconfigure.DistributedLockProperties.checked;

/**
 * Finds the application's connection to Redis and keeps the locks there. A class apart
 * from the configuration, since an application may do without Spring Data Redis.
 */
final class RedisBackendFactory {

	private static final String NAME_PROPERTY = "distributed-lock.redis.connection-factory";

	private RedisBackendFactory() {
	}

	static LockBackend create(DistributedLockProperties properties, ListableBeanFactory beanFactory) {
		Redis redis = properties.redis();
		RedisLockSettings settings = settings(redis, properties.watchdogTimeout());
		RedisConnectionFactory connectionFactory = Stores.bean(RedisConnectionFactory.class, NAME_PROPERTY,
				redis.connectionFactory(), beanFactory,
				"Locks are kept in Redis (distributed-lock.backend=redis),"
						+ " but the application has no RedisConnectionFactory bean.",
				"Let Spring Boot's Redis auto-configuration define one (do not exclude it, and set spring.data.redis.host),"
						+ " or define a RedisConnectionFactory or a LockBackend bean yourself."
						+ " For locks in a database, set distributed-lock.backend=jdbc."
						+ " For tests, and applications of a single JVM, set distributed-lock.backend=memory.");
		// The backend may refuse either setting, depending on the servers that the
		// factory leads to.
		Function<Object, RedisLockBackend> backend = (setting) -> new RedisLockBackend(connectionFactory, settings);
		return (redis.replicasToAck() > 0) ? checked("redis.replicas-to-ack", redis.replicasToAck(), backend)
				: checked("redis.atomicity", redis.atomicity(), backend);
	}

	private static RedisLockSettings settings(Redis redis, Duration lease) {
		RedisLockSettings some = RedisLockSettings.defaults().atomicity(redis.atomicity()).signals(redis.signals());
		RedisLockSettings named = checked("redis.prefix", redis.prefix(), some::prefix);
		RedisLockSettings timed = checked("redis.command-timeout", redis.commandTimeout(),
				(timeout) -> Stores.timeout("redis", timeout, lease, named::commandTimeout));
		int replicas = redis.replicasToAck();
		Function<Object, RedisLockSettings> acknowledged = (setting) -> timed.replicasToAck(replicas,
				redis.replicaAckTimeout());
		return (replicas > 0) ? checked("redis.replica-ack-timeout", redis.replicaAckTimeout(), acknowledged)
				: checked("redis.replicas-to-ack", replicas, acknowledged);
	}

}
