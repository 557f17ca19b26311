package io.github.distributedlock.backend.redis;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;

import io.github.distributedlock.LockBackendException;
import io.github.distributedlock.backend.Attempt;
import io.github.distributedlock.backend.Claim;
import io.github.distributedlock.backend.LockBackend;
import io.github.distributedlock.backend.WakeListener;
import org.jspecify.annotations.Nullable;

import org.springframework.data.redis.connection.RedisConnection;
import org.springframework.data.redis.connection.RedisConnectionFactory;
import org.springframework.data.redis.connection.RedisStringCommands.SetOption;
import org.springframework.data.redis.core.types.Expiration;

/**
 * Locks in Redis or Valkey, over Jedis or Lettuce.
 * <p>
 * Has connections of its own, derived from those of the application and opened at first
 * use, so that slow commands of the application cost no lock. Safe for use by many
 * threads.
 */
public final class RedisLockBackend implements LockBackend {

	/**
	 * What the names of the Redis keys begin with, if nothing else is said.
	 */
	public static final String DEFAULT_PREFIX = "lock";

	/**
	 * How long a command may take, if nothing else is said.
	 */
	public static final Duration DEFAULT_COMMAND_TIMEOUT = Duration.ofSeconds(1);

	// A script holds up the server for as long as it runs.
	private static final int RENEWALS_AT_ONCE = 200;

	private final KeyNames names;

	private final RedisLockSettings settings;

	private final OwnConnections connections;

	private final LuaSteps steps;

	private final Acquiring acquiring;

	private final Map<String, WakeSubscription> subscriptions = new ConcurrentHashMap<>();

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
	 * @throws IllegalArgumentException if replicas are to acknowledge locks and the
	 * factory leads to a cluster, or is neither Jedis' nor Lettuce's
	 */
	public RedisLockBackend(RedisConnectionFactory applicationFactory, RedisLockSettings settings) {
		this.names = new KeyNames(settings.prefix());
		this.settings = settings;
		this.connections = OwnConnections.derive(applicationFactory, settings.commandTimeout());
		this.steps = new LuaSteps(this.names, !this.connections.cluster());
		this.acquiring = acquiring(applicationFactory);
	}

	private Acquiring acquiring(RedisConnectionFactory applicationFactory) {
		if (this.settings.replicasToAck() == 0) {
			return (claim, step) -> this.connections.commands().run(step);
		}
		AckLane acks = this.connections.acks();
		if (acks == null) {
			throw new IllegalArgumentException("Replicas cannot be asked whether they have a lock"
					+ " (distributed-lock.redis.replicas-to-ack) in a cluster, or by a connection factory that is"
					+ " neither Jedis' nor Lettuce's, as " + applicationFactory.getClass().getName() + " is: use 0");
		}
		return new ReplicatedAcquiring(acks, this.steps, this.settings);
	}

	@Override
	public Attempt acquire(Claim claim) {
		return acquire(claim, (connection) -> claim.fenced() ? this.steps.acquire(connection, claim)
				: setIfAbsent(connection, claim));
	}

	@SuppressWarnings("deprecation") // What replaces it exists since Spring Data 4.1.
	private Attempt setIfAbsent(RedisConnection connection, Claim claim) {
		long begin = System.nanoTime();
		byte[] name = this.names.lock(claim.key());
		Boolean set = connection.stringCommands()
			.set(name, KeyNames.bytes(claim.owner()), Expiration.milliseconds(claim.lease().toMillis()),
					SetOption.ifAbsent());
		if (Boolean.TRUE.equals(set)) {
			return Attempt.ACQUIRED;
		}
		boolean slow = System.nanoTime() - begin > this.settings.commandTimeout().toNanos() / 4;
		if (slow && !this.connections.cluster()) {
			// It has taken long enough, and no client sent it again, so it is not us.
			return Attempt.BUSY;
		}
		// Tells who holds it, and fails if it is no lock at all. It is us if the client
		// sent the command again after it had lost the first answer.
		byte[] value = connection.stringCommands().get(name);
		String holder = (value != null) ? KeyNames.text(value) : null;
		return claim.owner().equals(holder) ? Attempt.ACQUIRED : Attempt.busy(holder);
	}

	@Override
	public Attempt acquireOrRegister(Claim claim) {
		WakeSubscription subscription = this.subscriptions.get(claim.instance());
		if (subscription != null) {
			subscription.ensureBegun();
		}
		return acquire(claim, (connection) -> this.steps.acquireOrRegister(connection, claim));
	}

	private Attempt acquire(Claim claim, Lane.Command<Attempt> step) {
		try {
			return certain(this.acquiring.run(claim, step));
		}
		catch (RuntimeException ex) {
			throw RedisFailures.translate("acquire", describe(claim.key()), ex);
		}
	}

	@Override
	public void withdraw(String key, String instance) {
		run("withdraw from", key, (connection) -> {
			this.steps.withdraw(connection, key, instance);
			return null;
		});
	}

	@Override
	public List<Boolean> renew(List<Claim> claims) {
		List<Boolean> owned = new ArrayList<>(claims.size());
		for (int from = 0; from < claims.size(); from += RENEWALS_AT_ONCE) {
			owned.addAll(renewAtOnce(claims.subList(from, Math.min(from + RENEWALS_AT_ONCE, claims.size()))));
		}
		return owned;
	}

	@Override
	public boolean release(String key, String owner) {
		return certain(run("release", key, (connection) -> this.steps.release(connection, key, owner)));
	}

	@Override
	public boolean park(String key, String owner, Duration rest) {
		long millis = Math.max(1, rest.toMillis());
		return certain(run("park", key, (connection) -> this.steps.park(connection, key, owner, millis)));
	}

	@Override
	public Listening listen(String instance, WakeListener listener) {
		WakeSubscription subscription = new WakeSubscription(this.connections.signals(),
				this.names.channels() + instance, this.settings.commandTimeout(), listener,
				(closed) -> this.subscriptions.remove(instance, closed));
		if (this.subscriptions.putIfAbsent(instance, subscription) != null) {
			throw new IllegalStateException("Somebody listens for '" + instance + "' already");
		}
		return subscription;
	}

	@Override
	public Object node(String key) {
		Masters masters = this.connections.masters();
		if (masters == Masters.ONE) {
			return Masters.ONE; // Asked for each lock again and again: no slot is needed.
		}
		int slot = this.names.slot(key);
		Object master = masters.of(slot);
		return (master != null) ? master : slot;
	}

	@Override
	public void close() {
		this.subscriptions.values().forEach(WakeSubscription::close);
		this.connections.close();
	}

	private <T> @Nullable T run(String step, String key, Lane.Command<T> command) {
		try {
			return this.connections.commands().run(command);
		}
		catch (RuntimeException ex) {
			throw RedisFailures.translate(step, describe(key), ex);
		}
	}

	private List<Boolean> renewAtOnce(List<Claim> claims) {
		try {
			return certain(this.connections.renewals().run((connection) -> this.steps.renew(connection, claims)));
		}
		catch (RuntimeException ex) {
			String others = (claims.size() > 1) ? " and " + (claims.size() - 1) + " more" : "";
			throw RedisFailures.translate("renew", describe(claims.get(0).key()) + others, ex);
		}
	}

	private String describe(String key) {
		return "lock '" + key + "' (Redis key '" + KeyNames.text(this.names.lock(key)) + "')";
	}

	private static <T> T certain(@Nullable T answer) {
		if (answer == null) {
			throw new LockBackendException("Redis gave no answer", true, null);
		}
		return answer;
	}

}
