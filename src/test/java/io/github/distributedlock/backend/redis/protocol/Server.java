package io.github.distributedlock.backend.redis.protocol;

import java.util.List;

import org.jspecify.annotations.Nullable;

/**
 * The server's memory of one lock.
 *
 * @param value what stands in {@code lock:{k}}, {@code null} if it is free
 * @param waiters the JVMs in {@code lock-waiters:{k}}, oldest first
 * @param lastToken what stands in {@code lock-fence:{k}}
 * @param clock its time, which stands still unless it has to advance: that is the worst
 * for fencing tokens
 */
record Server(@Nullable Value value, List<Integer> waiters, int lastToken, int clock) {

	boolean isOwnedBy(Owner owner) {
		return this.value != null && this.value.isOf(owner);
	}

	boolean isReservedFor(int jvm) {
		return this.value != null && this.value.isReservedFor(jvm);
	}

	Server value(@Nullable Value value) {
		return new Server(value, this.waiters, this.lastToken, this.clock);
	}

	Server waiters(List<Integer> waiters) {
		return new Server(this.value, waiters, this.lastToken, this.clock);
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
	 * Everything forgotten, later than the newest token says.
	 */
	Server flushed(int newestToken) {
		return new Server(null, List.of(), 0, Math.max(this.clock, newestToken) + 1);
	}

}
