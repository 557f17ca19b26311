package io.github.distributedlock.engine;

import java.time.Duration;
import java.util.List;
import java.util.OptionalLong;
import java.util.concurrent.atomic.AtomicInteger;

import io.github.distributedlock.LockEvent;
import io.github.distributedlock.LockEvent.Lost.Reason;
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
 * A request gets all its keys, and one of them is lost at any moment: the loss is told
 * once, to the request, which then does not hand the keys out, or to the listeners.
 */
@Exploration
@Tag("optimized")
public class CollectedHoldLincheckTests {

	private static final HoldOptions OPTIONS = HoldOptions.of(LockRequest.of("k", "l"), Duration.ofSeconds(30));

	private final StillTime time = new StillTime();

	private final AtomicInteger events = new AtomicInteger();

	private final Leases leases = new Leases(new ReleasedKeys(), List.of(this::count), this.time, this.time);

	private final Ownership ownership = new Ownership(OPTIONS.claim("k", "us", Waiter.exclusive("i")), OPTIONS,
			new Lease(new Moment(0, 0), OPTIONS.lease()), 0, 0, false, this.time);

	private final Hold hold = new Hold(this.ownership, new LoneEntry(), OPTIONS, OptionalLong.empty());

	private final AtomicInteger handedOut = new AtomicInteger();

	public CollectedHoldLincheckTests() {
		this.ownership.take(this.hold);
	}

	@BeforeAll
	static void noWarnings() {
		LoggingSystem.get(Leases.class.getClassLoader()).setLogLevel(Leases.class.getPackageName(), LogLevel.OFF);
	}

	@AfterAll
	static void warnings() {
		LoggingSystem.get(Leases.class.getClassLoader()).setLogLevel(Leases.class.getPackageName(), null);
	}

	@Test
	void aLossIsToldOnce() {
		Interleavings.check(Interleavings.of(2, 2), CollectedHoldLincheckTests.class);
	}

	@Operation
	public void lose() {
		this.leases.declare(this.ownership, Reason.TAKEN);
	}

	@Operation(runOnce = true)
	public void collected() {
		if (this.hold.collected(0)) {
			this.handedOut.incrementAndGet();
		}
	}

	@Validate
	public void toldOnce() {
		int told = (this.hold.isLost() && this.handedOut.get() > 0) ? 1 : 0;
		Interleavings.require(this.events.get() == told, "told " + this.events.get() + " times, not " + told);
	}

	private void count(LockEvent event) {
		this.events.incrementAndGet();
	}

}
