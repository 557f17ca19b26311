package io.github.distributedlock.backend.redis;

import java.time.Duration;
import java.time.temporal.ChronoUnit;
import java.util.EnumSet;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.function.LongSupplier;

import io.github.distributedlock.LockBackendException;
import io.github.distributedlock.LockRequest;
import io.github.distributedlock.LockStatus;
import io.github.distributedlock.backend.AcquireResult;
import io.github.distributedlock.backend.Claim;
import io.github.distributedlock.backend.DowngradableLocks;
import io.github.distributedlock.backend.GrantingQueue;
import io.github.distributedlock.backend.HandOverResult;
import io.github.distributedlock.backend.Inspectable;
import io.github.distributedlock.backend.LockBackend;
import io.github.distributedlock.backend.LockFeature;
import io.github.distributedlock.backend.MultiKeyLocks;
import io.github.distributedlock.backend.OneStepHandOver;
import io.github.distributedlock.backend.ReleaseListener;
import io.github.distributedlock.backend.ReleaseNotifications;
import io.github.distributedlock.backend.Waiter;
import io.github.distributedlock.backend.redis.atomic.Acquisitions;
import io.github.distributedlock.backend.redis.atomic.Atomicity;
import io.github.distributedlock.backend.redis.atomic.AtomicityCandidate;
import io.github.distributedlock.backend.redis.atomic.AtomicitySelector;
import io.github.distributedlock.backend.redis.atomic.LuaOnly;
import io.github.distributedlock.backend.redis.atomic.Publishing;
import io.github.distributedlock.backend.redis.atomic.Replicas;
import io.github.distributedlock.backend.redis.atomic.WaitingList;
import io.github.distributedlock.backend.redis.connection.OwnConnections;
import io.github.distributedlock.backend.redis.wake.Signals;
import io.github.distributedlock.backend.redis.wake.WakeSubscriptions;
import io.github.distributedlock.backend.redis.wire.KeyNames;
import io.github.distributedlock.backend.redis.wire.RedisFailures;
import org.jspecify.annotations.Nullable;

import org.springframework.data.redis.connection.RedisConnectionFactory;

/**
 * Locks in Redis or Valkey, over Jedis or Lettuce.
 * <p>
 * Has connections of its own, derived from those of the application and opened at first
 * use, so that slow commands of the application cost no lock. Safe for use by many
 * threads.
 */
public final class RedisLockBackend implements LockBackend, GrantingQueue, ReleaseNotifications, OneStepHandOver,
		MultiKeyLocks, DowngradableLocks, Inspectable {

	private final KeyNames names;

	private final RedisLockSettings settings;

	private final OwnConnections connections;

	private final AtomicitySelector selector;

	private final StepRunner runner;

	private final Acquisitions acquisitions;

	private final WakeSubscriptions subscriptions;

	/**
	 * Creates a backend with the {@linkplain RedisLockSettings#defaults() defaults}.
	 * @param applicationFactory the application's way to Redis
	 */
	public RedisLockBackend(RedisConnectionFactory applicationFactory) {
		this(applicationFactory, RedisLockSettings.defaults());
	}

	/**
	 * Creates a backend.
	 * @param applicationFactory the application's way to Redis: server, credentials, TLS
	 * and database are taken from it
	 * @param settings the settings
	 * @throws IllegalArgumentException if replicas are to acknowledge locks, or
	 * transactions or best effort are to keep them, and the factory leads to a cluster,
	 * or is neither Jedis' nor Lettuce's
	 */
	public RedisLockBackend(RedisConnectionFactory applicationFactory, RedisLockSettings settings) {
		this(applicationFactory, settings, System::nanoTime);
	}

	RedisLockBackend(RedisConnectionFactory applicationFactory, RedisLockSettings settings, LongSupplier nanoTime) {
		this.names = new KeyNames(settings.prefix());
		this.settings = settings;
		this.connections = OwnConnections.derive(applicationFactory, settings.commandTimeout());
		Replicas replicas = replicas(applicationFactory);
		this.selector = new AtomicitySelector(this.names, this.connections, settings.commandTimeout(),
				settings.atomicity(), publishing(), replicas != null);
		this.subscriptions = new WakeSubscriptions(this.connections.signals(), this.names.channels(),
				settings.signals(), settings.commandTimeout(), nanoTime);
		this.runner = new StepRunner(this.selector, this.names, this.subscriptions::retry);
		this.acquisitions = new Acquisitions(this.names, this.connections, this.selector, settings.commandTimeout(),
				replicas);
		this.connections.masters().onSwitch(this.subscriptions::move);
	}

	private @Nullable Replicas replicas(RedisConnectionFactory applicationFactory) {
		if (this.settings.replicasToAck() == 0) {
			return null;
		}
		if (this.connections.cluster()) {
			throw new IllegalArgumentException("Replicas cannot be asked whether they have a lock"
					+ " (distributed-lock.redis.replicas-to-ack) in a cluster, or by a connection factory that is"
					+ " neither Jedis' nor Lettuce's, as " + applicationFactory.getClass().getName() + " is: use 0");
		}
		return new Replicas(this.settings.replicasToAck(), this.settings.replicaAckTimeout());
	}

	private Publishing publishing() {
		if (this.settings.signals() == Signals.NONE) {
			return Publishing.NOTHING;
		}
		return this.connections.cluster() ? Publishing.IN_CLUSTER : Publishing.ON_ONE_SERVER;
	}

	/**
	 * What keeps others out between comparing and changing, on this server. The first
	 * call asks the server, and opens a connection for that.
	 * @return one of the ways, never {@link Atomicity#AUTO}
	 * @throws LockBackendException if the server could not be asked, or allows none of
	 * the ways, in which case the message says what was tried
	 */
	public Atomicity atomicity() {
		try {
			return this.selector.get().atomicity();
		}
		catch (RuntimeException ex) {
			throw RedisFailures.translate("keep", "locks", ex);
		}
	}

	@Override
	public Map<String, String> details() {
		AtomicityCandidate known = this.selector.known();
		return (known != null) ? Map.of("type", "redis", "atomicity",
				known.atomicity().name().toLowerCase(Locale.ROOT).replace('_', '-')) : Map.of("type", "redis");
	}

	@Override
	public Set<LockFeature> features() {
		return EnumSet.of(LockFeature.SHARED, LockFeature.FAIR, LockFeature.FENCING);
	}

	@Override
	public void checkSupport(LockRequest request) {
		if (!LuaOnly.isNeeded(request.mode(), request.fair())) {
			return;
		}
		Atomicity asked = this.settings.atomicity();
		// If another way is asked for by name, the server need not be asked.
		if ((asked != Atomicity.AUTO && asked != Atomicity.LUA) || atomicity() != Atomicity.LUA) {
			throw LuaOnly.refusal(request.keys().get(0), request.mode(), request.fair());
		}
	}

	@Override
	public AcquireResult acquire(Claim claim) {
		return this.runner.run("acquire", claim.key(), () -> this.acquisitions.acquire(claim));
	}

	@Override
	public AcquireResult acquireOrRegister(Claim claim) {
		boolean hears = this.subscriptions.mayRegister(claim.instance());
		Claim heard = hears ? claim : claim.number(0);
		return this.runner.run("acquire", claim.key(),
				() -> this.acquisitions.acquireOrRegister(heard, registers(claim, hears)));
	}

	@Override
	public HandOverResult pass(String owner, Claim next, boolean yields) {
		boolean hears = this.subscriptions.mayRegister(next.instance());
		Claim heard = hears ? next : next.number(0);
		return this.runner.run("pass on", next.key(),
				() -> this.acquisitions.pass(owner, heard, yields, registers(next, hears)));
	}

	// A ticket keeps its place, and asks often enough, even if it does not hear.
	private static boolean registers(Claim claim, boolean hears) {
		return hears || claim.fair();
	}

	@Override
	public void withdraw(String key, Waiter waiter) {
		withdraw(key, waiter, Set.of());
	}

	@Override
	public void withdraw(String key, Waiter waiter, Set<String> owners) {
		if (this.settings.signals() == Signals.NONE && !waiter.isFair()) {
			return; // No instance is registered, nor is anything reserved.
		}
		this.runner.run("withdraw from", key, (steps, connection) -> {
			steps.withdraw(connection, key, waiter, owners);
			return true;
		});
	}

	@Override
	public void forget(Claim claim) {
		this.runner.run("release", claim.key(), (steps, connection) -> {
			steps.forget(connection, claim);
			return true;
		});
	}

	@Override
	public boolean grantsTo(String instance) {
		AtomicityCandidate known = this.selector.known();
		return known != null && known.steps().grants() && this.settings.replicasToAck() == 0 && keepsPlacesOf(instance);
	}

	// A renewal that is not answered is tried again before the lease is over.
	@Override
	public Duration grantLease() {
		Duration slow = this.settings.commandTimeout().multipliedBy(5).truncatedTo(ChronoUnit.MILLIS);
		Duration least = GrantingQueue.super.grantLease();
		return (slow.compareTo(least) > 0) ? slow : least;
	}

	@Override
	public Duration reservation() {
		return WaitingList.RESERVATION;
	}

	@Override
	public boolean keepsPlacesOf(String instance) {
		return this.subscriptions.registers(instance);
	}

	@Override
	public List<Boolean> renew(List<Claim> claims) {
		if (claims.isEmpty()) {
			return List.of();
		}
		return this.runner.run("renew", claims.get(0).key(), claims.size() - 1,
				(candidate) -> candidate.lanes().renewals(), (steps, connection) -> steps.renew(connection, claims));
	}

	@Override
	public boolean release(String key, String owner) {
		return this.runner.run("release", key, (steps, connection) -> steps.release(connection, key, owner));
	}

	@Override
	public boolean downgrade(String key, String owner) {
		return this.runner.run("downgrade", key, (steps, connection) -> steps.downgrade(connection, key, owner));
	}

	@Override
	public boolean leaveToExpire(String key, String owner, Duration rest) {
		long millis = Math.max(1, rest.toMillis());
		return this.runner.run("leave to expire", key,
				(steps, connection) -> steps.leaveToExpire(connection, key, owner, millis));
	}

	@Override
	public boolean coversInOneStep(List<String> keys) {
		AtomicityCandidate known = this.selector.known();
		if (known == null || known.atomicity() != Atomicity.LUA || this.settings.replicasToAck() > 0) {
			return false;
		}
		return !this.connections.cluster() || keys.stream().map(this.names::slot).distinct().count() == 1;
	}

	@Override
	public boolean acquireAll(List<Claim> claims) {
		return this.runner.run("acquire", claims.get(0).key(),
				(steps, connection) -> steps.acquireAll(connection, claims));
	}

	@Override
	public List<Boolean> releaseAll(List<String> keys, String owner) {
		return this.runner.run("release", keys.get(0),
				(steps, connection) -> steps.releaseAll(connection, keys, owner));
	}

	@Override
	public LockStatus inspect(String key) {
		return this.runner.run("inspect", key, (steps, connection) -> steps.inspect(connection, key));
	}

	@Override
	public Listening listen(String instance, ReleaseListener listener) {
		return this.subscriptions.listen(instance, listener);
	}

	@Override
	public Object node(String key) {
		// Asked for each lock again and again, so it is not taken where none is needed.
		int slot = this.connections.cluster() ? this.names.slot(key) : 0;
		Object master = this.connections.masters().of(slot);
		return (master != null) ? master : slot;
	}

	@Override
	public void close() {
		this.subscriptions.close();
		this.connections.close();
	}

}
