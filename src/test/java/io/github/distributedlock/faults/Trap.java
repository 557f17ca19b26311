package io.github.distributedlock.faults;

import java.time.Duration;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;

import io.github.distributedlock.fixtures.RespMessage;

/**
 * Something that happens to the next request of a kind that passes a {@link RespRelay},
 * or one of several relays that it is set at.
 */
final class Trap {

	/** What happens to it. */
	enum Effect {

		/**
		 * The server carries it out. Neither its reply nor anything else passes on that
		 * connection from then on, and nobody is told.
		 */
		SILENCE,

		/** The server carries it out. Instead of its reply the connection ends. */
		CUT,
		/** The server carries it out. Instead of its reply comes a proxy's error. */
		ERROR,

		/** It is held back, with all that comes behind it, and passed on late. */
		DELAY

	}

	private static final long PATIENCE_SECONDS = 10;

	private final Step step;

	private final String key;

	private final Effect effect;

	private final Duration delay;

	private final AtomicBoolean armed = new AtomicBoolean(true);

	private final AtomicInteger repetitions = new AtomicInteger();

	private volatile List<String> caught = List.of();

	private final CountDownLatch done = new CountDownLatch(1);

	private Trap(Step step, String key, Effect effect, Duration delay) {
		this.step = step;
		this.key = "lock:{" + key + "}";
		this.effect = effect;
		this.delay = delay;
	}

	/**
	 * Loses the reply to the next such request, and all that comes after it on its
	 * connection.
	 */
	static Trap loseReply(Step step, String key) {
		return new Trap(step, key, Effect.SILENCE, Duration.ZERO);
	}

	/**
	 * Ends the connection in place of the reply to the next such request.
	 */
	static Trap cutReply(Step step, String key) {
		return new Trap(step, key, Effect.CUT, Duration.ZERO);
	}

	/**
	 * Answers the next such request, which is carried out, by an error, as a proxy does
	 * that has waited for the server in vain.
	 */
	static Trap failReply(Step step, String key) {
		return new Trap(step, key, Effect.ERROR, Duration.ZERO);
	}

	/**
	 * Holds the next such request back, and passes it on even if the client has left.
	 */
	static Trap delay(Step step, String key, Duration delay) {
		return new Trap(step, key, Effect.DELAY, delay);
	}

	Effect effect() {
		return this.effect;
	}

	Duration delay() {
		return this.delay;
	}

	/**
	 * Catches a request, if it is the first of the kind.
	 */
	boolean catches(RespMessage request) {
		if (request.words().equals(this.caught)) {
			this.repetitions.incrementAndGet();
		}
		boolean mine = this.armed.get() && this.step.isIn(request.words()) && request.words().contains(this.key)
				&& this.armed.compareAndSet(true, false);
		if (mine) {
			this.caught = request.words();
		}
		return mine;
	}

	/**
	 * How often the request that was caught was sent again, word for word.
	 */
	int repetitions() {
		return this.repetitions.get();
	}

	void done() {
		this.done.countDown();
	}

	/**
	 * Waits until it has happened: the reply is lost, or the request is passed on.
	 * @throws AssertionError if there was no such request
	 */
	void awaitDone() throws InterruptedException {
		if (!this.done.await(PATIENCE_SECONDS + this.delay.toSeconds(), TimeUnit.SECONDS)) {
			throw new AssertionError("No " + this.step + " of " + this.key + " has passed");
		}
	}

}
