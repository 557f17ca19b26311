package io.github.distributedlock.backend.redis.wake;

import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.AtomicBoolean;

import io.github.distributedlock.LockBackendException;
import io.github.distributedlock.backend.redis.wire.RedisFailures;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Whether the wake-ups of an instance arrive and, if not, why.
 * <p>
 * States: not known yet; they arrive; they were lost, and will be back soon; they do not
 * arrive, for a reason. Known from the first acknowledgement or failure on, and when the
 * time for it is over. A registration waits until it is known, at most one command
 * timeout. That then is all that the step may take: it fails, and the next one sends. No
 * registration waits again after that.
 */
final class SubscriptionState {

	private static final Logger logger = LoggerFactory.getLogger(WakeSubscription.class);

	/**
	 * Whether a registration waited for the acknowledgement and got it; else it was late.
	 */
	private final CompletableFuture<Boolean> first = new CompletableFuture<>();

	private final AtomicBoolean warned = new AtomicBoolean();

	private final Duration timeout;

	private final boolean required;

	private volatile boolean heard;

	private volatile @Nullable LockBackendException failure;

	/**
	 * Creates it, not known yet.
	 * @param timeout how long the first acknowledgement may take
	 * @param required whether requests must not wait if they do not arrive
	 */
	SubscriptionState(Duration timeout, boolean required) {
		this.timeout = timeout;
		this.required = required;
	}

	boolean isKnown() {
		return this.first.isDone();
	}

	/**
	 * Whether wake-ups arrive.
	 * @return {@code false} also if that is not known yet
	 */
	boolean hears() {
		return this.heard;
	}

	/**
	 * Waits until it is known.
	 * @throws LockBackendException if that takes too long, also for those that came a
	 * little later: they have waited for almost as long
	 */
	void await() {
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

	private LockBackendException notAcknowledged(@Nullable Throwable cause) {
		String reason = "the server has not acknowledged the subscription within " + this.timeout.toMillis() + " ms";
		this.failure = LockBackendException.of(reason).retryable(true).cause(cause).build();
		warn(reason, null);
		return LockBackendException.of("Redis was not asked, since " + reason)
			.retryable(true)
			.notCarriedOut(true)
			.cause(cause)
			.build();
	}

	/**
	 * Refuses to go on without wake-ups where they are required.
	 * @throws LockBackendException if they cannot be had
	 */
	void require() {
		LockBackendException failure = this.failure;
		if (this.required && !this.heard && failure != null) {
			throw LockBackendException
				.of("Redis was not asked, since wake-ups do not arrive, and polling instead is"
						+ " not allowed (distributed-lock.redis.signals=pubsub): " + failure.problem())
				.remedy("allow PUBLISH and SUBSCRIBE, or use distributed-lock.redis.signals=auto")
				.retryable(failure.isRetryable())
				.notCarriedOut(true)
				.cause(failure)
				.build();
		}
	}

	/**
	 * The server has acknowledged the subscription.
	 * @return whether a registration has waited for it
	 */
	boolean acknowledged() {
		this.failure = null;
		this.heard = true;
		this.warned.set(false);
		return this.first.complete(true);
	}

	/**
	 * The subscription has ended.
	 * @param cause why, if there was an exception
	 * @return the failure if it had not even begun, else {@code null}
	 */
	@Nullable LockBackendException ended(@Nullable RuntimeException cause) {
		if (this.heard) {
			this.heard = false;
			warn("the subscription was lost", cause);
			return null;
		}
		LockBackendException failure = (cause != null)
				? RedisFailures.translate("subscribe to", "the wake-ups of this instance", cause)
				: LockBackendException.of("Redis ended the connection instead of acknowledging the subscription")
					.retryable(true)
					.build();
		this.failure = failure;
		warn(String.valueOf(failure.getMessage()), cause);
		this.first.complete(false);
		return failure;
	}

	/**
	 * The subscription is closed.
	 */
	void over() {
		this.heard = false;
		this.first.complete(false);
	}

	// Once for each time that it is lost, however often it fails until it is back.
	private void warn(String reason, @Nullable Throwable cause) {
		if (this.warned.compareAndSet(false, true)) {
			logger.warn("Wake-ups of locks do not arrive, so waiting requests {}: {}",
					this.required ? "fail" : "poll, and get what other instances leave", reason);
		}
		logger.debug("Subscription failed", cause);
	}

}
