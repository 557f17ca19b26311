package io.github.distributedlock.engine;

import java.util.List;
import java.util.OptionalLong;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;

import io.github.distributedlock.engine.Lease.Moment;
import org.jetbrains.lincheck.datastructures.BooleanGen;
import org.jetbrains.lincheck.datastructures.Operation;
import org.jetbrains.lincheck.datastructures.Param;
import org.jetbrains.lincheck.datastructures.Validate;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/**
 * However locks are taken and given back while the alarm rings and a renewal ends, each
 * guarded hold has an alarm in time, or a renewal under way that will set it, and one
 * that is not guarded any more is left alone.
 */
@Tag("model")
@Param(name = "due", gen = BooleanGen.class)
public class WatchdogLincheckTests {

	private static final long LEASE = TimeUnit.MILLISECONDS.toNanos(600);

	private final StillTime time = new StillTime();

	private final Queue<Hold> holds = new ConcurrentLinkedQueue<>();

	private final AtomicBoolean renewing = new AtomicBoolean();

	private final Watchdog watchdog = new Watchdog(new ReleasedKeys(), this::renew,
			new Losses(new LocalQueue((queue, turn) -> {
			}), new Events(List.of()), this.time), this.time, this.time);

	@Test
	void everyGuardedHoldHasAnAlarm() {
		Interleavings.of(2, 2).check(WatchdogLincheckTests.class);
	}

	/**
	 * A lock is taken, whose renewal is due at once or only later, while the timer and a
	 * worker are busy.
	 */
	@Operation
	public void guard(@Param(name = "due") boolean due) {
		long sent = due ? -LEASE / 3 : 0;
		Hold hold = new Hold(new Turn("k", false), "us", new Terms("k", LEASE, true, Long.MAX_VALUE, 0, false, false),
				OptionalLong.empty(), new Moment(sent, sent), false, this.time);
		this.watchdog.guard(hold);
		this.holds.add(hold);
		run();
	}

	/**
	 * The lock that was taken first is given back.
	 */
	@Operation
	public void unguard() {
		Hold hold = this.holds.poll();
		if (hold != null && hold.beginRelease()) {
			this.watchdog.unguard(hold);
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
		for (Hold hold : this.watchdog.guarded()) {
			Interleavings.require(this.time.firstAlarm() <= Math.max(0, need(hold)), "the alarm is too late");
		}
		run();
		for (Hold hold : this.holds) {
			Interleavings.require(need(hold) > 0, "a hold was not renewed");
		}
		while (!this.holds.isEmpty()) {
			unguard();
		}
		this.time.ring();
		Interleavings.require(this.watchdog.guarded().isEmpty(), "a hold that was given back is guarded");
		Interleavings.require(this.time.alarms() == 0 && this.time.tasks() == 0, "the watchdog never rests");
	}

	private void renew(List<Renewal> due) {
		Interleavings.require(this.renewing.compareAndSet(false, true), "two renewals of a node at the same time");
		Moment now = Moment.now(this.time);
		for (Renewal renewal : due) {
			renewal.hold.confirmed(now, LEASE);
			renewal.plan(now, LEASE);
		}
		this.renewing.set(false);
	}

	/**
	 * How soon something must be done for the hold.
	 */
	private long need(Hold hold) {
		return new Renewal(hold).nanosToNextEvent(Moment.now(this.time));
	}

}
