package io.github.distributedlock.engine;

import java.time.Duration;
import java.util.List;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;

import io.github.distributedlock.LockRequest;
import io.github.distributedlock.backend.Waiter;
import io.github.distributedlock.engine.Lease.Moment;
import io.github.distributedlock.fixtures.Exploration;
import io.github.distributedlock.fixtures.Interleavings;
import org.jetbrains.lincheck.datastructures.BooleanGen;
import org.jetbrains.lincheck.datastructures.Operation;
import org.jetbrains.lincheck.datastructures.Param;
import org.jetbrains.lincheck.datastructures.Validate;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/**
 * However locks are taken and given back while the alarm rings and a renewal ends, each
 * guarded hold has an alarm in time, or a renewal under way that will set the alarm, and
 * one that is not guarded any more is left alone.
 */
@Exploration
@Param(name = "due", gen = BooleanGen.class)
@Tag("optimized")
public class WatchdogLincheckTests {

	private static final long LEASE = TimeUnit.MILLISECONDS.toNanos(600);

	private final StillTime time = new StillTime();

	private final Queue<Ownership> ownerships = new ConcurrentLinkedQueue<>();

	private final AtomicBoolean renewing = new AtomicBoolean();

	private final Leases leases = new Leases(new ReleasedKeys(), List.of(), this.time, this.time);

	private final Watchdog watchdog = new Watchdog(new ReleasedKeys(), this::renew, this.leases::declare, this.time,
			this.time);

	@Test
	void everyGuardedHoldHasAnAlarm() {
		Interleavings.check(Interleavings.of(2, 2), WatchdogLincheckTests.class);
	}

	/**
	 * A lock is taken, whose renewal is due at once or only later, while the timer and a
	 * worker are busy.
	 */
	@Operation
	public void guard(@Param(name = "due") boolean due) {
		long sent = due ? -LEASE / 3 : 0;
		HoldOptions options = HoldOptions.of(LockRequest.of("k"), Duration.ofNanos(LEASE));
		Ownership ownership = new Ownership(options.claim("k", "us", Waiter.exclusive("i")), options,
				new Lease(new Moment(sent, sent), LEASE), sent, sent, false, this.time);
		this.watchdog.guard(ownership);
		this.ownerships.add(ownership);
		run();
	}

	/**
	 * The lock that was taken first is given back.
	 */
	@Operation
	public void unguard() {
		Ownership ownership = this.ownerships.poll();
		if (ownership != null && ownership.beginRelease()) {
			this.watchdog.unguard(ownership);
		}
	}

	/**
	 * The timer and a worker do what is there to do.
	 */
	@Operation
	public void run() {
		this.time.ring();
		this.time.work();
	}

	@Validate
	public void alarmsAreInTime() {
		while (this.time.tasks() > 0) {
			this.time.work();
		}
		Interleavings.require(this.time.alarms() <= 1, "more than one alarm is set");
		for (Ownership ownership : this.watchdog.guarded()) {
			Interleavings.require(this.time.firstAlarm() <= Math.max(0, need(ownership)), "the alarm is too late");
		}
		run();
		for (Ownership ownership : this.ownerships) {
			Interleavings.require(need(ownership) > 0, "an ownership was not renewed");
		}
		while (!this.ownerships.isEmpty()) {
			unguard();
		}
		this.time.ring();
		Interleavings.require(this.watchdog.guarded().isEmpty(), "an ownership that was given back is guarded");
		Interleavings.require(this.time.alarms() == 0 && this.time.tasks() == 0, "the watchdog never rests");
	}

	private void renew(List<Ownership> due) {
		Interleavings.require(this.renewing.compareAndSet(false, true), "two renewals of a node at the same time");
		Moment now = Moment.now(this.time);
		for (Ownership ownership : due) {
			ownership.confirmed(now, LEASE);
			ownership.plan().renewed(new Lease(now, LEASE));
		}
		this.renewing.set(false);
	}

	/**
	 * How soon something must be done for the ownership.
	 */
	private long need(Ownership ownership) {
		return ownership.new Plan().nanosToNextEvent(Moment.now(this.time));
	}

}
