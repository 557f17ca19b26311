package io.github.distributedlock.engine;

import java.time.Duration;
import java.util.Objects;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.stream.Stream;

import io.github.distributedlock.CurrentLock;
import io.github.distributedlock.DistributedLock;
import io.github.distributedlock.EngineSnapshot;
import io.github.distributedlock.LockBackendException;
import io.github.distributedlock.LockEvent.Lost.Reason;
import io.github.distributedlock.LockException;
import io.github.distributedlock.LockHandle;
import io.github.distributedlock.LockNotAcquiredException;
import io.github.distributedlock.LockRequest;
import io.github.distributedlock.LockStatus;
import io.github.distributedlock.backend.LockBackend;
import io.github.distributedlock.backend.ReleaseNotifications.Listening;
import io.github.distributedlock.engine.lease.BackgroundReleaser;
import io.github.distributedlock.engine.lease.Extender;
import io.github.distributedlock.engine.lease.LossHandler;
import io.github.distributedlock.engine.lease.Releaser;
import io.github.distributedlock.engine.lease.RenewalRound;
import io.github.distributedlock.engine.lease.Sweeper;
import io.github.distributedlock.engine.lease.Watchdog;
import io.github.distributedlock.engine.queue.HandOver;
import io.github.distributedlock.engine.queue.AcquireContext;
import io.github.distributedlock.engine.queue.Contention;
import io.github.distributedlock.engine.queue.FairPollers;
import io.github.distributedlock.engine.queue.LocalQueue;
import io.github.distributedlock.engine.queue.Wait;
import io.github.distributedlock.engine.queue.WakeUps;
import io.github.distributedlock.engine.queue.Withdrawals;
import io.github.distributedlock.engine.runtime.EngineTime;
import io.github.distributedlock.engine.runtime.Events;
import io.github.distributedlock.engine.runtime.Instance;
import io.github.distributedlock.engine.runtime.Lifecycle;
import io.github.distributedlock.engine.runtime.NodeTasks;
import io.github.distributedlock.engine.runtime.Nodes;
import io.github.distributedlock.engine.runtime.SerialTasks;
import io.github.distributedlock.engine.runtime.Store;
import io.github.distributedlock.engine.runtime.Text;
import io.github.distributedlock.engine.runtime.UserCode;
import io.github.distributedlock.engine.runtime.Workers;
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
 * Safe for use by many threads. It starts running, and its few threads are there only
 * when they are needed. The backend is not closed with it.
 */
public final class LockEngine implements DistributedLock, AutoCloseable {

	private final LockBackend backend;

	private final Requests requests;

	private final EngineTime time;

	private final Lifecycle lifecycle = new Lifecycle(this::isInsideLock);

	private final RunningCalls calls;

	private final LocalQueue queue;

	private final LossHandler lossHandler;

	private final Sweeper sweeper;

	private final RenewalRound renewals;

	private final Watchdog watchdog;

	private final HandleAcquirer handleAcquirer;

	private final AsyncAcquirer asyncAcquirer;

	private final BackgroundReleaser backgroundReleaser;

	private final Inspector inspector;

	private final Listening listening;

	private final Runnable endThreads;

	LockEngine(LockEngineBuilder settings, EngineTime time, Workers workers, Runnable endThreads) {
		LockBackend backend = settings.backend;
		this.backend = backend;
		Store store = new Store(backend);
		Instance instance = new Instance(settings.application);
		this.requests = new Requests(settings);
		this.time = time;
		this.endThreads = endThreads;
		this.calls = new RunningCalls(workers);
		UserCode userCode = new UserCode(time);
		Events events = Events.here(settings.listeners);
		Events eventsElsewhere = events.elsewhere(workers, userCode, time);
		SerialTasks nodeTasks = new SerialTasks(workers::background, time);
		this.sweeper = new Sweeper(store, time, workers);
		this.queue = new LocalQueue(new Withdrawals(store, this.sweeper, nodeTasks));
		this.lossHandler = new LossHandler(this.sweeper, eventsElsewhere, time);
		this.renewals = new RenewalRound(backend, instance, this.lossHandler, this.sweeper, eventsElsewhere, time);
		this.watchdog = new Watchdog(backend, this.renewals, this.lossHandler, time, workers);
		WakeUps wakeUps = new WakeUps(this.queue, this.sweeper, this.watchdog, instance);
		this.listening = store.listen(instance.id(), wakeUps);
		boolean handsOn = !settings.localSlice.isZero();
		Releaser releaser = new Releaser(store, this.watchdog, this.lossHandler, this.sweeper, events, handsOn);
		Releaser releaserElsewhere = new Releaser(store, this.watchdog, this.lossHandler, this.sweeper, eventsElsewhere,
				handsOn);
		Nodes nodes = new Nodes(backend);
		this.backgroundReleaser = new BackgroundReleaser(releaserElsewhere, nodes, nodeTasks, workers);
		HandOver handOver = new HandOver(store, this.watchdog, this.lossHandler, this.sweeper, time,
				settings.localSlice.toNanos());
		AcquireContext context = new AcquireContext(store, this.listening, settings.pollInterval, this.queue, wakeUps,
				new FairPollers(), handOver, this.watchdog, this.sweeper, instance, this.lifecycle, new Contention(),
				time);
		Reentrancy reentrancy = Reentrancy.ofThreads(this.lossHandler, releaser);
		Extender extender = new Extender(backend, instance, this.lossHandler, time);
		HandleContext handleContext = new HandleContext(this.calls, this.lossHandler, releaser, this.backgroundReleaser,
				extender, new HeldTooLong(settings.warnHeldAfter, time), new ClosedElsewhere(), userCode, workers,
				time);
		ObservedWaits observedWaits = new ObservedWaits(settings.waitObserver);
		this.handleAcquirer = new HandleAcquirer(this.requests, this.calls, reentrancy,
				new RequestAcquirer(context, reentrancy, this.lossHandler, extender, reentrancy::undo, events), events,
				handleContext, observedWaits);
		this.asyncAcquirer = new AsyncAcquirer(this.requests,
				new RequestAcquirer(context, reentrancy, this.lossHandler, extender, this.backgroundReleaser::undo,
						events),
				events, new NodeTasks(workers::request, time), nodes, handleContext, settings.contextCapture,
				observedWaits);
		this.inspector = new Inspector(backend, instance);
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
		Wait wait = new Wait(this.time, this.requests.waitTime(request), request.interruptible());
		LockHandle handle = this.handleAcquirer.acquire(request, wait);
		return requireAcquired(handle, request, wait);
	}

	private static LockHandle requireAcquired(@Nullable LockHandle handle, LockRequest request, Wait wait) {
		if (handle != null) {
			return handle;
		}
		String holder = wait.holder();
		throw new LockNotAcquiredException(
				"Lock " + LockException.printable(request.keys()) + " was busy for " + Text.of(wait.waited())
						+ " (waitTime " + Text.of(wait.limit()) + ")" + Text.heldBy(holder),
				request.keys(), wait.waited(), holder);
	}

	@Override
	public Optional<LockHandle> tryAcquire(LockRequest request) {
		Wait wait = new Wait(this.time, waitTimeToTry(request), request.interruptible());
		return Optional.ofNullable(this.handleAcquirer.acquire(request, wait));
	}

	private static Duration waitTimeToTry(LockRequest request) {
		Duration waitTime = Objects.requireNonNull(request, "request").waitTime();
		return (waitTime != null) ? waitTime : Duration.ZERO;
	}

	@Override
	public CompletableFuture<LockHandle> acquireAsync(LockRequest request) {
		Wait wait = new Wait(this.time, this.requests.waitTime(request), false);
		return this.asyncAcquirer.acquire(request, wait, (handle) -> requireAcquired(handle, request, wait));
	}

	@Override
	public CompletableFuture<Optional<LockHandle>> tryAcquireAsync(LockRequest request) {
		Wait wait = new Wait(this.time, waitTimeToTry(request), false);
		return this.asyncAcquirer.acquire(request, wait, Optional::ofNullable);
	}

	@Override
	public boolean owns(LockHandle handle) {
		return handle instanceof EngineHandle own && own.isOf(this.lossHandler);
	}

	@Override
	public LockStatus inspect(String key) {
		return this.inspector.inspect(this.requests.keysInOrder(LockRequest.of(key)).get(0));
	}

	/**
	 * Whether requests are served.
	 * @return {@code false} between {@link #stop()} and {@link #start()}, and after
	 * {@link #close()}
	 */
	public boolean isRunning() {
		return this.lifecycle.isRunning();
	}

	/**
	 * What is held and waited for here now. Does no I/O.
	 * @return the state of this engine
	 */
	public EngineSnapshot snapshot() {
		return EngineSnapshot.of(this.watchdog.describe(), this.queue.describe(), requestsWaiting(),
				new EngineSnapshot.Store(this.backend.details(),
						this.listening.isKnown() ? this.listening.hears() : null),
				new EngineSnapshot.Incidents(this.lossHandler.losses(), this.renewals.late()));
	}

	/**
	 * How many keys are held here now: the number of {@link EngineSnapshot#holds()},
	 * without making a snapshot. Does no I/O, and takes the same short time for many as
	 * for few.
	 * @return the number of keys, each counted once for each owner
	 */
	public int keysHeld() {
		return this.watchdog.count();
	}

	/**
	 * How many requests ask for a lock now: {@link EngineSnapshot#requestsWaiting()
	 * requestsWaiting}, without making a snapshot. Does no I/O, and takes the same short
	 * time for many as for few.
	 * @return the number of requests, each counted once however many keys it has
	 */
	public int requestsWaiting() {
		return this.handleAcquirer.asking() + this.asyncAcquirer.asking();
	}

	/**
	 * Whether any key is held, waited for or withdrawn from here.
	 */
	boolean hasQueues() {
		return !this.queue.isEmpty();
	}

	/**
	 * Serves requests again after {@link #stop()}.
	 * @throws IllegalStateException after {@link #close()}
	 */
	public void start() {
		this.lifecycle.start();
	}

	/**
	 * Fails waiting requests with a {@link LockBackendException}, and refuses new ones.
	 * What is held stays so: it is renewed, and given back when it ends. A thread that is
	 * inside a lock is served until {@link #close()}.
	 * @return completes when each request that had begun, and is
	 * {@linkplain LockRequest#awaitedOnStop(boolean) awaited}, has failed, or its handle
	 * is closed; and so has each that began inside of one of these. Those that are
	 * refused later are not waited for, nor those after the next {@link #start()}. Nor
	 * are those on the calling thread, and on one that has called {@link System#exit},
	 * since they may wait for this. At the latest when the engine is closed
	 */
	public CompletableFuture<Void> stop() {
		if (this.lifecycle.stop()) {
			this.queue.recallAll();
		}
		return this.calls.end();
	}

	/**
	 * Stops for good, and ends the threads. What is still held is lost, and its lease
	 * left to run out, so that no key is deleted under a method that goes on.
	 */
	@Override
	public void close() {
		if (this.lifecycle.close()) {
			this.queue.recallAll();
			this.watchdog.guarded().forEach((ownership) -> this.lossHandler.declare(ownership, Reason.SHUTDOWN));
			this.lossHandler.finish();
			this.calls.forget();
			this.sweeper.finish();
			this.listening.close();
			this.endThreads.run();
			this.backgroundReleaser.end();
		}
	}

	private boolean isInsideLock() {
		return Stream.concat(CurrentLock.all().stream(), CurrentLock.chain().stream()).anyMatch(this::owns);
	}

}
