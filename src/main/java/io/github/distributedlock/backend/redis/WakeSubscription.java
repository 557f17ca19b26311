package io.github.distributedlock.backend.redis;

import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.locks.LockSupport;
import java.util.function.Consumer;

import io.github.distributedlock.LockBackendException;
import io.github.distributedlock.backend.LockBackend;
import io.github.distributedlock.backend.WakeListener;
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
 * subscription is lost, until it is closed. Who registers first begins it and waits for
 * the acknowledgement, at most one command timeout, which then is all that the step may
 * take: it fails, and the next sends. Nobody waits again after that, since polling covers
 * what is missed. Each acknowledgement but one that was waited for is reported as a
 * resubscription.
 */
final class WakeSubscription implements LockBackend.Listening, MessageListener, SubscriptionListener {

	private static final Logger logger = LoggerFactory.getLogger(WakeSubscription.class);

	private static final long PAUSE_MILLIS = 100;

	private static final long LONGEST_PAUSE_MILLIS = 1_000;

	private static final long REFUSED_PAUSE_MILLIS = 30_000;

	private final SignalLine line;

	private final byte[] channel;

	private final WakeListener listener;

	private final Consumer<WakeSubscription> onClose;

	private final CompletableFuture<Boolean> first = new CompletableFuture<>();

	private final CountDownLatch closed = new CountDownLatch(1);

	private @Nullable Thread thread;

	private final AtomicBoolean warned = new AtomicBoolean();

	private final Duration timeout;

	private final Pulse pulse;

	private volatile boolean heard;

	private volatile @Nullable RedisConnection connection;

	WakeSubscription(SignalLine line, String channel, Duration timeout, WakeListener listener,
			Consumer<WakeSubscription> onClose) {
		this.line = line;
		this.channel = KeyNames.bytes(channel);
		this.listener = listener;
		this.onClose = onClose;
		this.timeout = timeout;
		this.pulse = new Pulse(timeout.toNanos());
	}

	/**
	 * To be called by who registers.
	 */
	void ensureBegun() {
		if (this.first.isDone()) {
			feelPulse();
		}
		else {
			awaitFirst();
		}
	}

	private void feelPulse() {
		RedisConnection connection = this.connection;
		if (connection == null || !this.heard) {
			return;
		}
		try {
			switch (this.pulse.look()) {
				case TO_BE_ASKED -> this.line.ask(connection, this.channel);
				case DEAD -> this.line.drop(connection);
				case FINE -> {
				}
			}
		}
		catch (RuntimeException ex) {
			logger.debug("The subscription to wake-ups is ending", ex);
		}
	}

	private void awaitFirst() {
		begin();
		try {
			this.first.get(this.timeout.toNanos(), TimeUnit.NANOSECONDS);
		}
		catch (TimeoutException ex) {
			this.first.completeExceptionally(ex);
			throw notAcknowledged(ex);
		}
		catch (InterruptedException ex) {
			Thread.currentThread().interrupt();
		}
		catch (ExecutionException ex) {
			throw notAcknowledged(ex.getCause());
		}
	}

	// Also for those who came a little later: they have waited for almost as long.
	private LockBackendException notAcknowledged(@Nullable Throwable cause) {
		String reason = "the server has not acknowledged the subscription within " + this.timeout.toMillis() + " ms";
		warn(reason, null);
		return LockBackendException.refused("Redis was not asked, since " + reason, true, cause);
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
		long pause = PAUSE_MILLIS;
		while (!isClosed()) {
			boolean acknowledged = false;
			RuntimeException failure = null;
			try {
				acknowledged = subscribeOnce();
			}
			catch (RuntimeException ex) {
				acknowledged = this.heard;
				failure = ex;
			}
			this.heard = false;
			if (isClosed()) {
				break;
			}
			LockBackendException refusal = (failure != null) ? translate(failure) : null;
			if (acknowledged) {
				pause = PAUSE_MILLIS;
				warn("the subscription was lost", failure);
			}
			else {
				warn((refusal != null) ? String.valueOf(refusal.getMessage()) : "it ended at once", failure);
				this.first.complete(false);
			}
			pause(((refusal != null) && !refusal.isRetryable()) ? REFUSED_PAUSE_MILLIS : pause);
			pause = Math.min(2 * pause, LONGEST_PAUSE_MILLIS);
		}
		this.first.complete(false);
	}

	private boolean subscribeOnce() {
		try (RedisConnection connection = this.line.open()) {
			this.pulse.restart();
			this.connection = connection;
			this.line.listen(connection, this, this.channel, this::isClosed);
			return this.heard;
		}
		finally {
			this.connection = null;
		}
	}

	@Override
	public void onChannelSubscribed(byte[] channel, long count) {
		this.heard = true;
		this.warned.set(false);
		boolean askedFor = this.pulse.acknowledged();
		if (isClosed()) {
			endEarly();
		}
		else if (!this.first.complete(true) && !askedFor) {
			logger.info("Wake-ups of locks arrive again");
			tell(this.listener::onResubscribed);
		}
	}

	@Override
	public void onMessage(Message message, byte @Nullable [] pattern) {
		tell(() -> this.listener.onWake(KeyNames.text(message.getBody())));
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
		this.closed.countDown();
		if (this.heard) {
			unsubscribe();
		}
		this.onClose.accept(this);
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
		return this.closed.getCount() == 0;
	}

	private void pause(long millis) {
		try {
			this.closed.await(millis, TimeUnit.MILLISECONDS);
		}
		catch (InterruptedException ex) {
			Thread.currentThread().interrupt();
		}
	}

	private LockBackendException translate(RuntimeException failure) {
		return RedisFailures.translate("subscribe to", "the wake-ups of this instance", failure);
	}

	// Once for each time that it is lost, however often it fails until it is back.
	private void warn(String reason, @Nullable Throwable failure) {
		if (this.warned.compareAndSet(false, true)) {
			logger.warn("Wake-ups of locks do not arrive, so who waits polls: {}", reason);
		}
		logger.debug("Subscription failed", failure);
	}

}
