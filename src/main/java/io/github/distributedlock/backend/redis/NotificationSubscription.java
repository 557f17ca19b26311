package io.github.distributedlock.backend.redis;

import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.LockSupport;
import java.util.function.LongSupplier;

import io.github.distributedlock.LockBackendException;
import io.github.distributedlock.backend.ReleaseListener;
import io.github.distributedlock.backend.ReleaseNotification;
import io.github.distributedlock.backend.redis.internal.Command;
import io.github.distributedlock.backend.redis.internal.Command.Verb;
import io.github.distributedlock.backend.redis.internal.Link;
import io.github.distributedlock.backend.redis.internal.RedisFailures;
import io.github.distributedlock.backend.redis.internal.RedisRefusal;
import io.github.distributedlock.backend.redis.internal.SignalConnector;
import io.github.distributedlock.backend.redis.internal.SignalConnector.SignalConnection;
import io.github.distributedlock.internal.DaemonThreads;
import io.github.distributedlock.internal.DurationRange;
import io.github.distributedlock.internal.Uninterrupted;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The subscription of one instance to the release notifications for that instance. A
 * subscription that has ended is begun again. The object knows whether notifications
 * arrive and, if not, the reason.
 * <p>
 * States: not known yet; notifications arrive; notifications were lost, and will be back
 * soon; notifications do not arrive, for a known reason. The first registration begins
 * the subscription: one thread subscribes and listens, and pauses in between. The
 * registration waits for the first acknowledgement or failure, at most for one command
 * timeout. If the timeout is over, the step has no time left and fails, and the next step
 * sends its command. No registration waits again after that. Each acknowledgement except
 * one that a registration waited for is reported as a resubscription.
 * <p>
 * A connection that was dropped silently does not end by itself, and a connection to a
 * server that has been replaced by another may live for ever. So while a request waits,
 * the {@link Pulse} is checked. A subscription that begins after a failed pulse is not
 * believed until the pulse has proven that subscription.
 * <p>
 * Invariant: a connection that is opened while the subscription is dropped or closed is
 * not listened to. The thread that opens the connection looks for a drop afterwards, and
 * the thread that drops looks for a connection.
 * <p>
 * This class takes the place of a {@code RedisMessageListenerContainer}: a lock may be
 * reserved for an instance only as long as the subscription is known to stand. The
 * container does not tell whether the subscription stands, does not notice a connection
 * that was dropped silently, and begins anew after 5 seconds, during which locks would be
 * reserved in vain.
 */
final class NotificationSubscription implements SignalConnector.Listener {

	private static final Logger logger = LoggerFactory.getLogger(NotificationSubscription.class);

	private static final long SHORTEST_PAUSE = TimeUnit.MILLISECONDS.toNanos(100);

	private static final long LONGEST_PAUSE = TimeUnit.SECONDS.toNanos(1);

	/** The pause after a refusal, which is likely to last. */
	private static final long REFUSED_PAUSE = TimeUnit.SECONDS.toNanos(5);

	private final SignalConnector connector;

	private final String channel;

	private final Pulse pulse;

	private final Duration timeout;

	/**
	 * {@code true} if requests fail, instead of polling, while no notifications arrive.
	 */
	private final boolean required;

	private final ReleaseListener listener;

	private final LongSupplier nanoTime;

	/**
	 * Completes with {@code true} at the first acknowledgement; with {@code false} at the
	 * first failure, at the close, or where nobody subscribes; exceptionally if a
	 * registration waited for a command timeout in vain.
	 */
	private final CompletableFuture<Boolean> first = new CompletableFuture<>();

	private final AtomicBoolean warned = new AtomicBoolean();

	private final AtomicInteger drops = new AtomicInteger();

	private volatile @Nullable SignalConnection connection;

	/** {@code true} while the server has acknowledged the present subscription. */
	private volatile boolean acknowledged;

	/** {@code true} while the present subscription is acknowledged and believed. */
	private volatile boolean heard;

	/** The reason why the pulse has failed, until the pulse has proven a subscription. */
	private volatile @Nullable LockBackendException doubt;

	private volatile boolean closed;

	private volatile @Nullable LockBackendException failure;

	private @Nullable Thread thread;

	/** The next pause, in nanoseconds. Only the listening thread uses this field. */
	private long pause;

	NotificationSubscription(SignalConnector connector, String channel, Pulse pulse, Duration timeout, boolean required,
			ReleaseListener listener, LongSupplier nanoTime) {
		this.connector = connector;
		this.channel = channel;
		this.pulse = pulse;
		this.timeout = timeout;
		this.required = required;
		this.listener = listener;
		this.nanoTime = nanoTime;
	}

	/**
	 * Begins the subscription, or checks that the subscription is alive. Called before
	 * each registration.
	 * @param key a key of the node that the registration goes to
	 * @throws LockBackendException if notifications are required and do not arrive, or if
	 * this call waited in vain for the acknowledgement
	 */
	void ensureBegun(byte[] key) {
		if (isKnown()) {
			checkPulse(key);
		}
		else if (begin()) {
			awaitKnown();
		}
		LockBackendException failure = this.failure;
		if (this.required && !this.heard && failure != null) {
			throw LockBackendException
				.of("Redis was not asked, since release notifications do not arrive, and polling instead is"
						+ " not allowed (distributed-lock.redis.signals=pubsub): " + failure.problem())
				.remedy("allow PUBLISH and SUBSCRIBE, or use distributed-lock.redis.signals=auto")
				.retryable(failure.isRetryable())
				.withoutEffect(true)
				.cause(failure)
				.build();
		}
	}

	boolean hears() {
		return this.heard && !this.closed;
	}

	boolean isKnown() {
		return this.first.isDone();
	}

	// If the first registration has waited too long, registrations that came a little
	// later fail at the same time: they have waited for almost as long.
	private void awaitKnown() {
		try {
			Uninterrupted.get(this.first, this.timeout.toNanos());
		}
		catch (TimeoutException ex) {
			this.first.completeExceptionally(ex);
			throw notAcknowledged(ex);
		}
		catch (ExecutionException ex) {
			throw notAcknowledged(ex.getCause());
		}
	}

	private LockBackendException notAcknowledged(@Nullable Throwable cause) {
		String reason = "the server has not acknowledged the subscription within " + DurationRange.text(this.timeout);
		this.failure = LockBackendException.of(reason).retryable(true).cause(cause).build();
		warn(reason, null);
		return LockBackendException.of("Redis was not asked, since " + reason)
			.retryable(true)
			.withoutEffect(true)
			.cause(cause)
			.build();
	}

	private void checkPulse(byte[] key) {
		if (!this.acknowledged || this.closed) {
			return;
		}
		String problem = this.pulse.check(key);
		if (problem != null) {
			doubt(problem);
		}
		else if (this.doubt != null && this.pulse.isProven()) {
			believe();
		}
	}

	private void doubt(String problem) {
		synchronized (this) {
			this.doubt = LockBackendException.of(problem).retryable(true).build();
			this.heard = false;
		}
		warn(problem, null);
		drop();
	}

	private void believe() {
		synchronized (this) {
			if (this.doubt == null || !this.acknowledged) {
				return;
			}
			this.doubt = null;
			hear();
		}
		tellOfResubscription();
	}

	private void hear() {
		this.failure = null;
		this.heard = true;
		this.warned.set(false);
	}

	private void tellOfResubscription() {
		if (!this.closed) {
			logger.info("Release notifications arrive again");
			inform(this.listener::onResubscribed);
		}
	}

	/**
	 * Leaves the server for another server, which may know less than the former server
	 * was told.
	 */
	void move() {
		drop();
		inform(this.listener::onResubscribed);
	}

	/**
	 * Begins the subscription, unless the subscription has begun.
	 * @return {@code false} if the process can have no more threads: this registration
	 * polls, and the next attempt tries again
	 */
	synchronized boolean begin() {
		if (this.thread == null && !this.closed) {
			Thread thread = DaemonThreads.create(this::listen, "distributed-lock-wake");
			try {
				thread.start();
			}
			catch (OutOfMemoryError noThread) {
				warn("no thread can be had to listen", noThread);
				return false;
			}
			this.thread = thread;
		}
		return true;
	}

	private void listen() {
		while (!this.closed) {
			RuntimeException cause = listenOnce();
			if (!this.closed) {
				onEnd(cause);
			}
			pause();
		}
	}

	private @Nullable RuntimeException listenOnce() {
		int drops = this.drops.get();
		try (SignalConnection connection = this.connector.open()) {
			this.connection = connection;
			if (!this.closed && this.drops.get() == drops) {
				requireRights(connection.link());
				connection.listen(KeyNames.bytes(this.channel), this);
			}
			return null;
		}
		catch (RuntimeException ex) {
			return ex;
		}
		catch (Error ex) { // For example, no thread can be had. The loop begins again.
			return new IllegalStateException(ex);
		}
		finally {
			this.connection = null;
		}
	}

	private void pause() {
		long begin = this.nanoTime.getAsLong();
		long left = this.pause;
		while (!this.closed && left > 0) {
			LockSupport.parkNanos(this, left);
			Thread.interrupted(); // Only close() interrupts this thread.
			left = this.pause - (this.nanoTime.getAsLong() - begin);
		}
	}

	// Ends the present connection, or the connection that is being opened.
	private void drop() {
		this.drops.incrementAndGet();
		SignalConnection connection = this.connection;
		if (connection != null) {
			connection.close();
		}
	}

	// Checks whether notifications may be published. An instance that subscribed where
	// publishing is forbidden would never be woken, but locks would be reserved for that
	// instance, each for half a second. Other instances are assumed to have the same
	// rights as this instance. No instance listens to the channel of this check. Any
	// failure but a refusal is left for the subscription to find out.
	private void requireRights(Link link) {
		byte[] nobodys = KeyNames.bytes(this.channel + "?");
		try {
			link.call(Command.at(nobodys, Verb.PUBLISH, nobodys, new byte[0]));
		}
		catch (RuntimeException ex) {
			LockBackendException failure = RedisFailures.translate("publish", "release notifications", ex);
			if (RedisRefusal.isError(ex) || (failure.isWithoutEffect() && !failure.isRetryable())) {
				throw failure;
			}
		}
	}

	@Override
	public void onSubscribed() {
		boolean doubted;
		synchronized (this) {
			doubted = this.doubt != null;
			this.pulse.subscribed(doubted);
			this.acknowledged = true;
			if (!doubted) {
				hear();
			}
		}
		boolean waitedFor = this.first.complete(true);
		if (!waitedFor && !doubted) {
			tellOfResubscription();
		}
	}

	@Override
	public void onMessage(byte[] message) {
		String text = KeyNames.text(message);
		ReleaseNotification notification = this.pulse.takes(text) ? null : LockCodec.notification(text);
		if (notification != null) {
			inform(() -> this.listener.onNotification(notification));
		}
	}

	// The listener is called by a thread of the client, which must survive whatever the
	// listener does.
	private static void inform(Runnable news) {
		try {
			news.run();
		}
		catch (RuntimeException | Error ex) {
			logger.error("The listener for release notifications failed", ex);
		}
	}

	// Synchronized with believe(), which checks that the subscription is acknowledged,
	// and must not miss the end of the subscription.
	private synchronized void onEnd(@Nullable RuntimeException cause) {
		LockBackendException doubt = this.acknowledged ? this.doubt : null;
		this.acknowledged = false;
		if (this.heard) {
			this.heard = false;
			this.pause = SHORTEST_PAUSE;
			warn("the subscription was lost", cause);
			return;
		}
		LockBackendException failure = (doubt != null) ? doubt : failure(cause);
		this.failure = failure;
		this.pause = failure.isRetryable() ? Math.max(SHORTEST_PAUSE, Math.min(2 * this.pause, LONGEST_PAUSE))
				: REFUSED_PAUSE;
		warn(String.valueOf(failure.getMessage()), cause);
		this.first.complete(false);
	}

	private static LockBackendException failure(@Nullable RuntimeException cause) {
		return (cause != null)
				? RedisFailures.translate("subscribe to", "the release notifications of this instance", cause)
				: LockBackendException.of("Redis ended the connection instead of acknowledging the subscription")
					.retryable(true)
					.build();
	}

	// Warns once for each loss of the subscription, however often attempts fail until the
	// subscription is back.
	private void warn(String reason, @Nullable Throwable cause) {
		if (this.warned.compareAndSet(false, true)) {
			logger.warn("Release notifications do not arrive, so waiting requests {}: {}",
					this.required ? "fail" : "poll, and get what other instances leave", reason);
		}
		logger.debug("Subscription failed", cause);
	}

	// A client must not be ended before the subscription: in Lettuce, a connection that
	// is being opened meanwhile would wait for ever.
	void close() {
		this.closed = true;
		drop();
		Thread thread = thread();
		if (thread != null && thread != Thread.currentThread()) {
			DaemonThreads.end(thread, this.timeout);
		}
		this.first.complete(false);
	}

	private synchronized @Nullable Thread thread() {
		return this.thread;
	}

}
