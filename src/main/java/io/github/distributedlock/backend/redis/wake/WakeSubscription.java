package io.github.distributedlock.backend.redis.wake;

import java.time.Duration;
import java.util.concurrent.locks.LockSupport;
import java.util.function.Consumer;
import java.util.function.LongSupplier;

import io.github.distributedlock.LockBackendException;
import io.github.distributedlock.backend.ReleaseListener;
import io.github.distributedlock.backend.ReleaseNotification;
import io.github.distributedlock.backend.ReleaseNotifications.Listening;
import io.github.distributedlock.backend.redis.connection.SignalLine;
import io.github.distributedlock.backend.redis.wire.KeyNames;
import io.github.distributedlock.backend.redis.wire.LockCodec;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

import org.springframework.data.redis.connection.Message;
import org.springframework.data.redis.connection.MessageListener;
import org.springframework.data.redis.connection.RedisConnection;
import org.springframework.data.redis.connection.Subscription;
import org.springframework.data.redis.connection.SubscriptionListener;

/**
 * The subscription of one instance to its wake-ups.
 * <p>
 * States: not begun; begun, with one thread that subscribes, and again whenever the
 * subscription is lost, until it is closed. The first registration begins it and waits
 * until it is known what the instance {@linkplain SubscriptionState hears}. Each
 * acknowledgement but one that was waited for is reported as a resubscription.
 * <p>
 * Not a {@code RedisMessageListenerContainer}: a lock may be reserved for an instance
 * only as long as its subscription is known to stand. The container does not say whether
 * it does, does not notice a connection that was dropped silently, and begins anew after
 * 5 seconds, during which locks would be reserved in vain.
 */
final class WakeSubscription implements Listening, MessageListener, SubscriptionListener {

	private static final Logger logger = LoggerFactory.getLogger(WakeSubscription.class);

	private final SignalLine line;

	private final byte[] channel;

	private final PublishProbe probe;

	private final ReleaseListener listener;

	private final Consumer<WakeSubscription> onClose;

	private final SubscriptionState state;

	private final SubscriptionHeartbeat heartbeat;

	private final Duration timeout;

	private final SubscriptionRetries retries;

	private volatile boolean closed;

	private @Nullable Thread thread;

	private volatile @Nullable RedisConnection connection;

	/** Whether another master took the place of that which it was begun on. */
	private volatile boolean moved;

	WakeSubscription(SignalLine line, String channel, Duration timeout, boolean required, ReleaseListener listener,
			Consumer<WakeSubscription> onClose, LongSupplier nanoTime) {
		this.line = line;
		this.channel = KeyNames.bytes(channel);
		this.probe = new PublishProbe(channel);
		this.listener = listener;
		this.onClose = onClose;
		this.state = new SubscriptionState(timeout, required);
		this.heartbeat = new SubscriptionHeartbeat(timeout.toNanos());
		this.timeout = timeout;
		this.retries = new SubscriptionRetries(nanoTime);
	}

	/**
	 * To be called before each registration.
	 * @throws LockBackendException if wake-ups cannot be had and are required, or if it
	 * was waited for them in vain
	 */
	void ensureBegun() {
		if (isKnown()) {
			checkHeartbeat();
		}
		else {
			begin();
			this.state.await();
		}
		this.state.require();
	}

	@Override
	public boolean hears() {
		return this.state.hears();
	}

	@Override
	public boolean isKnown() {
		return this.state.isKnown();
	}

	/**
	 * Whether it is certain that notifications do not arrive.
	 */
	boolean isDeaf() {
		return isKnown() && !hears();
	}

	/**
	 * Commands that failed are answered again: what kept it from subscribing may be over.
	 */
	void retry() {
		this.retries.restart();
		LockSupport.unpark(thread());
	}

	private void checkHeartbeat() {
		RedisConnection connection = this.connection;
		if (connection == null || !hears()) {
			return;
		}
		try {
			switch (this.heartbeat.look()) {
				case TO_BE_ASKED -> this.line.ask(connection, this.channel);
				case DEAD -> drop(connection);
				case FINE -> {
				}
			}
		}
		catch (RuntimeException ex) {
			logger.debug("The subscription to wake-ups is ending", ex);
		}
	}

	private synchronized void begin() {
		if (this.thread == null && !isClosed()) {
			Thread thread = new Thread(this::listen, "distributed-lock-wake");
			thread.setDaemon(true);
			this.thread = thread;
			thread.start();
		}
	}

	private void listen() {
		while (!isClosed()) {
			RuntimeException cause = subscribeOnce();
			if (isClosed()) {
				break;
			}
			LockBackendException failure = this.state.ended(cause);
			if (failure == null) {
				this.retries.lost();
			}
			else {
				this.retries.failed(!failure.isRetryable());
			}
			pause();
		}
		this.state.over();
	}

	private @Nullable RuntimeException subscribeOnce() {
		try {
			subscribe();
			return null;
		}
		catch (RuntimeException ex) {
			return ex;
		}
	}

	private void subscribe() {
		this.moved = false;
		try (RedisConnection connection = this.line.open()) {
			this.probe.require(this.line.link(connection));
			this.heartbeat.restart();
			this.connection = connection;
			this.line.listen(connection, this, this.channel, this::isClosed);
		}
		finally {
			this.connection = null;
		}
	}

	/**
	 * Leaves the server for another one, which may know less than what was told here.
	 */
	void move() {
		this.moved = true;
		RedisConnection connection = this.connection;
		if (connection != null) {
			drop(connection);
		}
		tell(this.listener::onResubscribed);
	}

	@Override
	public void onChannelSubscribed(byte[] channel, long count) {
		RedisConnection connection = this.connection;
		if (this.moved && connection != null) {
			drop(connection);
			return;
		}
		boolean askedFor = this.heartbeat.acknowledged();
		boolean waitedFor = this.state.acknowledged();
		if (isClosed()) {
			endEarly();
		}
		else if (!waitedFor && !askedFor) {
			logger.info("Wake-ups of locks arrive again");
			tell(this.listener::onResubscribed);
		}
	}

	@Override
	public void onMessage(Message message, byte @Nullable [] pattern) {
		ReleaseNotification notification = LockCodec.notification(KeyNames.text(message.getBody()));
		if (notification != null) {
			tell(() -> this.listener.onRelease(notification));
		}
	}

	// Runs in a thread of the client, which must survive whatever the listener does.
	private void tell(Runnable news) {
		try {
			news.run();
		}
		catch (RuntimeException ex) {
			logger.error("The listener for wake-ups of locks failed", ex);
		}
	}

	@Override
	public void close() {
		this.closed = true;
		if (hears()) {
			unsubscribe();
		}
		Thread thread = thread();
		if (thread != null && thread != Thread.currentThread()) {
			end(thread);
		}
		this.onClose.accept(this);
	}

	// Its client must not be ended before it: Lettuce lets a connection that is being
	// opened meanwhile wait for ever.
	private void end(Thread thread) {
		LockSupport.unpark(thread);
		try {
			thread.join(this.timeout.toMillis());
		}
		catch (InterruptedException ex) {
			Thread.currentThread().interrupt();
		}
		if (thread.isAlive()) {
			RedisConnection connection = this.connection;
			if (connection != null) {
				drop(connection);
			}
			thread.interrupt();
		}
	}

	private void drop(RedisConnection connection) {
		try {
			this.line.drop(connection);
		}
		catch (RuntimeException ex) {
			logger.debug("The connection for wake-ups had ended already", ex);
		}
	}

	private synchronized @Nullable Thread thread() {
		return this.thread;
	}

	// Closed before it was acknowledged, when a client cannot unsubscribe yet. A client
	// that blocks is in our thread here; any other thread is the client's and must not.
	private synchronized void endEarly() {
		if (Thread.currentThread() == this.thread) {
			unsubscribe();
		}
		else {
			LockSupport.unpark(this.thread);
		}
	}

	private void unsubscribe() {
		RedisConnection connection = this.connection;
		Subscription subscription = (connection != null) ? connection.getSubscription() : null;
		try {
			if (subscription != null) {
				subscription.close();
			}
		}
		catch (RuntimeException ex) {
			logger.debug("The subscription to wake-ups had ended already", ex);
		}
	}

	private boolean isClosed() {
		return this.closed;
	}

	// Ends early when it is closed, or told to retry.
	private void pause() {
		long left = this.retries.nanosLeft();
		while (!isClosed() && left > 0) {
			LockSupport.parkNanos(this, left);
			Thread.interrupted(); // Only closing it interrupts.
			left = this.retries.nanosLeft();
		}
	}

}
