package io.github.distributedlock.backend.redis.connection;

import java.util.ArrayList;
import java.util.List;
import java.util.Queue;
import java.util.concurrent.atomic.AtomicBoolean;

import org.jspecify.annotations.Nullable;

import org.springframework.data.redis.RedisConnectionFailureException;

/**
 * A wire and, while it is led, the calls that are on it.
 * <p>
 * States: free; led, by the thread that has taken it. Only that thread uses the wire and
 * the batch, which is empty whenever the slot is free.
 */
final class WireSlot {

	/** More would keep the first of them waiting. */
	private static final int MOST_CALLS = 64;

	/**
	 * What a server takes in even while it reads nothing, so that no leader is stuck in
	 * sending, which no time-out ends.
	 */
	private static final int MOST_BYTES = 32_768;

	private final AtomicBoolean led = new AtomicBoolean();

	private final List<PendingCall> batch = new ArrayList<>();

	private final Wire wire;

	WireSlot(Wire wire) {
		this.wire = wire;
	}

	boolean take() {
		return !this.led.get() && this.led.compareAndSet(false, true);
	}

	void free() {
		this.led.set(false);
	}

	Wire wire() {
		return this.wire;
	}

	/**
	 * Begins a batch.
	 * @param own the call of this thread, which it has taken
	 */
	void begin(PendingCall own) {
		this.batch.add(own);
	}

	/**
	 * Takes calls that wait, the oldest first, as many as are sent at once.
	 */
	void collect(Queue<PendingCall> waiting) {
		int bytes = this.batch.get(0).bytes();
		while (this.batch.size() < MOST_CALLS && bytes < MOST_BYTES) {
			PendingCall call = waiting.poll();
			if (call == null) {
				return;
			}
			if (call.take()) {
				this.batch.add(call);
				bytes += call.bytes();
			}
		}
	}

	/**
	 * Sends what was collected, and reads the replies.
	 * @param deadline until when
	 * @return {@code false} if the connection is of no use any more; each call that has
	 * got no reply has failed
	 */
	boolean exchange(long deadline) {
		int answered = 0;
		RuntimeException failure = null;
		try {
			this.batch.forEach((call) -> call.commands().forEach(this.wire::send));
			for (; answered < this.batch.size(); answered++) {
				this.batch.get(answered).receive(this.wire, deadline);
			}
			return this.wire.answered();
		}
		catch (RuntimeException ex) {
			failure = ex;
			return false;
		}
		finally {
			// Also after an Error, so that no thread waits in vain.
			if (answered < this.batch.size()) {
				fail(this.batch.subList(answered, this.batch.size()), failure);
			}
			this.batch.clear();
		}
	}

	// The connection first: who is told of the failure may try again at once.
	private void fail(List<PendingCall> calls, @Nullable RuntimeException failure) {
		RuntimeException cause = (failure != null) ? failure
				: new RedisConnectionFailureException("the thread that sent it has ended");
		try {
			this.wire.abandon();
		}
		finally {
			calls.forEach((call) -> call.fail(cause));
		}
	}

}
