package io.github.distributedlock.engine;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.Executor;
import java.util.function.Supplier;
import java.util.function.UnaryOperator;

import io.github.distributedlock.LockHandle;
import io.github.distributedlock.LockListener;
import io.github.distributedlock.LockRequest;
import io.github.distributedlock.WaitObserver;
import io.github.distributedlock.backend.LockBackend;
import io.github.distributedlock.internal.DurationRange;
import org.jspecify.annotations.Nullable;

/**
 * The settings of a {@link LockEngine}. Not safe for use by many threads.
 *
 * @since 1.0
 */
public final class LockEngineBuilder {

	final LockBackend backend;

	final List<LockListener> listeners = new ArrayList<>();

	String application = "app";

	Duration waitTime = Duration.ofSeconds(5);

	Duration watchdogTimeout = Duration.ofSeconds(30);

	Duration localSlice = Duration.ofMillis(10);

	Duration keepTime = Duration.ZERO;

	int maxKeyBytes = 1024;

	Duration shortestPoll = Duration.ofMillis(50);

	Duration longestPoll = Duration.ofMillis(500);

	@Nullable Duration warnHeldAfter;

	@Nullable Executor callbackExecutor;

	@Nullable WaitObserver waitObserver;

	Supplier<UnaryOperator<Runnable>> contextCapture = UnaryOperator::identity;

	/**
	 * Makes the random part of an identity. Only tests change this supplier.
	 */
	Supplier<String> random = Instance::random;

	LockEngineBuilder(LockBackend backend) {
		this.backend = Objects.requireNonNull(backend, "backend");
	}

	/**
	 * Names the application in owner tokens, by its first 128 characters; {@code app} by
	 * default.
	 * @param application the name
	 * @return this builder
	 */
	public LockEngineBuilder application(String application) {
		this.application = Objects.requireNonNull(application, "application");
		return this;
	}

	/**
	 * Sets how long {@code acquire} waits if the request names no wait time; 5 seconds by
	 * default.
	 * @param waitTime the time; zero means one attempt
	 * @return this builder
	 */
	public LockEngineBuilder waitTime(Duration waitTime) {
		this.waitTime = DurationRange.WAIT.check("waitTime", waitTime);
		return this;
	}

	/**
	 * Sets the lease that is renewed for as long as a lock is held; 30 seconds by
	 * default. A renewal is due after a third of the lease at the latest. If a JVM dies,
	 * other JVMs get its locks when this lease has run out. A request with a
	 * {@linkplain LockRequest#leaseTime(Duration) lease time} has that lease instead,
	 * which is not renewed.
	 * @param watchdogTimeout the lease, at least 1 second
	 * @return this builder
	 */
	public LockEngineBuilder watchdogTimeout(Duration watchdogTimeout) {
		this.watchdogTimeout = DurationRange.RENEWED_LEASE.check("watchdogTimeout", watchdogTimeout);
		return this;
	}

	/**
	 * Sets the polling interval that is used while release notifications are unavailable:
	 * 50 to 500 milliseconds by default. The pauses double from {@code min} to
	 * {@code max}, with jitter, and are short again after a notification. One thread of a
	 * JVM polls for each key.
	 * @param min the shortest pause, from 1 millisecond
	 * @param max the longest pause, to 1 minute
	 * @return this builder
	 */
	public LockEngineBuilder pollInterval(Duration min, Duration max) {
		this.shortestPoll = DurationRange.EXCHANGE.check("The poll interval", min);
		this.longestPoll = DurationRange.EXCHANGE.check("The poll interval", max);
		if (max.compareTo(min) < 0) {
			throw new IllegalArgumentException("The longest poll interval, " + DurationRange.text(max)
					+ ", is shorter than the shortest, which is " + DurationRange.text(min)
					+ ": make it at least as long");
		}
		return this;
	}

	/**
	 * Sets for how long the threads of this JVM hand a lock over to each other before
	 * other JVMs get their turn; 10 milliseconds by default. A hand-over asks nothing of
	 * the store, unless the lease differs. Only exclusive locks of a single key are
	 * handed over that are neither fair nor fenced, and not while {@code minHoldTime}
	 * blocks others.
	 * @param localSlice the time; zero: every lock is released in the store
	 * @return this builder
	 */
	public LockEngineBuilder localSlice(Duration localSlice) {
		this.localSlice = DurationRange.WAIT.check("localSlice", localSlice);
		return this;
	}

	/**
	 * Sets for how long a key stays with this JVM when no request uses the key, if the
	 * request names no keep time; by default no key stays. Applies to each request that
	 * can {@linkplain LockRequest#keepTime(Duration) keep} its key, and not to others. No
	 * key stays with a local slice of zero, or where the store does not notify.
	 * @param keepTime the time, 1 minute at most; zero: no key stays
	 * @return this builder
	 */
	public LockEngineBuilder keepTime(Duration keepTime) {
		this.keepTime = DurationRange.KEEP.check("keepTime", keepTime);
		return this;
	}

	/**
	 * Sets the length of the longest key, in bytes of UTF-8; 1,024 by default.
	 * @param maxKeyBytes the number of bytes
	 * @return this builder
	 */
	public LockEngineBuilder maxKeyBytes(int maxKeyBytes) {
		if (maxKeyBytes < 1) {
			throw new IllegalArgumentException("maxKeyBytes " + maxKeyBytes + " must be at least 1");
		}
		this.maxKeyBytes = maxKeyBytes;
		return this;
	}

	/**
	 * Logs a warning with the acquiring stack for each handle that is open longer than
	 * the given time. Off by default, since taking the stack costs some microseconds.
	 * @param warnHeldAfter the time, from 1 millisecond to 365 days, or {@code null} for
	 * no warning
	 * @return this builder
	 */
	public LockEngineBuilder warnHeldAfter(@Nullable Duration warnHeldAfter) {
		this.warnHeldAfter = (warnHeldAfter != null) ? DurationRange.HOLD.check("warnHeldAfter", warnHeldAfter) : null;
		return this;
	}

	/**
	 * Adds a listener.
	 * @param listener the listener
	 * @return this builder
	 */
	public LockEngineBuilder listener(LockListener listener) {
		this.listeners.add(Objects.requireNonNull(listener, "listener"));
		return this;
	}

	/**
	 * Sets the executor that completes the futures of {@link LockHandle#closeAsync()} and
	 * of the asynchronous methods of the engine, so that stages that depend on these
	 * futures run in the executor. The executor also runs
	 * {@linkplain LockHandle#onLost(Runnable) onLost} actions. By default daemon threads
	 * do both; a thread ends after being idle for 5 seconds. By default, each action has
	 * its own thread. Futures have 4 threads, and more and more while some future waits
	 * for 40 milliseconds, so that none has to wait for code that blocks. Code that
	 * blocks a thread of this executor delays other code of that kind, but no renewal, no
	 * release, no listener and no interrupt. A task that the executor refuses runs as by
	 * default. Closing the engine does not shut the executor down.
	 * @param callbackExecutor the executor
	 * @return this builder
	 */
	public LockEngineBuilder callbackExecutor(Executor callbackExecutor) {
		this.callbackExecutor = Objects.requireNonNull(callbackExecutor, "callbackExecutor");
		return this;
	}

	/**
	 * Sets the observer of the waits of requests. By default nobody observes them.
	 * @param waitObserver the observer
	 * @return this builder
	 */
	public LockEngineBuilder waitObserver(WaitObserver waitObserver) {
		this.waitObserver = Objects.requireNonNull(waitObserver, "waitObserver");
		return this;
	}

	/**
	 * Carries the context of a thread that asks asynchronously, such as its MDC, to the
	 * stages that depend on the future. By default nothing is carried.
	 * @param contextCapture is called on the thread that asks, and returns a function.
	 * The function runs a task in the context that was found on that thread. Neither may
	 * throw
	 * @return this builder
	 */
	public LockEngineBuilder contextCapture(Supplier<UnaryOperator<Runnable>> contextCapture) {
		this.contextCapture = Objects.requireNonNull(contextCapture, "contextCapture");
		return this;
	}

	/**
	 * Builds an engine that runs.
	 * @return the engine, to be closed
	 */
	public LockEngine build() {
		EngineThreads threads = new EngineThreads(this.callbackExecutor);
		return new LockEngine(this, threads, threads, threads::close);
	}

}
