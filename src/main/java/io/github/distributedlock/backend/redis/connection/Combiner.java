package io.github.distributedlock.backend.redis.connection;

import java.time.Duration;
import java.util.List;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.locks.LockSupport;
import java.util.function.LongSupplier;

import io.github.distributedlock.backend.redis.wire.Command;
import io.github.distributedlock.backend.redis.wire.UnsentException;
import org.jspecify.annotations.Nullable;

import org.springframework.dao.QueryTimeoutException;
import org.springframework.data.redis.RedisConnectionFailureException;

/**
 * Combines the commands of many threads on a few wires: a thread that finds one free
 * leads it, that is, it sends all that waits and reads the replies (flat combining;
 * Hendler, Incze, Shavit, Tzafrir 2010). So the server and this JVM read and write less
 * often, and fewer threads change places. A thread that is alone leads at once, and has
 * only its own command to send.
 * <p>
 * States: each wire is free, or led by one thread; each call waits in the queue, or is
 * taken by a leader, or is over.
 * <p>
 * Invariants: while a call waits and a wire is free, some thread is awake that will look
 * for both. So a thread looks for a free wire once its call is in the queue, and a thread
 * that frees a wire, or leaves the queue, wakes the first that waits. A thread whose call
 * was not taken when a quarter of the command timeout is left gives it up, and has
 * certainly sent nothing. One whose call was taken knows what became of it only by its
 * reply, for which it waits until the command timeout is over. No thread reads for others
 * for longer than that: a leader with less than a quarter left, since it has opened a
 * connection, sends its own command alone, for which it has a quarter all the same.
 */
final class Combiner {

	private final Queue<PendingCall> waiting = new ConcurrentLinkedQueue<>();

	private final List<WireSlot> slots;

	private final long quarterNanos;

	private final LongSupplier nanoTime;

	Combiner(List<? extends Wire> wires, Duration timeout) {
		this(wires, timeout, System::nanoTime);
	}

	Combiner(List<? extends Wire> wires, Duration timeout, LongSupplier nanoTime) {
		this.nanoTime = nanoTime;
		this.slots = wires.stream().map(WireSlot::new).toList();
		this.quarterNanos = timeout.toNanos() / 4;
	}

	/**
	 * Has commands sent, one after another on one wire.
	 * @param commands the commands
	 * @param nanos how long it may take
	 * @return for each the reply, or an error as a {@code RuntimeException}
	 */
	List<@Nullable Object> call(List<Command> commands, long nanos) {
		PendingCall call = new PendingCall(commands, this.nanoTime.getAsLong() + nanos);
		// It would end every wait at once, and the connection of a virtual thread, which
		// is that of others, too.
		boolean interrupted = Thread.interrupted();
		try {
			this.waiting.add(call);
			while (!call.isOver()) {
				interrupted |= Thread.interrupted();
				WireSlot slot = call.isWaiting() ? takeFree() : null;
				if (slot != null) {
					lead(slot, call);
				}
				else {
					await(call);
				}
			}
			return call.replies();
		}
		finally {
			leave(call);
			if (interrupted) {
				Thread.currentThread().interrupt();
			}
		}
	}

	/**
	 * Leaves the queue, if the call is still in it, whatever has ended the wait.
	 * @return whether it was never sent
	 */
	private boolean leave(PendingCall call) {
		boolean unsent = call.giveUp();
		if (unsent) {
			this.waiting.remove(call);
			wakeFirst();
		}
		return unsent;
	}

	private @Nullable WireSlot takeFree() {
		for (WireSlot slot : this.slots) {
			if (slot.take()) {
				return slot;
			}
		}
		return null;
	}

	// Its own call leaves the queue first: the head of the queue is woken for those
	// behind it, and a thread that opens a connection cannot see to them.
	private void lead(WireSlot slot, PendingCall own) {
		boolean fine = true;
		try {
			if (take(own) && open(slot, own)) {
				boolean late = patience(own) < 0;
				slot.begin(own);
				if (!late) {
					slot.collect(this.waiting);
				}
				wakeFirst(); // Of those that are too many for one batch.
				fine = slot.exchange(late ? this.nanoTime.getAsLong() + this.quarterNanos : own.deadline());
			}
		}
		finally {
			slot.free();
			if (!fine) {
				tidy();
			}
			wakeFirst();
		}
	}

	private boolean take(PendingCall own) {
		boolean taken = own.take();
		if (taken) {
			this.waiting.remove(own); // Unless a leader has just come across it there.
		}
		return taken;
	}

	private boolean open(WireSlot slot, PendingCall own) {
		try {
			slot.wire().open(own.deadline() - this.quarterNanos);
			return true;
		}
		catch (RuntimeException ex) {
			own.fail(ex);
			return false;
		}
	}

	private void wakeFirst() {
		PendingCall first = this.waiting.peek();
		if (first != null) {
			first.wake();
		}
	}

	/**
	 * For how long a call may still do without being sent.
	 */
	private long patience(PendingCall call) {
		return call.deadline() - this.nanoTime.getAsLong() - this.quarterNanos;
	}

	/**
	 * Waits until a call is over, or a wire may be free, or the thread is interrupted.
	 * @throws RuntimeException if it has waited long enough
	 */
	private void await(PendingCall call) {
		long left = call.deadline() - this.nanoTime.getAsLong();
		long pause = call.isWaiting() ? patience(call) : left;
		if (pause > 0) {
			LockSupport.parkNanos(this, pause);
			return;
		}
		if (leave(call)) {
			throw new UnsentException(
					new RedisConnectionFailureException("all connections are still in use by other commands"));
		}
		if (left <= 0 && !call.isOver()) {
			throw new QueryTimeoutException("no reply within the command timeout");
		}
	}

	/**
	 * Ends the connections that nobody uses, if there is nothing behind them any more.
	 */
	void tidy() {
		for (WireSlot slot : this.slots) {
			if (slot.take()) {
				try {
					slot.wire().tidy();
				}
				finally {
					slot.free();
					wakeFirst();
				}
			}
		}
	}

}
