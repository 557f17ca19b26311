package io.github.distributedlock.backend.redis.connection;

import java.time.Duration;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.LongSupplier;

import io.github.distributedlock.LockBackendException;
import io.github.distributedlock.backend.LockBackend.Listening;
import io.github.distributedlock.backend.ReleaseListener;

/**
 * The subscriptions of the instances that listen, if there are to be any.
 */
public final class NotificationSubscriptions {

	private final Map<String, NotificationSubscription> subscriptions = new ConcurrentHashMap<>();

	private final OwnConnections connections;

	private final String channels;

	private final Signals signals;

	private final Duration timeout;

	private final LongSupplier nanoTime;

	public NotificationSubscriptions(OwnConnections connections, String channels, Signals signals, Duration timeout,
			LongSupplier nanoTime) {
		this.connections = connections;
		this.channels = channels;
		this.signals = signals;
		this.timeout = timeout;
		this.nanoTime = nanoTime;
	}

	public Listening listen(String instance, ReleaseListener listener) {
		String channel = this.channels + instance;
		Pulse pulse = new Pulse(this.connections.shared().commands(), this.connections.cluster(), channel,
				this.nanoTime);
		NotificationSubscription subscription = new NotificationSubscription(this.connections.signals(), channel, pulse,
				this.timeout, this.signals, listener, (closed) -> this.subscriptions.remove(instance, closed),
				this.nanoTime);
		if (this.subscriptions.putIfAbsent(instance, subscription) != null) {
			throw new IllegalStateException("A listener for the instance '" + instance + "' exists already");
		}
		return subscription;
	}

	/**
	 * Lets an instance hear recalls, if it will, without waiting for that.
	 */
	public void begin(String instance) {
		NotificationSubscription subscription = this.subscriptions.get(instance);
		if (subscription != null && !subscription.isKnown()) {
			subscription.begin();
		}
	}

	/**
	 * Whether an instance is to be registered if it has to wait: a reservation for one
	 * that does not hear would only keep the others out. Ensures that it hears.
	 * @param key a key of the node that is to register it
	 * @throws LockBackendException if it does not, and has to
	 */
	public boolean mayRegister(String instance, byte[] key) {
		if (this.signals == Signals.NONE) {
			return false;
		}
		NotificationSubscription subscription = this.subscriptions.get(instance);
		if (subscription == null) {
			return true; // Another backend hears for it.
		}
		subscription.ensureBegun(key);
		return subscription.hears();
	}

	/**
	 * Whether an instance is registered, as far as that is known. Does no I/O.
	 */
	public boolean registers(String instance) {
		NotificationSubscription subscription = this.subscriptions.get(instance);
		return this.signals != Signals.NONE
				&& (subscription == null || !subscription.isKnown() || subscription.hears());
	}

	/**
	 * Leaves the server for another one that took its place.
	 */
	public void move() {
		this.subscriptions.values().forEach(NotificationSubscription::move);
	}

	public void close() {
		this.subscriptions.values().forEach(NotificationSubscription::close);
	}

}
