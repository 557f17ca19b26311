package io.github.distributedlock.protocol;

import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;

import org.jspecify.annotations.Nullable;

/**
 * The server's memory of one lock.
 *
 * @param value the content of {@code lock:{k}}, {@code null} if the lock is free
 * @param waiters the content of {@code lock-waiters:{k}}, oldest first
 * @param lastToken the content of {@code lock-fence:{k}}
 * @param clock the server's time, which stands still unless it has to advance: that is
 * the worst for fencing tokens
 */
record Server(@Nullable Value value, List<Waiter> waiters, int lastToken, int clock) {

	boolean isOwnedBy(Owner owner) {
		return this.value != null && this.value.isOf(owner);
	}

	boolean isReservedFor(int jvm) {
		return this.value != null && this.value.isReservedFor(jvm);
	}

	Server value(@Nullable Value value) {
		return new Server(value, this.waiters, this.lastToken, this.clock);
	}

	Server waiters(List<Waiter> waiters) {
		return new Server(this.value, List.copyOf(waiters), this.lastToken, this.clock);
	}

	boolean knows(int jvm) {
		return this.waiters.stream().anyMatch((waiter) -> waiter.jvm() == jvm);
	}

	/**
	 * {@code ZADD NX} with this place.
	 */
	Server registered(int jvm, int place) {
		if (knows(jvm)) {
			return this;
		}
		List<Waiter> all = new ArrayList<>(this.waiters);
		all.add(new Waiter(jvm, place));
		all.sort(Waiter.ORDER);
		return waiters(all);
	}

	/**
	 * {@code ZREM}.
	 */
	Server forgotten(int jvm) {
		return waiters(this.waiters.stream().filter((waiter) -> waiter.jvm() != jvm).toList());
	}

	int lastPlace() {
		return this.waiters.isEmpty() ? 0 : this.waiters.get(this.waiters.size() - 1).place();
	}

	Server token(int token) {
		return new Server(this.value, this.waiters, token, this.clock);
	}

	/**
	 * The owner's own deadline has passed, so the lease runs out here soon.
	 */
	Server doomed(Owner owner) {
		return isOwnedBy(owner) ? value(new Value.Owned(owner, true)) : this;
	}

	/**
	 * Everything forgotten, by when the clock has run further than tokens were granted:
	 * there are not as many as one in a microsecond.
	 */
	Server flushed(int tokens) {
		return new Server(null, List.of(), 0, this.clock + tokens + 1);
	}

	/**
	 * A waiter.
	 *
	 * @param jvm the JVM
	 * @param place the score, which scripts take from the time, and which is always the
	 * same in this model: each waiter comes after those that wait already
	 */
	record Waiter(int jvm, int place) {

		/**
		 * Equal places are ordered by name, here so that it is the worst for the first
		 * JVM, whose patience is watched.
		 */
		static final Comparator<Waiter> ORDER = Comparator.comparingInt(Waiter::place)
			.thenComparing(Comparator.comparingInt(Waiter::jvm).reversed());

	}

}
