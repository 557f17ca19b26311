package io.github.distributedlock.autoconfigure;

import java.time.Duration;
import java.util.Arrays;
import java.util.List;
import java.util.function.Function;

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

import static io.github.distributedlock.autoconfigure.DistributedLockProperties.checked;

/**
 * Finds the application's way to Redis and keeps the locks there. Apart from the
 * configuration, since an application may do without Spring Data Redis.
 */
final class RedisBackendFactory {

	private static final Logger logger = LoggerFactory.getLogger(RedisBackendFactory.class);

	private static final String NAME_PROPERTY = "distributed-lock.redis.connection-factory";

	private RedisBackendFactory() {
	}

	static LockBackend create(DistributedLockProperties properties, ListableBeanFactory beanFactory) {
		Redis redis = properties.redis();
		RedisLockSettings settings = settings(redis, properties.watchdogTimeout());
		RedisConnectionFactory connectionFactory = connectionFactory(redis.connectionFactory(), beanFactory);
		// Either may be refused for what the factory leads to.
		Function<Object, RedisLockBackend> backend = (setting) -> new RedisLockBackend(connectionFactory, settings);
		return (redis.replicasToAck() > 0) ? checked("redis.replicas-to-ack", redis.replicasToAck(), backend)
				: checked("redis.atomicity", redis.atomicity(), backend);
	}

	private static RedisLockSettings settings(Redis redis, Duration lease) {
		RedisLockSettings some = RedisLockSettings.defaults().atomicity(redis.atomicity()).signals(redis.signals());
		RedisLockSettings named = checked("redis.prefix", redis.prefix(), some::prefix);
		RedisLockSettings timed = checked("redis.command-timeout", redis.commandTimeout(),
				(timeout) -> requireNotLonger(named.commandTimeout(timeout), lease));
		int replicas = redis.replicasToAck();
		Function<Object, RedisLockSettings> acknowledged = (setting) -> timed.replicasToAck(replicas,
				redis.replicaAckTimeout());
		return (replicas > 0) ? checked("redis.replica-ack-timeout", redis.replicaAckTimeout(), acknowledged)
				: checked("redis.replicas-to-ack", replicas, acknowledged);
	}

	private static RedisLockSettings requireNotLonger(RedisLockSettings settings, Duration lease) {
		Duration timeout = settings.commandTimeout();
		// The engine refuses a lease that is out of range.
		if (!DurationRange.RENEWED_LEASE.contains(lease)) {
			return settings;
		}
		if (timeout.compareTo(lease) > 0) {
			throw new IllegalArgumentException("it is longer than distributed-lock.watchdog-timeout ("
					+ DurationRange.text(lease)
					+ "), so that one command without an answer costs a lock; choose less than a fifth of that");
		}
		if (timeout.multipliedBy(5).compareTo(lease) >= 0) {
			logger.warn(
					"distributed-lock.watchdog-timeout ({}) is not more than five times distributed-lock.redis.command-timeout"
							+ " ({}), so that a few commands without an answer cost a lock: choose more than {}, or a"
							+ " command timeout of less than {}",
					DurationRange.text(lease), DurationRange.text(timeout), DurationRange.text(timeout.multipliedBy(5)),
					DurationRange.text(lease.dividedBy(5)));
		}
		return settings;
	}

	private static RedisConnectionFactory connectionFactory(@Nullable String name, ListableBeanFactory beanFactory) {
		List<String> candidates = Arrays
			.asList(BeanFactoryUtils.beanNamesForTypeIncludingAncestors(beanFactory, RedisConnectionFactory.class));
		String names = String.join(", ", candidates);
		if (StringUtils.hasText(name)) {
			if (candidates.contains(name)) {
				return beanFactory.getBean(name, RedisConnectionFactory.class);
			}
			throw refusal("There is no RedisConnectionFactory bean '" + name + "', which " + NAME_PROPERTY + " names.",
					candidates.isEmpty()
							? "Define that bean, or remove the property to use the one that Spring Boot defines."
							: "Name one of " + names + ", or define that bean.");
		}
		RedisConnectionFactory unique = beanFactory.getBeanProvider(RedisConnectionFactory.class).getIfUnique();
		if (unique != null) {
			return unique;
		}
		throw candidates.isEmpty() ? refusal(
				"Locks are kept in Redis (distributed-lock.backend=redis),"
						+ " but the application has no RedisConnectionFactory bean.",
				"Let Spring Boot's Redis auto-configuration define one (do not exclude it, and set spring.data.redis.host),"
						+ " or define a RedisConnectionFactory or a LockBackend bean yourself."
						+ " For tests, and applications of a single JVM, set distributed-lock.backend=memory.")
				: refusal(
						"The application has several RedisConnectionFactory beans, none of them primary: " + names
								+ ".",
						"Name the one that leads to the Redis of the locks, for example " + NAME_PROPERTY + "="
								+ candidates.get(0) + ", or mark it with @Primary.");
	}

	private static LockBackendException refusal(String problem, String remedy) {
		return LockBackendException.of(problem).remedy(remedy).notCarriedOut(true).build();
	}

}
