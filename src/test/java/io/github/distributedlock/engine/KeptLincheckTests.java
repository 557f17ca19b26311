package io.github.distributedlock.engine;

import java.time.Duration;
import java.util.Arrays;
import java.util.List;
import java.util.OptionalLong;
import java.util.concurrent.atomic.AtomicReference;
import java.util.stream.Stream;

import io.github.distributedlock.LockEvent.Lost.Reason;
import io.github.distributedlock.LockRequest;
import io.github.distributedlock.backend.ForwardingLockBackend;
import io.github.distributedlock.backend.ReleaseListener;
import io.github.distributedlock.backend.ReleaseNotification;
import io.github.distributedlock.backend.Waiter;
import io.github.distributedlock.backend.memory.InMemoryLockBackend;
import io.github.distributedlock.engine.Lease.Moment;
import io.github.distributedlock.engine.LocalKey.Entry;
import io.github.distributedlock.engine.LocalKey.Loan;
import io.github.distributedlock.fixtures.Exploration;
import io.github.distributedlock.fixtures.Interleavings;
import org.jetbrains.kotlinx.lincheck.Actor;
import org.jetbrains.kotlinx.lincheck.execution.ExecutionScenario;
import org.jetbrains.lincheck.datastructures.BooleanGen;
import org.jetbrains.lincheck.datastructures.Operation;
import org.jetbrains.lincheck.datastructures.Param;
import org.jetbrains.lincheck.datastructures.ThreadIdGen;
import org.jetbrains.lincheck.datastructures.Validate;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/**
 * Whatever the threads of a JVM do at the same time, a key that stays there is held by
 * one request at most, is the JVM's in the store while a request holds the key, and is
 * released in the end.
 */
@Exploration
@Param(name = "thread", gen = ThreadIdGen.class)
@Param(name = "own", gen = BooleanGen.class)
@Tag("optimized")
public class KeptLincheckTests {

	private static final QueueKey K = new QueueKey("k", Waiter.exclusive("us"));

	private static final Duration KEEP = Duration.ofMillis(100);

	private static final Duration SHORT_LEASE = Duration.ofSeconds(3);

	private static final HoldOptions OPTIONS = HoldOptions.of(LockRequest.of("k"), Duration.ofSeconds(30))
		.keeping(KEEP, SHORT_LEASE);

	/**
	 * An instance that hears of recalls.
	 */
	private static final Instance INSTANCE = new Instance("us", new InMemoryLockBackend(), () -> "1");

	static {
		INSTANCE.listen(new ReleaseListener() {

			@Override
			public void onRelease(ReleaseNotification notification) {
			}

			@Override
			public void onResubscribed() {
			}

		});
	}

	private final StillTime time = new StillTime();

	private final OneKey store = new OneKey();

	private final NodeTasks tasks = new NodeTasks(this.time::background, this.time);

	private final KeptKeys kept = new KeptKeys(this.store, INSTANCE, true,
			new Leases(this.store, List.of(), this.time, this.time), this.tasks, this.time, () -> true);

	private final Wait wait = new Wait(this.time, Duration.ZERO, false);

	private final LocalQueue queue = new LocalQueue((key) -> {
		throw new IllegalStateException("nobody has registered");
	}, this.kept);

	private final Entry[] entries = new Entry[4];

	private final boolean[] current = new boolean[4];

	private final Hold[] holds = new Hold[4];

	private final int[] requests = new int[4];

	/**
	 * The last one that the store has given.
	 */
	private volatile Ownership last;

	@Test
	void isHeldOnceAndReleasedInTheEnd() {
		Interleavings.check(Interleavings.of(3, 4), KeptLincheckTests.class);
	}

	/**
	 * While the stay of a lost key ends, another request acquires the key anew, and lets
	 * the key stay.
	 */
	@Test
	void stayThatEndsLateEndsNoOther() throws NoSuchMethodException {
		List<Actor> stays = List.of(actor("request", 1, false), actor("end", 1));
		List<Actor> ends = List.of(actor("lose"), actor("ring"));
		Interleavings.check(Interleavings.of(2, 2)
			.iterations(0)
			.invocationsPerIteration(500)
			.addCustomScenario(
					new ExecutionScenario(stays, List.of(ends, stays), List.of(), actor("isHeldOnceAndReleased"))),
				KeptLincheckTests.class);
	}

	private static Actor actor(String method, Object... arguments) throws NoSuchMethodException {
		return new Actor(Stream.of(KeptLincheckTests.class.getMethods())
			.filter((each) -> each.getName().equals(method))
			.findFirst()
			.orElseThrow(NoSuchMethodException::new), Arrays.asList(arguments));
	}

	/**
	 * The steps of a request: borrows the key, or queues up, takes the key that was left,
	 * or asks the store.
	 * @param own whether the request needs another owner
	 */
	@Operation
	public void request(@Param(name = "thread") int thread, @Param(name = "own") boolean own) {
		if (this.holds[thread] != null) {
			return;
		}
		if (this.entries[thread] == null) {
			LocalKey present = this.queue.find(K);
			Loan loan = (present != null && !own) ? present.borrow() : null;
			if (loan != null && hold(thread, loan.ownership(), loan)) {
				return;
			}
			this.entries[thread] = this.queue.enter(K, true, !own, this.wait);
		}
		goOn(thread, this.entries[thread]);
	}

	private void goOn(int thread, Entry entry) {
		this.current[thread] = this.current[thread] || LocalQueueTests.takeTurn(entry);
		if (!this.current[thread]) {
			return;
		}
		Ownership left = entry.inherited();
		while (left != null && left.isOwned()) {
			if (hold(thread, left, entry)) {
				entry.acquired(left.owner());
				return;
			}
			entry.reclaim();
			if (left.isHeld()) {
				return;
			}
		}
		String owner = "us:" + thread + "." + this.requests[thread]++;
		if (this.store.acquire(owner)) {
			Ownership ownership = new Ownership(OPTIONS.claim("k", owner, K.waiter()), OPTIONS,
					new Lease(new Moment(this.time.nanoTime(), 0), SHORT_LEASE.toNanos()), 0, this.time.nanoTime(),
					false, this.time);
			this.last = ownership;
			entry.acquired(owner);
			hold(thread, ownership, entry);
		}
	}

	private boolean hold(int thread, Ownership ownership, Hold.Entry entry) {
		Hold hold = new Hold(ownership, entry, OPTIONS, OptionalLong.empty());
		boolean taken = ownership.take(hold);
		if (taken) {
			this.holds[thread] = hold;
		}
		return taken;
	}

	/**
	 * The end of a request: hands the key over, lets the key stay, releases the key, or
	 * gives up.
	 */
	@Operation
	public void end(@Param(name = "thread") int thread) {
		Hold hold = this.holds[thread];
		Entry entry = this.entries[thread];
		this.holds[thread] = null;
		this.entries[thread] = null;
		this.current[thread] = false;
		if (hold == null && entry != null) {
			entry.abandon((left) -> {
				if (left.beginRelease()) {
					this.store.release("k", left.owner());
				}
			});
		}
		else if (hold != null && !hold.handOver() && hold.ownership().beginRelease(hold)) {
			this.store.release("k", hold.owner());
			hold.leaveQueue();
		}
	}

	@Operation
	public void recall() {
		Ownership ownership = this.last;
		if (ownership != null) {
			this.queue.recall("k", ownership.owner());
		}
	}

	/**
	 * The lease of the last ownership is over.
	 */
	@Operation
	public void lose() {
		Ownership ownership = this.last;
		if (ownership != null && ownership.isOwned()) {
			this.store.release("k", ownership.owner());
			if (ownership.lose(Reason.NOT_RENEWED) && ownership.hold() != null) {
				ownership.hold().leaveQueue();
			}
		}
	}

	/**
	 * An alarm rings in time.
	 */
	@Operation
	public void ring() {
		this.time.pass(KEEP);
		this.time.ring();
	}

	/**
	 * A release in the background.
	 */
	@Operation
	public void work() {
		this.time.work();
	}

	@Validate
	public void isHeldOnceAndReleased() {
		int held = 0;
		for (Hold hold : this.holds) {
			if (hold != null && hold.isHeld()) {
				held++;
				Interleavings.require(hold.owner().equals(this.store.owner()), "held, but not owned");
			}
		}
		Interleavings.require(held <= 1, "held twice");
		for (int thread = 0; thread < this.entries.length; thread++) {
			end(thread);
		}
		for (int i = 0; i < 4; i++) {
			ring();
			work();
		}
		Interleavings.require(this.time.alarms() + this.time.tasks() == 0, "an alarm or a task is left over");
		Interleavings.require(this.store.owner() == null, "left in the store");
		Interleavings.require(this.queue.isEmpty(), "a queue is left over");
	}

	/**
	 * Knows who owns the key.
	 */
	private static final class OneKey extends ForwardingLockBackend {

		private final AtomicReference<String> owner = new AtomicReference<>();

		private OneKey() {
			super(new ReleasedKeys());
		}

		private String owner() {
			return this.owner.get();
		}

		private boolean acquire(String owner) {
			return this.owner.compareAndSet(null, owner);
		}

		@Override
		public boolean release(String key, String owner) {
			String present = this.owner.get();
			return owner.equals(present) && this.owner.compareAndSet(present, null);
		}

	}

}
