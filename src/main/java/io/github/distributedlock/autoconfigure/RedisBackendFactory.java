package io.github.distributedlock.autoconfigure;

import java.time.Duration;
import java.util.Arrays;
import java.util.List;

import io.github.distributedlock.DurationRange;
import io.github.distributedlock.LockBackendException;
import io.github.distributedlock.autoconfigure.DistributedLockProperties.Redis;
import io.github.distributedlock.backend.LockBackend;
import io.github.distributedlock.backend.redis.RedisLockBackend;
import io.github.distributedlock.backend.redis.RedisLockSettings;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

import org.springframework.beans.factory.BeanFactoryUtils;
import org.springframework.beans.factory.ListableBeanFactory;
import org.springframework.data.redis.connection.RedisConnectionFactory;
import org.springframework.util.StringUtils;

/**
 * Finds the application's way to Redis and keeps the locks there. Apart from the
 * configuration, since an application may do without Spring Data Redis.
 */
final class RedisBackendFactory {

	private static final Logger logger = LoggerFactory.getLogger(RedisBackendFactory.class);

	private static final String NAME_PROPERTY = "distributed-lock.redis.connection-factory";

	private final ListableBeanFactory beanFactory;

	private final List<String> candidates;

	private RedisBackendFactory(ListableBeanFactory beanFactory) {
		this.beanFactory = beanFactory;
		this.candidates = Arrays
			.asList(BeanFactoryUtils.beanNamesForTypeIncludingAncestors(beanFactory, RedisConnectionFactory.class));
	}

	static LockBackend create(DistributedLockProperties properties, ListableBeanFactory beanFactory) {
		Redis redis = properties.redis();
		RedisLockSettings settings = settings(redis, properties.leaseTime());
		RedisConnectionFactory connectionFactory = new RedisBackendFactory(beanFactory)
			.connectionFactory(redis.connectionFactory());
		RedisLockSettings withoutReplicas = settings.replicasToAck(0, settings.replicaAckTimeout());
		// Both may be refused for what the factory leads to. Nothing is opened yet.
		RedisLockBackend backend = CheckedProperty.of("redis.atomicity", redis.atomicity())
			.to((atomicity) -> new RedisLockBackend(connectionFactory, withoutReplicas));
		return (redis.replicasToAck() == 0) ? backend
				: CheckedProperty.of("redis.replicas-to-ack", redis.replicasToAck())
					.to((replicas) -> new RedisLockBackend(connectionFactory, settings));
	}

	private static RedisLockSettings settings(Redis redis, Duration lease) {
		RedisLockSettings some = RedisLockSettings.defaults().atomicity(redis.atomicity()).signals(redis.signals());
		RedisLockSettings named = CheckedProperty.of("redis.prefix", redis.prefix()).to(some::prefix);
		RedisLockSettings timed = CheckedProperty.of("redis.command-timeout", redis.commandTimeout())
			.to((timeout) -> requireNotLonger(named.commandTimeout(timeout), lease));
		if (redis.replicasToAck() > 0) {
			return CheckedProperty.of("redis.replica-ack-timeout", redis.replicaAckTimeout())
				.to((timeout) -> timed.replicasToAck(redis.replicasToAck(), timeout));
		}
		return CheckedProperty.of("redis.replicas-to-ack", redis.replicasToAck())
			.to((none) -> timed.replicasToAck(none, redis.replicaAckTimeout()));
	}

	private static RedisLockSettings requireNotLonger(RedisLockSettings settings, Duration lease) {
		Duration timeout = settings.commandTimeout();
		// The engine refuses a lease that is out of range.
		if (!DurationRange.RENEWED_LEASE.contains(lease)) {
			return settings;
		}
		if (timeout.compareTo(lease) > 0) {
			throw new IllegalArgumentException("it is longer than distributed-lock.lease-time ("
					+ DurationRange.text(lease)
					+ "), so that one command without an answer costs a lock; choose less than a quarter of that");
		}
		if (timeout.multipliedBy(4).compareTo(lease) >= 0) {
			logger.warn(
					"distributed-lock.lease-time ({}) is not more than four times distributed-lock.redis.command-timeout"
							+ " ({}), so that a few commands without an answer cost a lock: choose more than {}, or a"
							+ " command timeout of less than {}",
					DurationRange.text(lease), DurationRange.text(timeout), DurationRange.text(timeout.multipliedBy(4)),
					DurationRange.text(lease.dividedBy(4)));
		}
		return settings;
	}

	private RedisConnectionFactory connectionFactory(@Nullable String name) {
		if (StringUtils.hasText(name)) {
			return named(name);
		}
		RedisConnectionFactory unique = this.beanFactory.getBeanProvider(RedisConnectionFactory.class).getIfUnique();
		if (unique != null) {
			return unique;
		}
		if (this.candidates.isEmpty()) {
			throw refusal(
					"Locks are kept in Redis (distributed-lock.backend=redis),"
							+ " but the application has no RedisConnectionFactory bean.",
					"Let Spring Boot's Redis auto-configuration define one (do not exclude it, and set spring.data.redis.host),"
							+ " or define a RedisConnectionFactory or a LockBackend bean yourself."
							+ " For tests, and applications of a single JVM, set distributed-lock.backend=memory.");
		}
		throw refusal(
				"The application has several RedisConnectionFactory beans, none of them primary: " + candidateNames()
						+ ".",
				"Name the one that leads to the Redis of the locks, for example " + NAME_PROPERTY + "="
						+ this.candidates.get(0) + ", or mark it with @Primary.");
	}

	private RedisConnectionFactory named(String name) {
		if (this.candidates.contains(name)) {
			return this.beanFactory.getBean(name, RedisConnectionFactory.class);
		}
		throw refusal("There is no RedisConnectionFactory bean '" + name + "', which " + NAME_PROPERTY + " names.",
				this.candidates.isEmpty()
						? "Define that bean, or remove the property to use the one that Spring Boot defines."
						: "Name one of " + candidateNames() + ", or define that bean.");
	}

	private static LockBackendException refusal(String problem, String remedy) {
		return LockBackendException.of(problem).remedy(remedy).notCarriedOut(true).build();
	}

	private String candidateNames() {
		return String.join(", ", this.candidates);
	}

}
