package io.github.distributedlock.backend.redis;

import java.time.Duration;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.LongSupplier;

import io.github.distributedlock.LockBackendException;
import io.github.distributedlock.backend.ReleaseListener;
import io.github.distributedlock.backend.redis.internal.OwnConnections;

/**
 * The subscriptions of the instances that listen.
 */
final class NotificationSubscriptions {

	private final Map<String, NotificationSubscription> subscriptions = new ConcurrentHashMap<>();

	private final OwnConnections connections;

	private final String channels;

	private final boolean subscribes;

	private final boolean required;

	private final Duration timeout;

	private final LongSupplier nanoTime;

	/**
	 * Creates an empty set of subscriptions.
	 * @param channels the beginning of the names of the channels
	 * @param subscribes whether any subscription may begin
	 * @param required whether requests fail, instead of polling, while no notifications
	 * arrive
	 */
	NotificationSubscriptions(OwnConnections connections, String channels, boolean subscribes, boolean required,
			Duration timeout, LongSupplier nanoTime) {
		this.connections = connections;
		this.channels = channels;
		this.subscribes = subscribes;
		this.required = required;
		this.timeout = timeout;
		this.nanoTime = nanoTime;
	}

	void listen(String instance, ReleaseListener listener) {
		if (!this.subscribes) {
			return;
		}
		String channel = this.channels + instance;
		Pulse pulse = new Pulse(this.connections.shared().commands(), this.connections.cluster(), channel,
				this.nanoTime);
		NotificationSubscription subscription = new NotificationSubscription(this.connections.signals(), channel, pulse,
				this.timeout, this.required, listener, this.nanoTime);
		if (this.subscriptions.putIfAbsent(instance, subscription) != null) {
			throw new IllegalStateException("A listener for the instance '" + instance + "' exists already");
		}
	}

	/**
	 * Returns whether notifications for an instance that listens arrive.
	 */
	boolean hears(String instance) {
		NotificationSubscription subscription = this.subscriptions.get(instance);
		return subscription != null && subscription.hears();
	}

	/**
	 * Returns whether it is known if notifications for an instance arrive.
	 */
	boolean isKnown(String instance) {
		NotificationSubscription subscription = this.subscriptions.get(instance);
		return !this.subscribes || (subscription != null && subscription.isKnown());
	}

	/**
	 * Ends the subscription of an instance.
	 */
	void end(String instance) {
		NotificationSubscription subscription = this.subscriptions.get(instance);
		if (subscription != null) {
			subscription.close();
			this.subscriptions.remove(instance, subscription);
		}
	}

	/**
	 * Begins the subscription of an instance, so that the instance hears recalls, and
	 * does not wait for the acknowledgement.
	 */
	void begin(String instance) {
		NotificationSubscription subscription = this.subscriptions.get(instance);
		if (subscription != null && !subscription.isKnown()) {
			subscription.begin();
		}
	}

	/**
	 * Returns whether an instance is to be registered if a claim has to wait: a
	 * reservation for an instance that does not hear would only keep other instances out.
	 * Begins the subscription if necessary.
	 * @param key a key of the node that is to register the instance
	 * @throws LockBackendException if notifications are required and do not arrive, or if
	 * the acknowledgement did not come in time
	 */
	boolean mayRegister(String instance, byte[] key) {
		if (!this.subscribes) {
			return false;
		}
		NotificationSubscription subscription = this.subscriptions.get(instance);
		if (subscription == null) {
			return true; // Another backend hears on behalf of this instance.
		}
		subscription.ensureBegun(key);
		return subscription.hears();
	}

	/**
	 * Returns whether an instance is registered, as far as that is known. Does no I/O.
	 */
	boolean registers(String instance) {
		NotificationSubscription subscription = this.subscriptions.get(instance);
		return this.subscribes && (subscription == null || !subscription.isKnown() || subscription.hears());
	}

	/**
	 * Leaves the server for the server that has taken its place.
	 */
	void move() {
		this.subscriptions.values().forEach(NotificationSubscription::move);
	}

	void close() {
		this.subscriptions.keySet().forEach(this::end);
	}

}
