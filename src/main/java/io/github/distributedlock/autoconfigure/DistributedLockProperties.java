package io.github.distributedlock.autoconfigure;

import java.time.Duration;

import io.github.distributedlock.aop.DistributedLockAdvisor;
import io.github.distributedlock.backend.redis.RedisLockSettings;
import io.github.distributedlock.backend.redis.atomic.Atomicity;
import io.github.distributedlock.backend.redis.wake.Signals;
import org.jspecify.annotations.Nullable;

import org.springframework.boot.context.properties.ConfigurationProperties;
import org.springframework.boot.context.properties.bind.DefaultValue;

/**
 * What can be configured about distributed locks. Checked where it is used, at start-up.
 *
 * @param enabled Whether locks are set up at all. If not, annotated methods run without
 * their locks.
 * @param backend Where locks are kept.
 * @param waitTime How long a request waits for a busy lock if it does not say so itself.
 * Zero means one attempt.
 * @param leaseTime How long a lock outlives the JVM that holds it. Renewed for as long as
 * the lock is held, and at least 1 second.
 * @param pollInterval How often who waits for a lock asks for it where no wake-ups
 * arrive.
 * @param localSlice For how long the threads of one JVM hand a lock on to each other,
 * without asking Redis, before other JVMs get their turn. Zero means not at all.
 * @param maxKeyBytes Longest key of a lock, in bytes of UTF-8.
 * @param warnHeldAfter Logs a warning, with the stack that acquired it, for each lock
 * that is held longer than this. Not set means never.
 * @param order Where the lock is among the advice of a method. By default inside of
 * '@Async' and retries, and outside of '@Cacheable' and '@Transactional'.
 * @param redis How locks are kept in Redis.
 */
@ConfigurationProperties("distributed-lock")
public record DistributedLockProperties(@DefaultValue("true") boolean enabled, @DefaultValue("redis") Backend backend,
		@DefaultValue("5s") Duration waitTime, @DefaultValue("30s") Duration leaseTime,
		@DefaultValue PollInterval pollInterval, @DefaultValue("10ms") Duration localSlice,
		@DefaultValue("1024") int maxKeyBytes, @Nullable Duration warnHeldAfter,
		@DefaultValue("" + DistributedLockAdvisor.DEFAULT_ORDER) int order, @DefaultValue Redis redis) {

	/**
	 * Where locks are kept.
	 */
	public enum Backend {

		/**
		 * In Redis or Valkey, for all JVMs that share it.
		 */
		REDIS,

		/**
		 * In the memory of this JVM, for tests and applications of one JVM.
		 */
		MEMORY

	}

	/**
	 * How often who waits for a lock asks for it where no wake-ups arrive.
	 *
	 * @param min How long who waits pauses at first before it asks again, where no
	 * wake-ups arrive.
	 * @param max The longest of these pauses, each of which is twice that before.
	 */
	public record PollInterval(@DefaultValue("50ms") Duration min, @DefaultValue("500ms") Duration max) {
	}

	/**
	 * How locks are kept in Redis.
	 *
	 * @param prefix What the names of the Redis keys begin with. Without braces, not with
	 * a colon at its end, and not like a companion's, such as lock-waiters.
	 * @param commandTimeout How long a command to Redis may take. Counts for the
	 * connections of the locks only.
	 * @param replicasToAck How many replicas have to have a lock before it counts as
	 * acquired. Not in a cluster. Zero means that none is asked.
	 * @param replicaAckTimeout How long the replicas may take for that. Less than the
	 * command timeout.
	 * @param atomicity What keeps others out between comparing a lock and changing it. By
	 * default the first of lua, native and transaction that the server allows. With
	 * 'best-effort', a command that comes late can change the lock of somebody else.
	 * @param signals How those who wait learn that a lock is given back: with 'auto' by
	 * publish and subscribe, and by polling where the server refuses it; with 'pubsub'
	 * those who wait fail there; with 'none' by polling alone.
	 * @param connectionFactory Name of the RedisConnectionFactory bean that leads to the
	 * Redis of the locks. Needed only if there are several, none of them primary.
	 */
	public record Redis(@DefaultValue("lock") String prefix, @DefaultValue("1s") Duration commandTimeout,
			@DefaultValue("0") int replicasToAck, @DefaultValue("500ms") Duration replicaAckTimeout,
			@DefaultValue("auto") Atomicity atomicity, @DefaultValue("auto") Signals signals,
			@Nullable String connectionFactory) {
	}

}
