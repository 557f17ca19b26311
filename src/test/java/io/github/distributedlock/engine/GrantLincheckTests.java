package io.github.distributedlock.engine;

import java.time.Duration;
import java.util.Set;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.UnaryOperator;

import io.github.distributedlock.backend.ReleaseNotification;
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
 * Threads of a JVM act at the same time: a key that the store grants is held by the
 * request to which the store granted the key, or given back; and no key is taken from the
 * request that is the holder.
 */
@Exploration
@Param(name = "thread", gen = ThreadIdGen.class)
@Tag("optimized")
public class GrantLincheckTests {

	private static final Waiter US = Waiter.exclusive("us");

	private static final QueueKey K = new QueueKey("k", US);

	/**
	 * The store's knowledge: the owner of the key, and the next owner.
	 */
	private record Known(String owner, String claimed) {

		Known freeOf(Set<String> owners) {
			return (this.owner != null && owners.contains(this.owner)) ? new Known(null, this.claimed) : this;
		}

	}

	private final AtomicReference<Known> store = new AtomicReference<>(new Known(null, null));

	private final Entry[] entries = new Entry[4];

	private final String[] owners = new String[4];

	private final boolean[] current = new boolean[4];

	private final boolean[] holds = new boolean[4];

	private final int[] requests = new int[4];

	private final Wait wait = new Wait(new StillTime(), Duration.ZERO, false);

	private final LocalQueue queue = new LocalQueue((key) -> {
		Set<String> unwanted = key.beginWithdrawal();
		if (unwanted != null) {
			change((known) -> new Known(known.freeOf(unwanted).owner(), null));
			key.endWithdrawal(unwanted);
		}
	}, null);

	@Test
	void noGrantIsLostAndNoneIsHeldTwice() {
		Interleavings.check(Interleavings.of(3, 3), GrantLincheckTests.class);
	}

	/**
	 * The first step of a request: queues up, and registers if current.
	 */
	@Operation
	public void request(@Param(name = "thread") int thread) {
		if (this.entries[thread] == null) {
			this.owners[thread] = "us:" + thread + "." + this.requests[thread]++;
			this.entries[thread] = this.queue.enter(K, true, false, this.wait);
		}
		if (!this.current[thread] && LocalQueueTests.takeTurn(this.entries[thread])) {
			this.current[thread] = true;
			ask(thread);
		}
	}

	/**
	 * The next step of a thread that was woken: accepts the grant, or asks again.
	 */
	@Operation
	public void goOnIfWoken(@Param(name = "thread") int thread) {
		if (this.current[thread] && !this.holds[thread] && isWoken(this.entries[thread])) {
			ReleaseNotification grant = this.entries[thread].key().takeGrant();
			if (grant != null && this.owners[thread].equals(grant.owner())) {
				acquired(thread);
			}
			else {
				ask(thread);
			}
		}
	}

	/**
	 * A step of a thread: asks again without being woken.
	 */
	@Operation
	public void poll(@Param(name = "thread") int thread) {
		if (this.current[thread] && !this.holds[thread]) {
			ask(thread);
		}
	}

	/**
	 * The last step of a thread: gives up, or gives the key back.
	 */
	@Operation
	public void leave(@Param(name = "thread") int thread) {
		Entry entry = this.entries[thread];
		if (entry == null) {
			return;
		}
		if (this.holds[thread]) {
			giveBack(this.owners[thread]);
		}
		else if (this.current[thread]) {
			entry.key().gaveUp(this.owners[thread]);
		}
		entry.leave();
		this.entries[thread] = null;
		this.current[thread] = false;
		this.holds[thread] = false;
	}

	/**
	 * The store grants the key.
	 */
	@Operation
	public void grant() {
		Known before = change((known) -> (known.owner() == null) ? new Known(known.claimed(), null) : known);
		String owner = before.claimed();
		if (before.owner() == null && owner != null
				&& !this.queue.granted(K, ReleaseNotification.granted("k", US, owner, 1), owner)) {
			giveBack(owner);
		}
	}

	@Validate
	public void nothingIsLeftAndHeldIsHeld() {
		for (int thread = 0; thread < this.entries.length; thread++) {
			if (this.holds[thread]) {
				Interleavings.require(this.owners[thread].equals(this.store.get().owner()), "held, but not owned");
			}
		}
		for (int thread = 0; thread < this.entries.length; thread++) {
			leave(thread);
		}
		Interleavings.require(this.store.get().equals(new Known(null, null)), "left in the store");
		Interleavings.require(this.queue.isEmpty(), "a queue is left over");
	}

	private void ask(int thread) {
		Entry entry = this.entries[thread];
		String owner = this.owners[thread];
		entry.key().register();
		Set<String> unwanted = entry.key().unwanted();
		Known after = this.store.updateAndGet((known) -> {
			Known free = known.freeOf(unwanted);
			boolean taken = free.owner() == null && known.owner() != null;
			return (taken || owner.equals(free.owner())) ? new Known(owner, null) : new Known(free.owner(), owner);
		});
		entry.key().answered(unwanted);
		if (owner.equals(after.owner())) {
			acquired(thread);
		}
	}

	private void acquired(int thread) {
		this.entries[thread].acquired(this.owners[thread]).forEach(this::giveBack);
		this.holds[thread] = true;
	}

	private void giveBack(String owner) {
		change((known) -> known.freeOf(Set.of(owner)));
	}

	/**
	 * Changes what the store knows.
	 * @return what the store knew before
	 */
	private Known change(UnaryOperator<Known> change) {
		return this.store.getAndUpdate(change);
	}

	private static boolean isWoken(Entry entry) {
		boolean woken = entry.key().wakeUps().tryAcquire();
		if (woken) {
			entry.key().forgetWakeUps();
		}
		return woken;
	}

}
