package io.github.distributedlock.backend.redis.internal;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.Semaphore;
import java.util.concurrent.atomic.AtomicReference;
import java.util.concurrent.locks.LockSupport;
import java.util.function.Function;
import java.util.function.LongSupplier;

import org.jspecify.annotations.Nullable;

import org.springframework.dao.QueryTimeoutException;
import org.springframework.data.redis.RedisConnectionFailureException;

/**
 * Combines the commands of many threads on a few wires. A thread that finds a free wire
 * leads that wire: the thread borrows a connection, sends all commands that wait, and
 * reads the replies (flat combining; Hendler, Incze, Shavit, Tzafrir 2010). So the server
 * and this JVM read and write less often, and fewer threads change places. A thread that
 * is alone leads at once, and has only its own command to send.
 * <p>
 * States: each wire is free, or led by one thread; each call waits in the queue, or is
 * taken by a leader, or is over.
 * <p>
 * Invariants: while a call waits and a wire is free, some thread is awake that will look
 * for both. So a thread looks for a free wire once its call is in the queue, and a thread
 * that frees a wire, or leaves the queue, wakes the thread of the first call. A call that
 * was not taken within the command timeout is given up, and has certainly not been sent.
 * The outcome of a call that was taken is known only by the reply, and the thread of the
 * call waits for the reply until the call's deadline. The time that a leader needs for a
 * connection counts only for the leader, whose deadline moves by that time. A leader with
 * less than half of its time left sends its own command alone, so that the end of its
 * time costs no other call.
 *
 * @param <W> the connections
 */
final class Combiner<W extends Combiner.Wire> implements Lane, Link {

	/**
	 * The number of wires. While some wires wait for replies, another wire is filled.
	 * More wires make batches smaller. Fewer wires leave processors idle: with two wires,
	 * four threads reach two thirds of the throughput that they reach with four wires.
	 */
	static final int WIRES = 4;

	/** The most calls in a batch. A larger batch would keep its first calls waiting. */
	private static final int MOST_CALLS = 64;

	/**
	 * How many bytes of a batch are sent at once. A connection takes in so many bytes
	 * even while the server reads nothing, so no leader is stuck in sending, which no
	 * timeout ends.
	 */
	private static final int MOST_BYTES = 32_768;

	private final Queue<Call> waiting = new ConcurrentLinkedQueue<>();

	private final Semaphore free;

	private final Wires<W> wires;

	private final long timeoutNanos;

	private final LongSupplier nanoTime;

	Combiner(Wires<W> wires, Duration timeout) {
		this(wires, WIRES, timeout, System::nanoTime);
	}

	Combiner(Wires<W> wires, int most, Duration timeout, LongSupplier nanoTime) {
		this.wires = wires;
		this.free = new Semaphore(most);
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
			if (this.waiting.isEmpty() && this.free.tryAcquire()) {
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
				interrupted |= Thread.interrupted(); // An interrupt would end every wait
														// at once.
				if (call.get() == Call.State.WAITING && this.free.tryAcquire()) {
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
	 * @throws UnsentException if the deadline is over, and the call was never taken
	 * @throws QueryTimeoutException if the deadline is over, and a call that was taken
	 * has no reply
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
	 * Takes a call that was not taken yet out of the queue, whatever has ended the wait.
	 * @return whether the call was never sent
	 */
	private boolean leave(Call call) {
		boolean unsent = call.giveUp();
		if (unsent) {
			this.waiting.remove(call);
			wakeFirst();
		}
		return unsent;
	}

	private void freeWire() {
		this.free.release();
		wakeFirst();
	}

	private void wakeFirst() {
		Call first = this.waiting.peek();
		if (first != null) {
			LockSupport.unpark(first.thread);
		}
	}

	// The call leaves the queue first. The thread at the head of the queue is woken on
	// behalf of the calls behind, and a thread that opens a connection cannot serve those
	// calls.
	private void leadUnlessTaken(Call own) {
		if (own.take()) {
			this.waiting.remove(own); // A leader may have polled the call already.
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
				wakeFirst(); // Some calls may not have fitted into the batch.
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
			// Calls end even after an Error, so that no thread waits in vain. The
			// connection is given back first: a thread whose call has failed may try
			// again at once.
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

	// A call is put into the batch before the call is taken, so that the call fails
	// whatever ends this thread.
	private void collect(List<Call> batch) {
		int bytes = batch.get(0).command.bytes();
		while (batch.size() < MOST_CALLS && bytes < MOST_BYTES) {
			Call call = this.waiting.poll();
			if (call == null) {
				return;
			}
			batch.add(call);
			if (call.take()) {
				bytes += call.command.bytes();
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
	 * A connection on which one thread at a time sends the commands of many threads.
	 */
	interface Wire {

		/**
		 * Sends a command, or keeps the command until the next reply is asked for.
		 */
		void send(Command command);

		/**
		 * Waits for the reply of the next command.
		 * @param command the command
		 * @param nanos how long to wait, in nanoseconds
		 * @return the reply; an error of the server as a {@code RuntimeException}
		 * @throws RuntimeException if no reply came, after which the connection is of no
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
		 * Borrows a connection.
		 * @param nanos how long the borrowing may take, in nanoseconds
		 * @throws UnsentException if no connection is to be had
		 */
		W borrow(long nanos);

		void giveBack(W wire);

		/**
		 * Takes back a connection on which replies may still come, or whose server is no
		 * master.
		 */
		void discard(W wire);

		void close();

	}

	/**
	 * A command that a thread wants to have sent, by this thread or by another thread.
	 * <p>
	 * States: waiting; taken, by the one thread that sends the command; over, with a
	 * reply or a failure; given up, by the call's own thread, so that the command is
	 * never sent. The thread that has taken the call writes the reply or the failure
	 * before the call is over.
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
		 * Reads the next reply, which is the reply of this call.
		 * @return whether the reply says that the server is no master
		 */
		private boolean receive(Wire wire, long nanos) {
			Object reply = wire.receive(this.command, nanos);
			this.reply = reply;
			end();
			return reply instanceof RuntimeException error && RedisRefusal.READONLY.isIn(error);
		}

		/**
		 * Ends the call without a reply.
		 * @param failure the failure. The call's own thread throws the failure; another
		 * thread throws a new exception with the failure as the cause
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
