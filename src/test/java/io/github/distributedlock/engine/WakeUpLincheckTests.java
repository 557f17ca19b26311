package io.github.distributedlock.engine;

import java.time.Duration;
import java.util.Set;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicReference;

import io.github.distributedlock.backend.Waiter;
import io.github.distributedlock.engine.LocalKey.Entry;
import io.github.distributedlock.fixtures.Exploration;
import io.github.distributedlock.fixtures.Interleavings;
import org.jetbrains.lincheck.datastructures.Operation;
import org.jetbrains.lincheck.datastructures.Param;
import org.jetbrains.lincheck.datastructures.ThreadIdGen;
import org.jetbrains.lincheck.datastructures.Validate;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/**
 * Whatever the threads of a JVM do at the same time, a wake-up reaches an entry that acts
 * on the wake-up: the current one asks the store again, or a withdrawal tells the store
 * that none does.
 */
@Exploration
@Param(name = "thread", gen = ThreadIdGen.class)
@Tag("optimized")
public class WakeUpLincheckTests {

	private static final QueueKey K = new QueueKey("k", Waiter.exclusive("us"));

	/**
	 * The store's knowledge of this JVM.
	 */
	private enum Known {

		NOTHING, REGISTERED, RESERVED

	}

	private final AtomicReference<Known> store = new AtomicReference<>(Known.NOTHING);

	private final AtomicBoolean talking = new AtomicBoolean();

	private final Entry[] entries = new Entry[4];

	private final boolean[] current = new boolean[4];

	private final Wait wait = new Wait(new StillTime(), Duration.ZERO, false);

	private final LocalQueue queue = new LocalQueue((key) -> {
		Set<String> unwanted = key.beginWithdrawal();
		if (unwanted != null) {
			talk(() -> this.store.set(Known.NOTHING));
			key.endWithdrawal(unwanted);
		}
	}, null);

	@Test
	void noWakeUpIsLost() {
		Interleavings.check(Interleavings.of(3, 3), WakeUpLincheckTests.class);
	}

	/**
	 * The first step of a request: queues up, and registers if current.
	 */
	@Operation
	public void request(@Param(name = "thread") int thread) {
		Entry entry = this.entries[thread];
		if (entry == null) {
			entry = this.queue.enter(K, true, false, this.wait);
			this.entries[thread] = entry;
		}
		if (!this.current[thread] && LocalQueueTests.takeTurn(entry)) {
			this.current[thread] = true;
			ask(entry);
		}
	}

	/**
	 * The next step of a thread: asks again if woken.
	 */
	@Operation
	public void askIfWoken(@Param(name = "thread") int thread) {
		if (this.current[thread] && isWoken(this.entries[thread])) {
			ask(this.entries[thread]);
		}
	}

	/**
	 * The last step of a thread: gives up, or gives the lock back.
	 */
	@Operation
	public void leave(@Param(name = "thread") int thread) {
		if (this.entries[thread] != null) {
			this.entries[thread].leave();
			this.entries[thread] = null;
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
	public void noReservationIsForgotten() {
		for (int thread = 0; thread < this.entries.length; thread++) {
			if (this.current[thread] && this.store.get() == Known.RESERVED) {
				Interleavings.require(isWoken(this.entries[thread]), "the current entry was not woken");
			}
		}
		for (int thread = 0; thread < this.entries.length; thread++) {
			leave(thread);
		}
		Interleavings.require(this.store.get() == Known.NOTHING, "the store was not told that nobody waits");
		Interleavings.require(this.queue.isEmpty(), "a queue is left over");
	}

	private void ask(Entry entry) {
		entry.key().register();
		talk(() -> {
			Known before = this.store
				.getAndUpdate((known) -> (known != Known.RESERVED) ? Known.REGISTERED : Known.NOTHING);
			if (before == Known.RESERVED) {
				entry.acquired("owner");
			}
		});
	}

	private void talk(Runnable step) {
		Interleavings.require(this.talking.compareAndSet(false, true), "two talk to the store at the same time");
		step.run();
		this.talking.set(false);
	}

	private static boolean isWoken(Entry entry) {
		boolean woken = entry.key().wakeUps().tryAcquire();
		if (woken) {
			entry.key().forgetWakeUps();
		}
		return woken;
	}

}
