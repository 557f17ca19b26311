package io.github.distributedlock.protocol;

import java.util.Collections;
import java.util.List;
import java.util.Objects;
import java.util.function.UnaryOperator;

import io.github.distributedlock.protocol.Request.Phase;
import org.jspecify.annotations.Nullable;

/**
 * A JVM: the threads, and their local queue for the lock, if there is one. The steps are
 * those of {@code LocalQueue}.
 *
 * @param alive whether the JVM has not crashed
 * @param threads the requests of the threads
 * @param queue the local queue, there only while somebody has the turn
 */
record Jvm(boolean alive, List<Request> threads, @Nullable Queue queue) {

	static Jvm with(int threads) {
		return new Jvm(true, Collections.nCopies(threads, Request.FIRST), null);
	}

	Jvm thread(int thread, Request request) {
		return new Jvm(this.alive, Lists.replaced(this.threads, thread, request), this.queue);
	}

	Jvm in(int thread, Phase phase) {
		return thread(thread, this.threads.get(thread).in(phase));
	}

	Jvm queue(UnaryOperator<Queue> change) {
		return new Jvm(this.alive, this.threads, change.apply(Objects.requireNonNull(this.queue)));
	}

	Jvm crashed() {
		List<Request> ended = this.threads.stream().map((request) -> Request.FIRST.in(Phase.ENDED)).toList();
		return new Jvm(false, ended, null);
	}

	/**
	 * Returns the key that the JVM believes to own.
	 */
	@Nullable OwnedKey ownedKey() {
		return (this.queue != null) ? this.queue.ownedKey() : null;
	}

	Jvm ownedKey(@Nullable OwnedKey ownedKey) {
		return queue((queue) -> queue.ownedKey(ownedKey));
	}

	Jvm enter(int thread) {
		if (this.queue == null) {
			return new Jvm(true, this.threads, Queue.of(thread)).in(thread, Phase.ASKING);
		}
		return queue((queue) -> queue.waiting(Lists.with(queue.waiting(), thread))).in(thread, Phase.QUEUED);
	}

	/**
	 * A thread in the queue gives up before it has the turn.
	 */
	Jvm leaveEarly(int thread) {
		return queue((queue) -> queue.waiting(Lists.without(queue.waiting(), thread)));
	}

	/**
	 * The current turn ends.
	 */
	Jvm leave(boolean withdraws) {
		Queue queue = Objects.requireNonNull(this.queue);
		if (!queue.waiting().isEmpty()) {
			int next = queue.waiting().get(0);
			Queue rest = queue.current(next).waiting(Lists.without(queue.waiting(), next));
			return new Jvm(true, this.threads, rest).in(next, Phase.ASKING);
		}
		boolean owesWithdrawal = withdraws && (queue.registered() || queue.woken());
		return new Jvm(true, this.threads, owesWithdrawal ? queue.current(Queue.WITHDRAWAL) : null);
	}

	/**
	 * A wake-up has arrived.
	 */
	Jvm wake(boolean keepsEarlyOnes) {
		if (this.queue == null) {
			return new Jvm(true, this.threads, Queue.of(Queue.WITHDRAWAL));
		}
		Request current = current();
		if (current != null && (current.isHold() || (!keepsEarlyOnes && current.phase() != Phase.PARKED))) {
			return this;
		}
		return queue((queue) -> queue.woken(true));
	}

	/**
	 * Returns whether a thread of the JVM will do something about the lock without being
	 * woken.
	 */
	boolean isBusy() {
		Request current = current();
		return this.queue != null && (this.queue.woken() || current == null || current.phase() != Phase.PARKED);
	}

	private @Nullable Request current() {
		return (this.queue != null && this.queue.current() >= 0) ? this.threads.get(this.queue.current()) : null;
	}

}
