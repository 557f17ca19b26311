package io.github.distributedlock.protocol;

import java.util.Collections;
import java.util.List;

/**
 * Waiters that may be dead, and what the server knows of them, at one moment. All times
 * are in ticks.
 *
 * @param queue the places, oldest first
 * @param waiters what each waiter does
 * @param left the time to live of the queue, {@link #FOR_EVER} if it has none
 * @param second how far the server's second is
 * @param isInOrder whether nobody was woken that had been silent for too long
 */
record Silences(List<Place> queue, List<Waiter> waiters, int left, int second, boolean isInOrder) implements Situation {

	static final int FOR_EVER = -1;

	/**
	 * A place in the queue.
	 *
	 * @param waiter whose it is
	 * @param heard how long ago it was last written that the waiter was heard of
	 * @param young whether it was made in this second
	 */
	record Place(int waiter, int heard, boolean young) {

		boolean isSilent() {
			return this.heard >= SilenceProtocol.SILENCE;
		}

	}

	/**
	 * What a waiter does.
	 *
	 * @param phase how far it is
	 * @param poll when it polls
	 */
	record Waiter(Phase phase, int poll) {
	}

	enum Phase {

		AWAY, WAITING, DEAD

	}

	static Silences of(int waiters) {
		return new Silences(List.of(), Collections.nCopies(waiters, new Waiter(Phase.AWAY, 0)), FOR_EVER, 0, true);
	}

	boolean hasPlace(int waiter) {
		return this.queue.stream().anyMatch((place) -> place.waiter() == waiter);
	}

	Silences in(int waiter, Phase phase, int poll) {
		return new Silences(this.queue, Lists.replaced(this.waiters, waiter, new Waiter(phase, poll)), this.left,
				this.second, this.isInOrder);
	}

	/**
	 * An empty queue is none, and so has no time to live.
	 */
	Silences with(List<Place> queue) {
		return new Silences(queue, this.waiters, queue.isEmpty() ? FOR_EVER : this.left, this.second, this.isInOrder);
	}

	Silences left(int left) {
		return new Silences(this.queue, this.waiters, left, this.second, this.isInOrder);
	}

	Silences outOfOrder() {
		return new Silences(this.queue, this.waiters, this.left, this.second, false);
	}

	Silences tick() {
		int second = (this.second + 1) % SilenceProtocol.SECOND;
		List<Place> older = this.queue.stream()
			.map((place) -> new Place(place.waiter(), Math.min(place.heard() + 1, SilenceProtocol.SILENCE),
					place.young() && second > 0))
			.toList();
		List<Waiter> waiters = this.waiters.stream()
			.map((waiter) -> new Waiter(waiter.phase(), Math.max(0, waiter.poll() - 1)))
			.toList();
		boolean expires = this.left == 1;
		return new Silences(expires ? List.of() : older, waiters,
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
