package io.github.distributedlock.engine;

import java.time.Duration;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.LongAdder;
import java.util.stream.Stream;

import io.github.distributedlock.DistributedLock;
import io.github.distributedlock.EngineSnapshot;
import io.github.distributedlock.LockAdmin;
import io.github.distributedlock.LockBackendException;
import io.github.distributedlock.LockException;
import io.github.distributedlock.LockHandle;
import io.github.distributedlock.LockNotAcquiredException;
import io.github.distributedlock.LockRequest;
import io.github.distributedlock.LockStatus;
import io.github.distributedlock.LockStatus.Holder;
import io.github.distributedlock.LockStatus.State;
import io.github.distributedlock.backend.LockBackend;
import io.github.distributedlock.backend.LockFeature;
import io.github.distributedlock.engine.EngineTime.Workers;
import io.github.distributedlock.internal.Binding;
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

	LockEngine(LockEngineBuilder settings, EngineTime time, Workers workers, Runnable endThreads) {
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
		this.kept = new KeptKeys(backend, this.instance, handsOver, this.leases, tasks, time);
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
	private static LockBackend started(LockEngineBuilder settings) {
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
	public static LockEngineBuilder builder(LockBackend backend) {
		return new LockEngineBuilder(backend);
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
		this.lifecycle.start(() -> {
			this.instance.restart();
			this.kept.begin();
		});
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
			this.kept.end();
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
			this.kept.end();
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

}
