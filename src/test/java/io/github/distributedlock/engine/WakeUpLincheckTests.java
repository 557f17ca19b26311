package io.github.distributedlock.engine;

import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicReference;

import org.jetbrains.lincheck.datastructures.Operation;
import org.jetbrains.lincheck.datastructures.Param;
import org.jetbrains.lincheck.datastructures.ThreadIdGen;
import org.jetbrains.lincheck.datastructures.Validate;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/**
 * Whatever the threads of a JVM do at the same time, a wake-up reaches one that acts on
 * it: the one that has the turn asks the store again, or a withdrawal tells the store
 * that nobody does.
 */
@Tag("model")
@Param(name = "thread", gen = ThreadIdGen.class)
public class WakeUpLincheckTests {

	private static final Waiter K = new Waiter("k", "us");

	/**
	 * What the store knows of this JVM.
	 */
	private enum Known {

		NOTHING, REGISTERED, RESERVED

	}

	private final AtomicReference<Known> store = new AtomicReference<>(Known.NOTHING);

	private final AtomicBoolean talking = new AtomicBoolean();

	private final Turn[] turns = new Turn[4];

	private final boolean[] current = new boolean[4];

	private final LocalQueue queue = new LocalQueue((queue, turn) -> {
		if (turn.begin()) {
			talk(() -> this.store.set(Known.NOTHING));
			turn.settled();
			queue.leave(turn);
		}
	});

	@Test
	void noWakeUpIsLost() {
		Interleavings.of(3, 3).check(WakeUpLincheckTests.class);
	}

	/**
	 * The first step of a request: queues up, and registers if it has the turn.
	 */
	@Operation
	public void request(@Param(name = "thread") int thread) {
		Turn turn = this.turns[thread];
		if (turn == null) {
			turn = this.queue.enter(K, true, false);
			this.turns[thread] = turn;
		}
		if (turn.granted.tryAcquire()) {
			this.current[thread] = true;
			ask(turn);
		}
	}

	/**
	 * Its next one: asks again if it was woken.
	 */
	@Operation
	public void askIfWoken(@Param(name = "thread") int thread) throws InterruptedException {
		if (this.current[thread] && isWoken(this.turns[thread])) {
			ask(this.turns[thread]);
		}
	}

	/**
	 * Its last one: gives up, or gives the lock back.
	 */
	@Operation
	public void leave(@Param(name = "thread") int thread) {
		if (this.turns[thread] != null) {
			this.queue.leave(this.turns[thread]);
			this.turns[thread] = null;
			this.current[thread] = false;
		}
	}

	/**
	 * Another JVM gives the lock back.
	 */
	@Operation
	public void wake() {
		if (this.store.compareAndSet(Known.REGISTERED, Known.RESERVED)) {
			this.queue.wake(K);
		}
	}

	@Validate
	public void nothingIsReservedForNobody() throws InterruptedException {
		for (int thread = 0; thread < this.turns.length; thread++) {
			if (this.current[thread] && this.store.get() == Known.RESERVED) {
				Interleavings.require(isWoken(this.turns[thread]), "who has the turn was not woken");
			}
		}
		for (int thread = 0; thread < this.turns.length; thread++) {
			leave(thread);
		}
		Interleavings.require(this.store.get() == Known.NOTHING, "the store was not told that nobody waits");
		Interleavings.require(this.queue.isEmpty(), "a queue is left over");
	}

	private void ask(Turn turn) {
		turn.registering();
		talk(() -> {
			Known before = this.store
				.getAndUpdate((known) -> (known != Known.RESERVED) ? Known.REGISTERED : Known.NOTHING);
			if (before == Known.RESERVED) {
				turn.acquired("owner");
			}
		});
	}

	private void talk(Runnable step) {
		Interleavings.require(this.talking.compareAndSet(false, true), "two talk to the store at the same time");
		step.run();
		this.talking.set(false);
	}

	private static boolean isWoken(Turn turn) throws InterruptedException {
		StillTime time = new StillTime();
		turn.awaitWakeUp(time, 0);
		return time.wasSignalled();
	}

}
