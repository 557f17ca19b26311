package io.github.distributedlock.backend.redis;

import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;

import org.apache.commons.logging.Log;
import org.apache.commons.logging.LogFactory;
import org.jspecify.annotations.Nullable;

import org.springframework.data.redis.connection.Message;
import org.springframework.data.redis.connection.MessageListener;
import org.springframework.data.redis.connection.RedisConnection;
import org.springframework.data.redis.connection.Subscription;
import org.springframework.data.redis.connection.SubscriptionListener;

import io.github.distributedlock.LockBackendException;
import io.github.distributedlock.backend.LockBackend;
import io.github.distributedlock.backend.WakeListener;

/**
 * The subscription of one instance to its wake-ups.
 * <p>
 * States: not begun; begun, with one thread that subscribes, and again whenever the
 * subscription is lost, until it is closed. Who registers first begins it and waits for
 * the acknowledgement, at most one command timeout; nobody waits again after that, since
 * polling covers what is missed. Each acknowledgement but one that was waited for is
 * reported as a resubscription.
 */
final class WakeSubscription implements LockBackend.Listening, MessageListener, SubscriptionListener {

	private static final Log logger = LogFactory.getLog(WakeSubscription.class);

	private static final long PAUSE_MILLIS = 100;

	private static final long LONGEST_PAUSE_MILLIS = 1_000;

	private static final long REFUSED_PAUSE_MILLIS = 30_000;

	private final SignalLine line;

	private final byte[] channel;

	private final WakeListener listener;

	private final Runnable onClose;

	private final CompletableFuture<Boolean> first = new CompletableFuture<>();

	private final CountDownLatch closed = new CountDownLatch(1);

	private boolean begun;

	private volatile boolean heard;

	private volatile @Nullable RedisConnection connection;

	WakeSubscription(SignalLine line, String channel, WakeListener listener, Runnable onClose) {
		this.line = line;
		this.channel = KeyNames.bytes(channel);
		this.listener = listener;
		this.onClose = onClose;
	}

	void awaitFirst(Duration timeout) {
		if (this.first.isDone()) {
			return;
		}
		begin();
		try {
			this.first.get(timeout.toNanos(), TimeUnit.NANOSECONDS);
		}
		catch (TimeoutException ex) {
			if (this.first.complete(false)) {
				warn("the server did not acknowledge the subscription in time", null);
			}
		}
		catch (InterruptedException ex) {
			Thread.currentThread().interrupt();
		}
		catch (ExecutionException ex) {
			throw new IllegalStateException(ex);
		}
	}

	private synchronized void begin() {
		if (!this.begun && !isClosed()) {
			this.begun = true;
			Thread thread = new Thread(this::listen, "distributed-lock-wake");
			thread.setDaemon(true);
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
			else if (this.first.complete(false)) {
				warn((refusal != null) ? String.valueOf(refusal.getMessage()) : "it ended at once", failure);
			}
			pause(((refusal != null) && !refusal.isRetryable()) ? REFUSED_PAUSE_MILLIS : pause);
			pause = Math.min(2 * pause, LONGEST_PAUSE_MILLIS);
		}
		this.first.complete(false);
	}

	private boolean subscribeOnce() {
		try (RedisConnection connection = this.line.open()) {
			this.connection = connection;
			this.line.listen(connection, this, this.channel);
			return this.heard;
		}
		finally {
			this.connection = null;
		}
	}

	@Override
	public void onChannelSubscribed(byte[] channel, long count) {
		this.heard = true;
		if (isClosed()) {
			unsubscribe();
		}
		else if (!this.first.complete(true)) {
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
		unsubscribe();
		this.onClose.run();
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

	private static void warn(String reason, @Nullable Throwable failure) {
		logger.warn("Wake-ups of locks do not arrive, so who waits polls: " + reason);
		logger.debug("Subscription failed", failure);
	}

}
