package io.github.distributedlock.engine;

import java.time.Duration;
import java.util.List;
import java.util.OptionalLong;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;

import io.github.distributedlock.LockEvent;
import io.github.distributedlock.LockEvent.Lost.Reason;
import io.github.distributedlock.LockHandle;
import io.github.distributedlock.LockMode;
import io.github.distributedlock.LockRequest;
import io.github.distributedlock.backend.Waiter;
import io.github.distributedlock.engine.Lease.Moment;
import io.github.distributedlock.fixtures.Exploration;
import io.github.distributedlock.fixtures.Interleavings;
import org.jetbrains.lincheck.datastructures.Operation;
import org.jetbrains.lincheck.datastructures.Validate;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

import org.springframework.boot.logging.LogLevel;
import org.springframework.boot.logging.LoggingSystem;

/**
 * A handle is closed, lost and re-entered at the same time: the hold is given back or
 * lost, once, and each loss action runs once if the hold is lost.
 */
@Exploration
@Tag("optimized")
public class EngineHandleLincheckTests {

	private final StillTime time = new StillTime();

	private final ReleasedKeys store = new ReleasedKeys();

	private final AtomicInteger losses = new AtomicInteger();

	private final LoneEntry entry = new LoneEntry();

	private final Queue<AtomicInteger> actions = new ConcurrentLinkedQueue<>();

	private final Lifecycle calls = new Lifecycle(() -> false, this.time);

	private final Leases leases = new Leases(this.store, List.of(this::count), this.time, this.time);

	private final Releaser releaser = new Releaser(this.store, this.leases,
			new NodeTasks(this.time::background, this.time), this.time, false);

	private final EngineHandle.Factory handles = new EngineHandle.Factory(this.calls, this.leases, this.releaser,
			this.time, this.time, null, new AtomicBoolean());

	private final Hold hold = hold();

	private final LockHandle handle = open(true);

	private final LockHandle inner = reentered();

	private volatile boolean closed;

	private volatile boolean innerClosed;

	@BeforeAll
	static void noWarnings() {
		LoggingSystem.get(LockEngine.class.getClassLoader())
			.setLogLevel(LockEngine.class.getPackageName(), LogLevel.OFF);
	}

	@AfterAll
	static void warnings() {
		LoggingSystem.get(LockEngine.class.getClassLoader()).setLogLevel(LockEngine.class.getPackageName(), null);
	}

	@Test
	void endsOnce() {
		Interleavings.check(Interleavings.of(3, 2), EngineHandleLincheckTests.class);
	}

	@Operation
	public void close() {
		this.closed = true;
		this.handle.close();
	}

	@Operation
	public void lose() {
		this.leases.declare(this.hold.ownership(), Reason.TAKEN);
	}

	@Operation
	public void onLost() {
		AtomicInteger runs = new AtomicInteger();
		this.actions.add(runs);
		this.handle.onLost(runs::incrementAndGet);
	}

	/**
	 * Ends a re-entry that began before; another one may come, as long as the hold lasts.
	 */
	@Operation
	public void closeInner() {
		this.innerClosed = true;
		this.inner.close();
	}

	@Operation
	public void reenter() {
		if (this.hold.reenter(LockMode.EXCLUSIVE)) {
			Interleavings.require(this.store.keys().isEmpty(), "re-entered after it was given back");
			open(false).close();
		}
	}

	@Validate
	public void endedOnce() {
		boolean lost = this.losses.get() > 0;
		for (AtomicInteger runs : this.actions) {
			Interleavings.require(runs.get() <= (lost ? 1 : 0), "a loss action ran too often");
			Interleavings.require(this.closed || runs.get() >= (lost ? 1 : 0), "a loss action did not run");
		}
		Interleavings.require(this.innerClosed || this.store.keys().isEmpty(), "given back under a handle");
		this.inner.close();
		this.handle.close();
		Interleavings.require(this.store.keys().size() + this.losses.get() == 1, "did not end once");
		Interleavings.require(this.entry.isLeft(), "the queue is not left");
		Interleavings.require(this.hold.handles().isEmpty(), "a handle is left over");
	}

	private LockHandle reentered() {
		this.hold.reenter(LockMode.EXCLUSIVE);
		return open(true);
	}

	private LockHandle open(boolean detached) {
		Wait call = new Wait(this.time, Duration.ZERO, true);
		this.calls.begin(call, true);
		return this.handles.open(List.of(this.hold), List.of("k"), this.hold.options(), detached, call);
	}

	private void count(LockEvent event) {
		if (event instanceof LockEvent.Lost) {
			this.losses.incrementAndGet();
		}
	}

	private Hold hold() {
		HoldOptions options = HoldOptions.of(LockRequest.of("k"), Duration.ofSeconds(30));
		Ownership ownership = new Ownership(options.claim("k", "us", Waiter.exclusive("i")), options,
				new Lease(new Moment(0, 0), options.lease()), 0, 0, false, this.time);
		Hold hold = new Hold(ownership, this.entry, options, OptionalLong.empty());
		ownership.take(hold);
		return hold;
	}

}
