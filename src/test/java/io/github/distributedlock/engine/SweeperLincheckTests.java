package io.github.distributedlock.engine;

import java.time.Duration;
import java.util.concurrent.atomic.AtomicInteger;

import io.github.distributedlock.backend.Claim;
import io.github.distributedlock.fixtures.Exploration;
import io.github.distributedlock.fixtures.Interleavings;
import org.jetbrains.lincheck.datastructures.Operation;
import org.jetbrains.lincheck.datastructures.Validate;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/**
 * Whenever a task comes, a sweep follows that runs it, and never two at a time.
 */
@Exploration
@Tag("optimized")
public class SweeperLincheckTests {

	private final StillTime time = new StillTime();

	private final ReleasedKeys store = new ReleasedKeys();

	private final AtomicInteger tasks = new AtomicInteger();

	private final Sweeper sweeper = new Sweeper(this.store, this.time, this.time);

	@Test
	void everyTaskIsRun() {
		Interleavings.check(Interleavings.of(2, 3), SweeperLincheckTests.class);
	}

	@Operation
	public void cleanUp() {
		this.tasks.incrementAndGet();
		this.sweeper.cleanUp(Claim.of("k", "us", "us", Duration.ZERO));
	}

	/**
	 * The timer and a worker do what is due.
	 */
	@Operation
	public void sweep() {
		this.time.ring();
		this.time.work();
	}

	@Validate
	public void nothingIsLeftToDo() {
		Interleavings.require(this.time.alarms() + this.time.tasks() <= 1, "more than one sweep to come");
		for (int sweeps = 0; sweeps < 3; sweeps++) {
			sweep();
		}
		Interleavings.require(this.store.keys().size() == this.tasks.get(), "a task was not run once");
		Interleavings.require(this.time.alarms() + this.time.tasks() == 0, "the sweeper never rests");
	}

}
