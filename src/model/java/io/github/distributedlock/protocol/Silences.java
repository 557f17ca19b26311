package io.github.distributedlock.protocol;

import java.util.Collections;
import java.util.List;

import io.github.distributedlock.backend.ModelKey;
import io.github.distributedlock.backend.Waiter;

/**
 * Waiters that may be dead, and what the server knows of them, at one moment. All times
 * are in ticks.
 *
 * @param key what the server knows of the key, which somebody has
 * @param waiters what each waiter does
 * @param left the time to live of the queue, {@link #FOR_EVER} if there is none
 * @param second how far the server's second is
 * @param isInOrder whether nobody was woken that had been silent for too long
 */
record Silences(ModelKey key, List<Client> waiters, int left, int second, boolean isInOrder) implements Situation {

	static final int FOR_EVER = -1;

	/**
	 * The state of a waiter.
	 *
	 * @param phase how far the waiter is
	 * @param poll the time of the next poll
	 */
	record Client(Phase phase, int poll) {
	}

	enum Phase {

		AWAY, WAITING, DEAD

	}

	static Silences of(ModelKey key, int waiters) {
		return new Silences(key, Collections.nCopies(waiters, new Client(Phase.AWAY, 0)), FOR_EVER, 0, true);
	}

	static Waiter waiter(int number) {
		return Waiter.exclusive(Owner.instance(number));
	}

	boolean hasPlace(int waiter) {
		return this.key.waiters().contains(waiter(waiter));
	}

	Silences in(int waiter, Phase phase, int poll) {
		return new Silences(this.key, Lists.replaced(this.waiters, waiter, new Client(phase, poll)), this.left,
				this.second, this.isInOrder);
	}

	/**
	 * An empty queue is none, and so has no time to live.
	 */
	Silences with(ModelKey key) {
		return new Silences(key, this.waiters, key.waiters().isEmpty() ? FOR_EVER : this.left, this.second,
				this.isInOrder);
	}

	Silences left(int left) {
		return new Silences(this.key, this.waiters, left, this.second, this.isInOrder);
	}

	Silences outOfOrder() {
		return new Silences(this.key, this.waiters, this.left, this.second, false);
	}

	Silences tick() {
		int second = (this.second + 1) % SilenceProtocol.SECOND;
		ModelKey older = this.key.silent(SilenceProtocol.MILLIS, second == 0);
		List<Client> waiters = this.waiters.stream()
			.map((waiter) -> new Client(waiter.phase(), Math.max(0, waiter.poll() - 1)))
			.toList();
		boolean expires = this.left == 1;
		return new Silences(expires ? older.withoutWaiters() : older, waiters,
				(expires || this.left == FOR_EVER) ? FOR_EVER : this.left - 1, second, this.isInOrder);
	}

	@Override
	public boolean isSafe() {
		for (int waiter = 0; waiter < this.waiters.size(); waiter++) {
			if (this.waiters.get(waiter).phase() == Phase.WAITING && !hasPlace(waiter)) {
				return false;
			}
		}
		return true;
	}

	@Override
	public boolean hasIdleWaiter() {
		return false;
	}

}
