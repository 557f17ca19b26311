package io.github.distributedlock.engine;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Executor;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.LongAdder;
import java.util.function.Supplier;
import java.util.function.UnaryOperator;
import java.util.stream.Stream;

import io.github.distributedlock.DistributedLock;
import io.github.distributedlock.EngineSnapshot;
import io.github.distributedlock.LockAdmin;
import io.github.distributedlock.LockBackendException;
import io.github.distributedlock.LockException;
import io.github.distributedlock.LockHandle;
import io.github.distributedlock.LockListener;
import io.github.distributedlock.LockNotAcquiredException;
import io.github.distributedlock.LockRequest;
import io.github.distributedlock.LockStatus;
import io.github.distributedlock.LockStatus.Holder;
import io.github.distributedlock.LockStatus.State;
import io.github.distributedlock.WaitObserver;
import io.github.distributedlock.backend.LockBackend;
import io.github.distributedlock.backend.LockFeature;
import io.github.distributedlock.engine.EngineTime.Workers;
import io.github.distributedlock.internal.Binding;
import io.github.distributedlock.internal.DurationRange;
import org.jspecify.annotations.Nullable;

/**
 * Locks on any {@link LockBackend}.
 *
 * <pre class="code">
 * try (LockEngine engine = LockEngine.builder(new InMemoryLockBackend()).build()) {
 *     engine.run("nightly-report", () -> …);
 * }
 * </pre>
 *
 * Safe for use by many threads. A new engine runs at once. The few threads of an engine
 * exist only while they are needed. Closing the engine does not close the backend.
 *
 * @since 1.0
 */
public final class LockEngine implements DistributedLock, LockAdmin, AutoCloseable {

	private static final Duration SHORTEST_RESERVATION = Duration.ofMillis(20);

	private final LockBackend backend;

	private final Instance instance;

	private final Duration waitTime;

	private final EngineTime time;

	private final Lifecycle lifecycle;

	private final KeptKeys kept;

	private final LongAdder takenAgain = new LongAdder();

	private final LocalQueue queue;

	private final Leases leases;

	private final Releaser releaser;

	private final Acquirer acquirer;

	private final Runnable endThreads;

	LockEngine(Builder settings, EngineTime time, Workers workers, Runnable endThreads) {
		LockBackend backend = started(settings);
		this.backend = backend;
		this.instance = new Instance(settings.application, backend, settings.random);
		this.waitTime = settings.waitTime;
		this.time = time;
		this.endThreads = endThreads;
		this.lifecycle = new Lifecycle(this::isInsideLock, workers);
		NodeTasks tasks = new NodeTasks(workers::background, time);
		boolean handsOver = !settings.localSlice.isZero();
		this.leases = new Leases(backend, settings.listeners, time, workers);
		this.releaser = new Releaser(backend, this.leases, tasks, workers, handsOver);
		this.kept = new KeptKeys(backend, this.instance, handsOver, this.leases, tasks, time,
				this.lifecycle::isRunning);
		this.queue = new LocalQueue(new LocalQueue.Withdrawals(backend, this.leases, tasks), this.kept);
		NotificationRouter router = new NotificationRouter(this.queue, this.leases, this.instance);
		this.instance.listen(router);
		HandOver handOver = new HandOver(backend, this.leases, time, settings.localSlice.toNanos(), this.takenAgain);
		Polls.Settings polls = new Polls.Settings(backend, this.instance, settings.shortestPoll, settings.longestPoll);
		KeyAcquisition.Factory acquisitions = new KeyAcquisition.Factory(backend, polls, this.queue, router, handOver,
				this.leases, this.instance, this.lifecycle, time);
		EngineHandle.Factory handles = new EngineHandle.Factory(this.lifecycle, this.leases, this.releaser, workers,
				time, settings.warnHeldAfter, new AtomicBoolean());
		Acquirer.Settings requests = new Acquirer.Settings(settings.watchdogTimeout, settings.keepTime,
				settings.maxKeyBytes, settings.waitObserver, settings.contextCapture);
		this.acquirer = new Acquirer(requests, handles, acquisitions, this.kept, new NodeTasks(workers::request, time),
				workers);
	}

	/**
	 * Starts the store.
	 * @throws IllegalArgumentException if the features, the reservation or the shortest
	 * lease of the store contradict each other or the settings
	 */
	private static LockBackend started(Builder settings) {
		LockBackend backend = settings.backend;
		String name = backend.getClass().getName();
		Set<LockFeature> features = backend.features();
		if (features.contains(LockFeature.FAIR) && !features.contains(LockFeature.PLACES)) {
			throw new IllegalArgumentException(
					name + " offers fair locks, but keeps no places: offer PLACES, or leave out FAIR");
		}
		if (features.contains(LockFeature.PLACES) && backend.reservation().compareTo(SHORTEST_RESERVATION) < 0) {
			throw new IllegalArgumentException("The reservation of " + name + ", "
					+ Failures.text(backend.reservation()) + ", is too short for a waiter to ask in time: at least "
					+ Failures.text(SHORTEST_RESERVATION));
		}
		if (settings.watchdogTimeout.compareTo(backend.shortestLease()) < 0) {
			throw new IllegalArgumentException("The watchdog timeout of " + Failures.text(settings.watchdogTimeout)
					+ " is shorter than " + name + " can keep: at least " + Failures.text(backend.shortestLease()));
		}
		backend.start();
		return backend;
	}

	/**
	 * Begins an engine on a store.
	 * @param backend the store
	 * @return the builder
	 */
	public static Builder builder(LockBackend backend) {
		return new Builder(backend);
	}

	@Override
	public LockHandle acquire(LockRequest request) {
		Wait wait = begin(request, this.waitTime, request.interruptible());
		return requireAcquired(this.acquirer.acquire(request, wait), request, wait);
	}

	@Override
	public Optional<LockHandle> tryAcquire(LockRequest request) {
		Wait wait = begin(request, Duration.ZERO, request.interruptible());
		return Optional.ofNullable(this.acquirer.acquire(request, wait));
	}

	@Override
	public CompletableFuture<LockHandle> acquireAsync(LockRequest request) {
		Wait wait = begin(request, this.waitTime, false);
		return this.acquirer.acquireAsync(request, wait, (handle) -> requireAcquired(handle, request, wait));
	}

	@Override
	public CompletableFuture<Optional<LockHandle>> tryAcquireAsync(LockRequest request) {
		Wait wait = begin(request, Duration.ZERO, false);
		return this.acquirer.acquireAsync(request, wait, Optional::ofNullable);
	}

	private Wait begin(LockRequest request, Duration defaultTime, boolean interruptible) {
		Duration own = request.waitTime();
		return new Wait(this.time, (own != null) ? own : defaultTime, interruptible);
	}

	private LockHandle requireAcquired(@Nullable LockHandle handle, LockRequest request, Wait wait) {
		if (handle != null) {
			return handle;
		}
		String holder = wait.holder();
		throw new LockNotAcquiredException(
				"Lock " + LockException.printable(request.keys()) + " was busy for " + Failures.text(wait.waited())
						+ " (waitTime " + Failures.text(wait.limit()) + ")"
						+ ((holder != null) ? ", held by " + LockException.printable(holder) : "")
						+ ((holder != null && this.instance.isOwn(holder))
								? ", which is another thread, chain or coroutine of this JVM" : ""),
				request.keys(), wait.waited(), holder);
	}

	@Override
	public boolean owns(LockHandle handle) {
		return handle instanceof EngineHandle own && own.isOf(this.leases);
	}

	@Override
	public LockStatus inspect(String key) {
		String checked = checkInspected(key);
		LockStatus status = Failures.call("inspect", checked, () -> this.backend.inspect(checked));
		List<Holder> holders = this.kept.isKept(checked) ? status.holders().stream().map(this::kept).toList()
				: status.holders();
		return LockStatus.of(status.key(), holders, status.waiters())
			.heldHere(holders.stream().anyMatch(this::isHeldHere));
	}

	private Holder kept(Holder holder) {
		return isHeldHere(holder) ? new Holder(holder.owner(), State.KEPT, holder.mode(), holder.remaining()) : holder;
	}

	private boolean isHeldHere(Holder holder) {
		return holder.state() == State.HELD && this.instance.hasMade(holder.owner());
	}

	@Override
	public boolean forceRelease(String key, String owner) {
		String checked = checkInspected(key);
		if (Objects.requireNonNull(owner, "owner").isBlank()) {
			throw new IllegalArgumentException("The owner of lock '" + LockException.printable(checked)
					+ "', which is to be released by force, is blank. Name the owner that inspect has shown");
		}
		return this.leases.forceRelease(checked, owner, this.instance.nextOwner());
	}

	private String checkInspected(String key) {
		String checked = LockRequest.of(key).keys().get(0);
		this.acquirer.requireNotTooLong(checked);
		if (!this.backend.features().contains(LockFeature.INSPECTION)) {
			this.backend.inspect(checked); // A store without inspection throws here.
		}
		return checked;
	}

	/**
	 * Returns whether this engine serves requests.
	 * @return {@code false} between {@link #stop()} and {@link #start()}, and after
	 * {@link #close()}
	 */
	public boolean isRunning() {
		return this.lifecycle.isRunning();
	}

	/**
	 * Returns which keys are held here now, and which keys requests wait for. Does no
	 * I/O.
	 * @return the state of this engine
	 */
	public EngineSnapshot snapshot() {
		return new EngineSnapshot(this.leases.watchdog().describe(), this.queue.describe(), requestsWaiting(),
				this.backend.details(), this.instance.isKnown() ? this.instance.hears() : null, this.leases.losses(),
				this.leases.late());
	}

	/**
	 * Returns how many keys are held here now: the number of
	 * {@link EngineSnapshot#holds()}, without making a snapshot. Does no I/O, and takes
	 * the same short time for many keys as for few.
	 * @return the number of keys, each counted once for each owner. A key that was lost
	 * may be counted for up to a second more
	 */
	public int keysHeld() {
		return this.leases.watchdog().count() - this.kept.count();
	}

	/**
	 * Returns how many keys {@linkplain LockRequest#keepTime stay} with this JVM now
	 * although no request uses them. These keys are not held. Does no I/O.
	 * @return the number of keys, 1,000 at most
	 */
	public int keysKept() {
		return this.kept.count();
	}

	/**
	 * Returns how many requests have taken a key that had stayed with this JVM, without
	 * asking the store.
	 * @return the number since this engine was built
	 */
	public long keysTakenAgain() {
		return this.takenAgain.sum();
	}

	/**
	 * Returns how many requests ask for a lock now:
	 * {@link EngineSnapshot#requestsWaiting() requestsWaiting}, without making a
	 * snapshot. Does no I/O, and takes the same short time for many requests as for few.
	 * @return the number of requests, each counted once however many keys the request has
	 */
	public int requestsWaiting() {
		return this.acquirer.requestsWaiting();
	}

	/**
	 * Returns whether this JVM holds any key, waits for one, or withdraws from one.
	 */
	boolean hasQueues() {
		return !this.queue.isEmpty();
	}

	/**
	 * Serves requests again after {@link #stop()}, under a new identity in the store:
	 * this JVM may be one of several that were resumed from one snapshot. Locks that are
	 * held keep their owners.
	 * @throws IllegalStateException after {@link #close()}
	 */
	public void start() {
		this.lifecycle.start(this.instance::restart);
	}

	/**
	 * Fails waiting requests with a {@link LockBackendException}, and refuses new ones.
	 * Locks that are held stay held: the engine renews them, and releases each when its
	 * handle is closed. A thread that is inside a lock is served until {@link #close()}.
	 * @return a future that completes when each
	 * {@linkplain LockRequest#awaitedOnStop(Boolean) awaited} request that had begun, and
	 * each that began inside of one of these, has failed or its handle is closed. The
	 * future waits neither for requests that are refused later, nor for those after the
	 * next {@link #start()}, nor for those on the calling thread, since that thread may
	 * wait for the future. The future completes at the latest when the engine is closed
	 */
	public CompletableFuture<Void> stop() {
		CompletableFuture<Void> end = new CompletableFuture<>();
		if (this.lifecycle.stop(end)) {
			this.kept.releaseAll();
			this.queue.nudgeAll();
		}
		return end;
	}

	/**
	 * Stops for good, and ends the threads. Locks that are still held are lost. Their
	 * leases are left to run out, so that no key is deleted under a method that still
	 * runs.
	 */
	@Override
	public void close() {
		if (this.lifecycle.close()) {
			this.kept.releaseAll();
			this.queue.nudgeAll();
			this.leases.end();
			this.lifecycle.forget();
			this.instance.close();
			this.endThreads.run();
			this.releaser.end();
		}
	}

	private boolean isInsideLock() {
		return Stream.concat(Binding.all().stream(), Binding.chain().stream()).anyMatch(this::owns);
	}

	/**
	 * The settings of an engine. Not safe for use by many threads.
	 *
	 * @since 1.0
	 */
	public static final class Builder {

		private final LockBackend backend;

		private final List<LockListener> listeners = new ArrayList<>();

		private String application = "app";

		private Duration waitTime = Duration.ofSeconds(5);

		private Duration watchdogTimeout = Duration.ofSeconds(30);

		private Duration localSlice = Duration.ofMillis(10);

		private Duration keepTime = Duration.ZERO;

		private int maxKeyBytes = 1024;

		private Duration shortestPoll = Duration.ofMillis(50);

		private Duration longestPoll = Duration.ofMillis(500);

		private @Nullable Duration warnHeldAfter;

		@Nullable Executor callbackExecutor;

		private @Nullable WaitObserver waitObserver;

		private Supplier<UnaryOperator<Runnable>> contextCapture = UnaryOperator::identity;

		/**
		 * Makes the random part of an identity. Only tests change this supplier.
		 */
		Supplier<String> random = Instance::random;

		private Builder(LockBackend backend) {
			this.backend = Objects.requireNonNull(backend, "backend");
		}

		/**
		 * Names the application in owner tokens, by its first 128 characters; {@code app}
		 * by default.
		 * @param application the name
		 * @return this builder
		 */
		public Builder application(String application) {
			this.application = Objects.requireNonNull(application, "application");
			return this;
		}

		/**
		 * Sets how long {@code acquire} waits if the request names no wait time; 5
		 * seconds by default.
		 * @param waitTime the time; zero means one attempt
		 * @return this builder
		 */
		public Builder waitTime(Duration waitTime) {
			this.waitTime = DurationRange.WAIT.check("waitTime", waitTime);
			return this;
		}

		/**
		 * Sets the lease that is renewed for as long as a lock is held; 30 seconds by
		 * default. A renewal is due after a third of the lease at the latest. If a JVM
		 * dies, other JVMs get its locks when this lease has run out. A request with a
		 * {@linkplain LockRequest#leaseTime(Duration) lease time} has that lease instead,
		 * which is not renewed.
		 * @param watchdogTimeout the lease, at least 1 second
		 * @return this builder
		 */
		public Builder watchdogTimeout(Duration watchdogTimeout) {
			this.watchdogTimeout = DurationRange.RENEWED_LEASE.check("watchdogTimeout", watchdogTimeout);
			return this;
		}

		/**
		 * Sets the polling interval that is used while release notifications are
		 * unavailable: 50 to 500 milliseconds by default. The pauses grow from
		 * {@code min} to {@code max}, each as long as the wait so far, with jitter, and
		 * are short again after a notification. If the store says how many waiters come
		 * first, as databases do, the pauses of the next one begin with a millisecond
		 * instead, each a quarter of the wait so far. One thread of a JVM polls for each
		 * key.
		 * @param min the shortest pause if the store does not say how many waiters come
		 * first, from 1 millisecond
		 * @param max the longest pause, to 1 minute
		 * @return this builder
		 */
		public Builder pollInterval(Duration min, Duration max) {
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
		 * other JVMs get their turn; 10 milliseconds by default. A hand-over asks nothing
		 * of the store, unless the lease differs. Only exclusive locks of a single key
		 * are handed over that are neither fair nor fenced, and not while
		 * {@code minHoldTime} blocks others.
		 * @param localSlice the time; zero: every lock is released in the store
		 * @return this builder
		 */
		public Builder localSlice(Duration localSlice) {
			this.localSlice = DurationRange.WAIT.check("localSlice", localSlice);
			return this;
		}

		/**
		 * Sets for how long a key stays with this JVM when no request uses the key, if
		 * the request names no keep time; by default no key stays. Applies to each
		 * request that can {@linkplain LockRequest#keepTime(Duration) keep} its key, and
		 * not to others. No key stays with a local slice of zero, or where the store does
		 * not notify.
		 * @param keepTime the time, 1 minute at most; zero: no key stays
		 * @return this builder
		 */
		public Builder keepTime(Duration keepTime) {
			this.keepTime = DurationRange.KEEP.check("keepTime", keepTime);
			return this;
		}

		/**
		 * Sets the length of the longest key, in bytes of UTF-8; 1,024 by default.
		 * @param maxKeyBytes the number of bytes
		 * @return this builder
		 */
		public Builder maxKeyBytes(int maxKeyBytes) {
			if (maxKeyBytes < 1) {
				throw new IllegalArgumentException("maxKeyBytes " + maxKeyBytes + " must be at least 1");
			}
			this.maxKeyBytes = maxKeyBytes;
			return this;
		}

		/**
		 * Logs a warning with the acquiring stack for each handle that is open longer
		 * than the given time. Off by default, since taking the stack costs some
		 * microseconds.
		 * @param warnHeldAfter the time, from 1 millisecond to 365 days, or {@code null}
		 * for no warning
		 * @return this builder
		 */
		public Builder warnHeldAfter(@Nullable Duration warnHeldAfter) {
			this.warnHeldAfter = (warnHeldAfter != null) ? DurationRange.HOLD.check("warnHeldAfter", warnHeldAfter)
					: null;
			return this;
		}

		/**
		 * Adds a listener.
		 * @param listener the listener
		 * @return this builder
		 */
		public Builder listener(LockListener listener) {
			this.listeners.add(Objects.requireNonNull(listener, "listener"));
			return this;
		}

		/**
		 * Sets the executor that completes the futures of {@link LockHandle#closeAsync()}
		 * and of the asynchronous methods of the engine, so that stages that depend on
		 * these futures run in the executor. The executor also runs
		 * {@linkplain LockHandle#onLost(Runnable) onLost} actions. By default daemon
		 * threads do both; a thread ends after being idle for 5 seconds. By default, each
		 * action has its own thread. Futures have 4 threads, and more and more while some
		 * future waits for 40 milliseconds, so that none has to wait for code that
		 * blocks. Code that blocks a thread of this executor delays other code of that
		 * kind, but no renewal, no release, no listener and no interrupt. A task that the
		 * executor refuses runs as by default. Closing the engine does not shut the
		 * executor down.
		 * @param callbackExecutor the executor
		 * @return this builder
		 */
		public Builder callbackExecutor(Executor callbackExecutor) {
			this.callbackExecutor = Objects.requireNonNull(callbackExecutor, "callbackExecutor");
			return this;
		}

		/**
		 * Sets the observer of the waits of requests. By default nobody observes them.
		 * @param waitObserver the observer
		 * @return this builder
		 */
		public Builder waitObserver(WaitObserver waitObserver) {
			this.waitObserver = Objects.requireNonNull(waitObserver, "waitObserver");
			return this;
		}

		/**
		 * Carries the context of a thread that asks asynchronously, such as its MDC, to
		 * the stages that depend on the future. By default nothing is carried.
		 * @param contextCapture is called on the thread that asks, and returns a
		 * function. The function runs a task in the context that was found on that
		 * thread. Neither may throw
		 * @return this builder
		 */
		public Builder contextCapture(Supplier<UnaryOperator<Runnable>> contextCapture) {
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

}
