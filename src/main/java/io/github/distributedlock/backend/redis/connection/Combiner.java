package io.github.distributedlock.backend.redis.connection;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;
import java.util.concurrent.locks.LockSupport;
import java.util.function.Function;
import java.util.function.LongSupplier;

import org.jspecify.annotations.Nullable;

import org.springframework.dao.QueryTimeoutException;
import org.springframework.data.redis.RedisConnectionFailureException;

/**
 * Combines the commands of many threads on a few wires: a thread that finds one free
 * leads it, that is, it borrows a connection, sends all that waits and reads the replies
 * (flat combining; Hendler, Incze, Shavit, Tzafrir 2010). So the server and this JVM read
 * and write less often, and fewer threads change places. A thread that is alone leads at
 * once, and has only its own command to send.
 * <p>
 * States: each wire is free, or led by one thread; each call waits in the queue, or is
 * taken by a leader, or is over.
 * <p>
 * Invariants: while a call waits and a wire is free, some thread is awake that will look
 * for both. So a thread looks for a free wire once its call is in the queue, and a thread
 * that frees a wire, or leaves the queue, wakes the first that waits. A call that was not
 * taken within the command timeout is given up, and has certainly not been sent. What
 * became of a call that was taken is known only by its reply, and its thread waits for
 * the reply until its time is over. The time that a leader needs for a connection counts
 * only for the leader, which has that time in addition. A leader with less than half of
 * its time left sends its own command alone, so that the end of its time costs no other
 * call.
 *
 * @param <W> the connections
 */
final class Combiner<W extends Combiner.Wire> implements Lane, Link {

	/**
	 * While some wait for replies, another is filled. More make batches smaller; fewer
	 * leave processors idle: with two, four threads reach two thirds of what they reach
	 * with four.
	 */
	static final int WIRES = 4;

	/** More would keep the first of them waiting. */
	private static final int MOST_CALLS = 64;

	/**
	 * What a server takes in even while it reads nothing, so that no leader is stuck in
	 * sending, which no time-out ends.
	 */
	private static final int MOST_BYTES = 32_768;

	private final Queue<Call> waiting = new ConcurrentLinkedQueue<>();

	private final AtomicInteger free;

	private final Wires<W> wires;

	private final long timeoutNanos;

	private final LongSupplier nanoTime;

	Combiner(Wires<W> wires, Duration timeout) {
		this(wires, WIRES, timeout, System::nanoTime);
	}

	Combiner(Wires<W> wires, int most, Duration timeout, LongSupplier nanoTime) {
		this.wires = wires;
		this.free = new AtomicInteger(most);
		this.timeoutNanos = timeout.toNanos();
		this.nanoTime = nanoTime;
	}

	@Override
	public <T> @Nullable T run(Function<Link, @Nullable T> step) {
		return step.apply(this);
	}

	@Override
	public @Nullable Object exchange(Command command) {
		return Lane.withoutInterrupt(() -> {
			Call call = new Call(command, this.nanoTime.getAsLong() + this.timeoutNanos);
			if (this.waiting.isEmpty() && takeWire()) {
				call.take();
				lead(call);
			}
			else {
				await(call);
			}
			return call.reply();
		});
	}

	private void await(Call call) {
		boolean interrupted = false;
		this.waiting.add(call);
		try {
			while (!call.isOver()) {
				interrupted |= Thread.interrupted(); // It would end every wait at once.
				if (call.get() == Call.State.WAITING && takeWire()) {
					leadUnlessTaken(call);
				}
				else {
					park(call);
				}
			}
		}
		finally {
			leave(call);
			if (interrupted) {
				Thread.currentThread().interrupt();
			}
		}
	}

	/**
	 * Waits until a call is over, or a wire may be free, or the thread is interrupted.
	 * @throws RuntimeException if it has waited long enough
	 */
	private void park(Call call) {
		long left = call.deadline - this.nanoTime.getAsLong();
		if (left > 0) {
			LockSupport.parkNanos(this, left);
		}
		else if (leave(call)) {
			throw new UnsentException("all connections are still in use by other commands", null);
		}
		else if (!call.isOver()) {
			throw new QueryTimeoutException("no reply within the command timeout");
		}
	}

	/**
	 * Leaves the queue, if the call is still in it, whatever has ended the wait.
	 * @return whether it was never sent
	 */
	private boolean leave(Call call) {
		boolean unsent = call.giveUp();
		if (unsent) {
			this.waiting.remove(call);
			wakeFirst();
		}
		return unsent;
	}

	private boolean takeWire() {
		int free = this.free.get();
		while (free > 0 && !this.free.compareAndSet(free, free - 1)) {
			free = this.free.get();
		}
		return free > 0;
	}

	private void freeWire() {
		this.free.incrementAndGet();
		wakeFirst();
	}

	private void wakeFirst() {
		Call first = this.waiting.peek();
		if (first != null) {
			LockSupport.unpark(first.thread);
		}
	}

	// The call leaves the queue first: the head of the queue is woken for those behind
	// it, and a thread that opens a connection cannot see to them.
	private void leadUnlessTaken(Call own) {
		if (own.take()) {
			this.waiting.remove(own); // Unless a leader has just come across it there.
			lead(own);
		}
		else {
			freeWire();
		}
	}

	private void lead(Call own) {
		try {
			List<Call> batch = new ArrayList<>();
			batch.add(own);
			long begin = this.nanoTime.getAsLong();
			exchange(this.wires.borrow(own.deadline - begin), batch, begin);
		}
		catch (RuntimeException ex) {
			own.fail(ex);
		}
		finally {
			freeWire();
		}
	}

	private void exchange(W wire, List<Call> batch, long begin) {
		int answered = 0;
		boolean readOnly = false;
		RuntimeException failure = null;
		try {
			long now = this.nanoTime.getAsLong();
			long deadline = batch.get(0).deadline + (now - begin);
			if (deadline - now > this.timeoutNanos / 2 && !this.waiting.isEmpty()) {
				collect(batch);
				wakeFirst(); // Of those that are too many for one batch.
			}
			batch.forEach((call) -> wire.send(call.command));
			for (; answered < batch.size(); answered++) {
				readOnly |= batch.get(answered).receive(wire, deadline - this.nanoTime.getAsLong());
			}
		}
		catch (RuntimeException ex) {
			failure = ex;
		}
		finally {
			// Also after an Error, so that no thread waits in vain. The connection first:
			// a thread whose call has failed may try again at once.
			try {
				if (answered == batch.size() && !readOnly) {
					this.wires.giveBack(wire);
				}
				else {
					this.wires.discard(wire);
				}
			}
			finally {
				for (Call unanswered : batch.subList(answered, batch.size())) {
					unanswered.fail((failure != null) ? failure
							: new RedisConnectionFailureException("the thread that sent it has ended"));
				}
			}
		}
	}

	// A call is in the batch before it is taken, so that whatever ends this thread it
	// fails.
	private void collect(List<Call> batch) {
		int bytes = batch.get(0).bytes();
		while (batch.size() < MOST_CALLS && bytes < MOST_BYTES) {
			Call call = this.waiting.poll();
			if (call == null) {
				return;
			}
			batch.add(call);
			if (call.take()) {
				bytes += call.bytes();
			}
			else {
				batch.remove(batch.size() - 1);
			}
		}
	}

	@Override
	public void close() {
		this.wires.close();
	}

	/**
	 * A connection, on which the commands of many threads are sent by one at a time.
	 */
	interface Wire {

		/**
		 * Sends a command, or keeps it until the next reply is asked for.
		 */
		void send(Command command);

		/**
		 * Waits for the reply of the next command.
		 * @param command the command
		 * @param nanos how long
		 * @return the reply; an error as a {@code RuntimeException}
		 * @throws RuntimeException if there is none, after which the connection is of no
		 * use
		 */
		@Nullable Object receive(Command command, long nanos);

	}

	/**
	 * Lends connections.
	 *
	 * @param <W> the connections
	 */
	interface Wires<W> {

		/**
		 * Borrows one.
		 * @param nanos how long that may take
		 * @throws UnsentException if there is none
		 */
		W borrow(long nanos);

		void giveBack(W wire);

		/**
		 * Takes back one on which replies may still come, or whose server is no master.
		 */
		void discard(W wire);

		void close();

	}

	/**
	 * A command that a thread wants to have sent, by itself or by another.
	 * <p>
	 * States: waiting; taken, by the one thread that sends it; over, with replies or a
	 * failure; given up, by its own thread, so that it is never sent. What it has in the
	 * end is written by the thread that has taken it, before it is over.
	 */
	private static final class Call extends AtomicReference<Call.State> {

		private static final long serialVersionUID = 1;

		private final transient Thread thread = Thread.currentThread();

		private final transient Command command;

		private final long deadline;

		private transient @Nullable Object reply;

		private transient @Nullable RuntimeException failure;

		private Call(Command command, long deadline) {
			super(State.WAITING);
			this.command = command;
			this.deadline = deadline;
		}

		private int bytes() {
			int bytes = 0;
			for (byte[] argument : this.command.arguments()) {
				bytes += argument.length;
			}
			return bytes;
		}

		private boolean isOver() {
			return get() == State.OVER;
		}

		private boolean take() {
			return compareAndSet(State.WAITING, State.TAKEN);
		}

		private boolean giveUp() {
			return compareAndSet(State.WAITING, State.GIVEN_UP);
		}

		/**
		 * Reads its reply, which is the next.
		 * @return whether the server says that it is no master
		 */
		private boolean receive(Wire wire, long nanos) {
			Object reply = wire.receive(this.command, nanos);
			this.reply = reply;
			end();
			return reply instanceof RuntimeException error && RedisRefusal.READONLY.isIn(error);
		}

		/**
		 * Ends it without a reply.
		 * @param failure why, as its own thread may throw it: that of another thread is
		 * only the cause
		 */
		private void fail(RuntimeException failure) {
			this.failure = (this.thread == Thread.currentThread()) ? failure : new RedisConnectionFailureException(
					"the thread that sent it together with its own could not: " + failure.getMessage(), failure);
			end();
		}

		private void end() {
			set(State.OVER);
			if (this.thread != Thread.currentThread()) {
				LockSupport.unpark(this.thread);
			}
		}

		private @Nullable Object reply() {
			if (this.failure != null) {
				throw this.failure;
			}
			return this.reply;
		}

		private enum State {

			WAITING, TAKEN, OVER, GIVEN_UP

		}

	}

}
