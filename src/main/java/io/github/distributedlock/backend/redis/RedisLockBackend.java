package io.github.distributedlock.backend.redis;

import java.time.Duration;
import java.time.temporal.ChronoUnit;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.BiFunction;
import java.util.function.Function;
import java.util.function.LongSupplier;
import java.util.function.Supplier;
import java.util.stream.Collectors;
import java.util.stream.Stream;

import io.github.distributedlock.LockBackendException;
import io.github.distributedlock.LockException;
import io.github.distributedlock.LockRequest;
import io.github.distributedlock.LockStatus;
import io.github.distributedlock.backend.AcquireResult;
import io.github.distributedlock.backend.Claim;
import io.github.distributedlock.backend.LockBackend;
import io.github.distributedlock.backend.LockFeature;
import io.github.distributedlock.backend.ReleaseListener;
import io.github.distributedlock.backend.Waiter;
import io.github.distributedlock.backend.redis.internal.Command;
import io.github.distributedlock.backend.redis.internal.Command.Verb;
import io.github.distributedlock.backend.redis.internal.Lane;
import io.github.distributedlock.backend.redis.internal.Lanes;
import io.github.distributedlock.backend.redis.internal.Link;
import io.github.distributedlock.backend.redis.internal.OwnConnections;
import io.github.distributedlock.backend.redis.internal.RedisClients;
import io.github.distributedlock.backend.redis.internal.RedisFailures;
import io.github.distributedlock.backend.redis.internal.RedisRefusal;
import io.github.distributedlock.internal.DurationRange;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

import org.springframework.data.redis.connection.RedisConnectionFactory;

/**
 * Locks in Redis or Valkey, over Jedis or Lettuce.
 * <p>
 * The backend has connections of its own, derived from the connections of the application
 * and opened at first use, so that slow commands of the application cost no lock. Safe
 * for use by many threads.
 *
 * @since 1.0
 */
public final class RedisLockBackend implements LockBackend {

	private static final Set<LockFeature> FEATURES = Set.of(LockFeature.SHARED, LockFeature.PERMITS, LockFeature.FAIR,
			LockFeature.FENCING, LockFeature.INSPECTION, LockFeature.NOTIFICATIONS, LockFeature.PLACES,
			LockFeature.GRANTS, LockFeature.HAND_OVER, LockFeature.DOWNGRADE);

	private static final Logger logger = LoggerFactory.getLogger(RedisLockBackend.class);

	private final KeyNames names;

	private final RedisLockSettings settings;

	private final Supplier<OwnConnections> deriving;

	private final LongSupplier nanoTime;

	/**
	 * The listeners by instance. Listeners stay when connections are closed.
	 */
	private final Map<String, ReleaseListener> listeners = new ConcurrentHashMap<>();

	/**
	 * The connections and all that belongs to them; {@code null} from
	 * {@link #disconnect()} to the next step. Written under this monitor.
	 */
	private volatile @Nullable Wiring wiring;

	private boolean closed;

	/**
	 * Creates a backend with the {@linkplain RedisLockSettings#defaults() defaults}.
	 * @param applicationFactory the application's way to Redis
	 */
	public RedisLockBackend(RedisConnectionFactory applicationFactory) {
		this(applicationFactory, RedisLockSettings.defaults());
	}

	/**
	 * Creates a backend.
	 * @param applicationFactory the application's way to Redis, which gives the server,
	 * the credentials, TLS and the database
	 * @param settings the settings
	 * @throws LockBackendException if the factory does not tell its server: only the
	 * factories of Jedis and Lettuce do
	 * @throws IllegalArgumentException if the factory leads to a cluster, and replicas
	 * are to acknowledge locks, or the wanted atomicity is not possible in a cluster
	 */
	public RedisLockBackend(RedisConnectionFactory applicationFactory, RedisLockSettings settings) {
		this(applicationFactory, settings, System::nanoTime);
	}

	RedisLockBackend(RedisConnectionFactory applicationFactory, RedisLockSettings settings, LongSupplier nanoTime) {
		this.names = new KeyNames(settings.prefix());
		this.settings = settings;
		this.nanoTime = nanoTime;
		this.deriving = () -> RedisClients.derive(applicationFactory, settings.commandTimeout());
		this.wiring = wire();
	}

	/**
	 * All that leads to the server, from the creation, or from the first step after a
	 * {@link #disconnect()}, to the next {@link #disconnect()}.
	 */
	private record Wiring(OwnConnections connections, AtomicitySelector selector,
			NotificationSubscriptions subscriptions) {

		private void close() {
			this.subscriptions.close();
			this.connections.close();
		}

	}

	private Wiring wire() {
		OwnConnections connections = this.deriving.get();
		if (acknowledges() && connections.cluster()) {
			throw new IllegalArgumentException("Replicas cannot be asked whether they have a lock"
					+ " (distributed-lock.redis.replicas-to-ack) in a cluster: use 0");
		}
		AtomicitySelector selector = new AtomicitySelector(connections, this.settings);
		NotificationSubscriptions subscriptions = new NotificationSubscriptions(connections, this.names.channels(),
				this.settings.signals() != Signals.NONE, this.settings.signals() == Signals.PUBSUB,
				this.settings.commandTimeout(), this.nanoTime);
		connections.onSwitch(subscriptions::move);
		this.listeners.forEach(subscriptions::listen);
		return new Wiring(connections, selector, subscriptions);
	}

	private Wiring wiring() {
		Wiring known = this.wiring;
		return (known != null) ? known : wireAgain();
	}

	private synchronized Wiring wireAgain() {
		Wiring known = this.wiring;
		if (known == null) {
			known = wire();
			if (this.closed) {
				known.close();
			}
			this.wiring = known;
		}
		return known;
	}

	private boolean acknowledges() {
		return this.settings.replicasToAck() > 0;
	}

	/**
	 * Asks the server which ways are allowed, as {@link #atomicity()} does.
	 */
	@Override
	public void check() {
		atomicity();
	}

	/**
	 * Returns the way that keeps others out between comparing and changing, on this
	 * server. The first call opens a connection, and asks the server.
	 * @return the way, never {@link Atomicity#AUTO}
	 * @throws LockBackendException if the server could not be asked, or allows no way;
	 * the message then says which ways were tried
	 */
	public Atomicity atomicity() {
		try {
			return wiring().selector().get().atomicity();
		}
		catch (RuntimeException ex) {
			throw RedisFailures.translate("keep", "locks", ex);
		}
	}

	@Override
	public Map<String, String> details() {
		Steps known = wiring().selector().known();
		return (known != null) ? Map.of("type", "redis", "atomicity", known.atomicity().text())
				: Map.of("type", "redis");
	}

	@Override
	public Set<LockFeature> features() {
		return FEATURES;
	}

	@Override
	public void checkSupport(LockRequest request) {
		Set<LockFeature> taken = LockFeature.of(request);
		if (Steps.WITHOUT_SCRIPTS.containsAll(taken)) {
			return;
		}
		// If another way is asked for by name, the server need not be asked.
		if (!this.settings.atomicity().includes(Atomicity.LUA) || atomicity() != Atomicity.LUA) {
			Steps.requireScripts(request.keys().get(0), taken);
		}
	}

	// A plain request for a free key needs no script.
	@Override
	public AcquireResult acquire(Claim claim) {
		if (Claim.isRecallable(claim.owner())) {
			wiring().subscriptions().begin(claim.instance());
		}
		return run("acquire", claim.key(), 0, this::acquiring, (steps, link) -> acknowledged(link, steps, claim,
				claim.features().isEmpty() ? acquireIfFree(steps, link, claim) : steps.acquire(link, claim, false)));
	}

	private AcquireResult acquireIfFree(Steps steps, Link link, Claim claim) {
		long begin = System.nanoTime();
		// After a slow command, no second command is sent: the lock was not acquired.
		AcquireResult result = Steps.acquireIfFree(link, this.names.lock(claim.key()), claim,
				() -> System.nanoTime() - begin <= this.settings.commandTimeout().toNanos() / 4);
		return (!result.acquired() && LockCodec.holder(claim.owner()).equals(result.holder()))
				? steps.acquire(link, claim, false) : result;
	}

	@Override
	public AcquireResult acquireOrRegister(Claim claim) {
		boolean hears = mayRegister(claim);
		Claim heard = hears ? claim : claim.number(0);
		// A fair request keeps its place, and asks often enough, even if its instance
		// does not hear.
		return run("acquire", claim.key(), 0, this::acquiring,
				(steps, link) -> acknowledged(link, steps, claim, steps.acquire(link, heard, hears || claim.fair())));
	}

	private boolean mayRegister(Claim claim) {
		return wiring().subscriptions().mayRegister(claim.instance(), this.names.lock(claim.key()));
	}

	@Override
	public HandOverResult pass(String owner, Claim next, boolean yields) {
		boolean hears = mayRegister(next);
		Claim heard = hears ? next : next.number(0);
		return run("pass on", next.key(), 0, this::acquiring, (steps, link) -> {
			HandOverResult result = steps.pass(link, owner, heard, yields, hears || next.fair());
			try {
				acknowledged(link, steps, next, result.next());
			}
			catch (LockBackendException ex) {
				// The former owner has lost the lock, so the step was carried out in
				// part.
				throw RedisFailures.unfinished(ex);
			}
			return result;
		});
	}

	// WAIT asks replicas about the writes of the same connection, so no other thread may
	// use the connection.
	private Lane acquiring(Lanes lanes) {
		return (acknowledges() ? wiring().connections().lanes(true) : lanes).commands();
	}

	/**
	 * Waits until enough replicas have the acquired lock, before the caller gets the
	 * answer; otherwise releases the lock. The release is necessary. A second attempt by
	 * the same owner may have nothing to write. WAIT asks about the last write of its own
	 * connection, and would then count the replicas that have an older write.
	 * @param link the link by which the lock was acquired, and which no other thread uses
	 * meanwhile
	 */
	private AcquireResult acknowledged(Link link, Steps steps, Claim claim, AcquireResult result) {
		if (!acknowledges() || !result.acquired()) {
			return result;
		}
		int count = this.settings.replicasToAck();
		long millis = this.settings.replicaAckTimeout().toMillis();
		long acknowledged;
		try {
			acknowledged = link.number(Command.at(KeyNames.bytes(claim.key()), Verb.WAIT, count, millis));
		}
		catch (RuntimeException ex) {
			// The lock was taken, so even a refusal of WAIT is no refusal of the lock.
			throw RedisFailures.unfinished(ex);
		}
		if (acknowledged < count) {
			throw LockBackendException
				.of("Lock '" + LockException.printable(claim.key()) + "' was taken, but only " + acknowledged + " of "
						+ count + " replicas acknowledged it within "
						+ DurationRange.text(this.settings.replicaAckTimeout()) + ", so it was released")
				.remedy("check the replicas and their lag, or ask fewer: distributed-lock.redis.replicas-to-ack")
				.retryable(true)
				.withoutEffect(tryRelease(link, steps, claim))
				.build();
		}
		return result;
	}

	private static boolean tryRelease(Link link, Steps steps, Claim claim) {
		try {
			steps.release(link, claim.key(), claim.owner());
			return true;
		}
		catch (RuntimeException ex) {
			logger.debug("Could not release lock '{}' of {} yet", LockException.printable(claim.key()), claim.owner(),
					ex);
			return false;
		}
	}

	@Override
	public void withdraw(String key, Waiter waiter, Set<String> owners) {
		if (this.settings.signals() == Signals.NONE && !waiter.isFair()) {
			return; // Without notifications only fair requests are registered, and have
					// reservations.
		}
		run("withdraw from", key, (steps, link) -> steps.withdraw(link, key, waiter, owners));
	}

	@Override
	public void forget(Claim claim) {
		run("release", claim.key(), (steps, link) -> steps.forget(link, claim));
	}

	@Override
	public boolean grantsTo(String instance) {
		Steps known = wiring().selector().known();
		return known != null && known.grants() && !acknowledges() && keepsPlacesOf(instance);
	}

	// The lease is long enough to repeat a renewal that got no answer.
	@Override
	public Duration grantLease() {
		Duration slow = this.settings.commandTimeout().multipliedBy(5).truncatedTo(ChronoUnit.MILLIS);
		Duration least = LockBackend.super.grantLease();
		return (slow.compareTo(least) > 0) ? slow : least;
	}

	@Override
	public boolean keepsPlacesOf(String instance) {
		return wiring().subscriptions().registers(instance);
	}

	@Override
	public List<Boolean> renew(List<Renewal> renewals) {
		if (renewals.isEmpty()) {
			return List.of();
		}
		return run("renew", renewals.get(0).key(), renewals.size() - 1, Lanes::renewals,
				(steps, link) -> steps.renew(link, renewals));
	}

	@Override
	public boolean release(String key, String owner) {
		return run("release", key, (steps, link) -> steps.release(link, key, owner));
	}

	// The batch is 1 if the client is for one server, and that server refuses several
	// keys: another node may have one of the keys, and that failure must not cost the
	// other keys.
	@Override
	public int largestBatch() {
		Steps known = wiring().selector().known();
		boolean refusesSeveral = known != null && known.atomicity() == Atomicity.LUA && !known.takesSeveral();
		return (refusesSeveral && !wiring().connections().cluster()) ? 1 : LockBackend.super.largestBatch();
	}

	@Override
	public int largestRelease() {
		Steps known = wiring().selector().known();
		return (known != null && known.takesSeveral()) ? largestBatch() : 1;
	}

	@Override
	public List<Boolean> releaseAll(List<String> keys, String owner) {
		if (keys.size() <= 1 || largestRelease() == 1) {
			return LockBackend.super.releaseAll(keys, owner);
		}
		return run("release", keys.get(0), keys.size() - 1, Lanes::commands,
				(steps, link) -> steps.releaseAll(link, keys, owner));
	}

	@Override
	public boolean downgrade(String key, String owner) {
		return run("downgrade", key, (steps, link) -> steps.downgrade(link, key, owner));
	}

	@Override
	public boolean leaveToExpire(String key, String owner, Duration rest) {
		long millis = Math.max(1, rest.toMillis());
		return run("leave to expire", key, (steps, link) -> steps.leaveToExpire(link, key, owner, millis));
	}

	@Override
	public LockStatus inspect(String key) {
		return run("inspect", key, (steps, link) -> Values.status(key, link, this.names));
	}

	private <T> T run(String what, String key, BiFunction<Steps, Link, T> step) {
		return run(what, key, 0, Lanes::commands, step);
	}

	/**
	 * Runs a step. The message of a failure names the step and the lock, by the user's
	 * key and by the key in Redis.
	 * @param what the step, as the words after "could not"
	 * @param key the first of the users' keys
	 * @param others how many more there are
	 */
	private <T> T run(String what, String key, int others, Function<Lanes, Lane> lane,
			BiFunction<Steps, Link, T> step) {
		try {
			return Objects.requireNonNull(wiring().selector().run(lane, step));
		}
		catch (RuntimeException ex) {
			boolean foreign = RedisRefusal.WRONGTYPE.isIn(ex); // This refusal concerns
																// one key.
			String lock = "lock '" + key + "' (Redis key '" + KeyNames.text(this.names.lock(key)) + "'"
					+ (foreign ? ", or one of its companions '" + companions(key) + "'" : "") + ")";
			throw RedisFailures.translate(what,
					LockException.printable(lock) + ((others > 0) ? " and " + others + " more" : ""), ex);
		}
	}

	// A server that refuses a step with several keys does not say which key holds a
	// foreign value.
	private String companions(String key) {
		return Stream.of(this.names.waiters(key), this.names.liveness(key), this.names.fence(key))
			.map(KeyNames::text)
			.collect(Collectors.joining("', '"));
	}

	@Override
	public Listening listen(String instance, ReleaseListener listener) {
		synchronized (this) {
			wiring().subscriptions().listen(instance, listener);
			this.listeners.put(instance, listener);
		}
		return new Listening() {

			@Override
			public boolean hears() {
				Wiring now = RedisLockBackend.this.wiring;
				return now != null && now.subscriptions().hears(instance);
			}

			@Override
			public boolean isKnown() {
				Wiring now = RedisLockBackend.this.wiring;
				return now != null && now.subscriptions().isKnown(instance);
			}

			@Override
			public void close() {
				RedisLockBackend.this.listeners.remove(instance, listener);
				Wiring now = RedisLockBackend.this.wiring;
				if (now != null) {
					now.subscriptions().end(instance);
				}
			}

		};
	}

	@Override
	public Object node(String key) {
		// The engine asks for each lock again and again, so the slot is computed only in
		// a cluster.
		int slot = wiring().connections().cluster() ? this.names.slot(key) : 0;
		Object master = wiring().connections().masters().apply(slot);
		return (master != null) ? master : slot;
	}

	@Override
	public void disconnect() {
		Wiring left = null;
		synchronized (this) {
			if (!this.closed) {
				left = this.wiring;
				this.wiring = null;
			}
		}
		if (left != null) {
			left.close();
		}
	}

	@Override
	public void close() {
		Wiring last;
		synchronized (this) {
			this.closed = true;
			last = this.wiring;
		}
		if (last != null) {
			last.close();
		}
	}

}
