package io.github.distributedlock.engine;

import java.time.Duration;
import java.util.OptionalLong;
import java.util.concurrent.TimeUnit;

import io.github.distributedlock.LockEvent.Lost.Reason;
import io.github.distributedlock.LockMode;
import io.github.distributedlock.LockRequest;
import io.github.distributedlock.backend.Waiter;
import io.github.distributedlock.engine.Lease.Moment;
import io.github.distributedlock.fixtures.Exploration;
import io.github.distributedlock.fixtures.Interleavings;
import org.jetbrains.lincheck.datastructures.BooleanGen;
import org.jetbrains.lincheck.datastructures.IntGen;
import org.jetbrains.lincheck.datastructures.Operation;
import org.jetbrains.lincheck.datastructures.Param;
import org.jetbrains.lincheck.datastructures.ThreadIdGen;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/**
 * Concurrent operations on a hold look as if they had been done one after the other: the
 * hold ends once, by the last handle, by a hand-over, or by a loss with a reason. The
 * hold is not re-entered after the last handle, nor exclusively after the last exclusive
 * one, is shared once, and the lease only gets longer.
 */
@Exploration
@Param(name = "thread", gen = ThreadIdGen.class)
@Param(name = "shutdown", gen = BooleanGen.class)
@Param(name = "first", gen = BooleanGen.class)
@Param(name = "shared", gen = BooleanGen.class)
@Param(name = "seconds", gen = IntGen.class, conf = "20:50")
@Tag("optimized")
public class HoldLincheckTests {

	private static final HoldOptions OPTIONS = HoldOptions.of(LockRequest.of("k"), Duration.ofSeconds(30));

	private static final Moment START = new Moment(0, 0);

	private final StillTime time = new StillTime();

	private final Ownership ownership = new Ownership(OPTIONS.claim("k", "us", Waiter.exclusive("i")), OPTIONS,
			new Lease(START, OPTIONS.lease()), 0, 0, false, this.time);

	private final Hold hold = hold();

	/**
	 * The hold to which the key is handed on.
	 */
	private final Hold next = hold();

	/**
	 * How often each thread has entered. The first thread has the hold from the start,
	 * together with the second one, which shares the hold.
	 */
	private final int[] exclusive = { 0, 1, 0, 0 };

	private final int[] shared = { 0, 0, 1, 0 };

	public HoldLincheckTests() {
		this.ownership.take(this.hold);
		this.hold.reenter(LockMode.SHARED);
	}

	@Test
	void stepsAreAtomic() {
		Interleavings.check(Interleavings.of(3, 3), HoldLincheckTests.class);
	}

	private Hold hold() {
		return new Hold(this.ownership, new LoneEntry(), OPTIONS, OptionalLong.empty());
	}

	private static LockMode mode(boolean shared) {
		return shared ? LockMode.SHARED : LockMode.EXCLUSIVE;
	}

	@Operation
	public boolean beginRelease(@Param(name = "first") boolean first) {
		return this.ownership.beginRelease(first ? this.hold : this.next);
	}

	@Operation
	public boolean vacate() {
		return this.ownership.vacate(this.hold);
	}

	@Operation
	public boolean take() {
		return this.ownership.take(this.next);
	}

	@Operation
	public boolean abandon() {
		return this.ownership.beginRelease();
	}

	@Operation
	public boolean lose(@Param(name = "shutdown") boolean shutdown) {
		return this.ownership.lose(shutdown ? Reason.SHUTDOWN : Reason.NOT_RENEWED);
	}

	@Operation
	public String state(@Param(name = "first") boolean first) {
		Hold hold = first ? this.hold : this.next;
		return hold.isHeld() ? "held" : hold.isLost() ? "lost: " + this.ownership.lossReason() : "not its own";
	}

	@Operation
	public boolean isLeftToRunOut() {
		return this.ownership.isLeftToRunOut();
	}

	@Operation
	public boolean reenter(@Param(name = "thread") int thread, @Param(name = "shared") boolean shared) {
		boolean reentered = this.hold.reenter(mode(shared));
		(shared ? this.shared : this.exclusive)[thread] += reentered ? 1 : 0;
		return reentered;
	}

	@Operation
	public boolean exit(@Param(name = "thread") int thread, @Param(name = "shared") boolean shared) {
		int[] entries = shared ? this.shared : this.exclusive;
		if (entries[thread] == 0) {
			return false;
		}
		entries[thread]--;
		return this.hold.exit(HoldOptions.of(LockRequest.of("k").mode(mode(shared)), Duration.ofSeconds(30)), 0);
	}

	@Operation
	public boolean beginDowngrade() {
		return this.hold.beginDowngrade();
	}

	@Operation
	public boolean isShared() {
		return this.hold.isShared();
	}

	@Operation
	public void confirmed(@Param(name = "seconds") int seconds) {
		this.ownership.confirmed(START, TimeUnit.SECONDS.toNanos(seconds));
	}

	@Operation
	public long lease() {
		return this.hold.lease().nanos();
	}

}
