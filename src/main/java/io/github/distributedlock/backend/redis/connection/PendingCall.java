package io.github.distributedlock.backend.redis.connection;

import java.util.Arrays;
import java.util.List;
import java.util.concurrent.atomic.AtomicReference;
import java.util.concurrent.locks.LockSupport;

import io.github.distributedlock.backend.redis.wire.Command;
import org.jspecify.annotations.Nullable;

import org.springframework.data.redis.RedisConnectionFailureException;

/**
 * Commands that a thread wants to have sent, by itself or by another.
 * <p>
 * States: waiting; taken, by the one thread that sends it; over, with replies or a
 * failure; given up, by its own thread, so that it is never sent. What it has in the end
 * is written by the thread that has taken it, before it is over.
 */
final class PendingCall {

	private final AtomicReference<State> state = new AtomicReference<>(State.WAITING);

	private final Thread thread = Thread.currentThread();

	private final List<Command> commands;

	private final @Nullable Object[] replies;

	private final long deadline;

	private final int bytes;

	private @Nullable RuntimeException failure;

	/**
	 * Creates it for the current thread.
	 * @param commands the commands
	 * @param deadline when it needs no reply any more
	 */
	PendingCall(List<Command> commands, long deadline) {
		this.commands = commands;
		this.replies = new Object[commands.size()];
		this.deadline = deadline;
		int bytes = 0;
		for (Command command : commands) {
			for (byte[] argument : command.arguments()) {
				bytes += argument.length;
			}
		}
		this.bytes = bytes;
	}

	/**
	 * How much is to be sent, more or less.
	 */
	int bytes() {
		return this.bytes;
	}

	long deadline() {
		return this.deadline;
	}

	List<Command> commands() {
		return this.commands;
	}

	boolean isWaiting() {
		return this.state.get() == State.WAITING;
	}

	boolean isOver() {
		return this.state.get() == State.OVER;
	}

	/**
	 * Takes it, to send it.
	 * @return {@code false} if another thread has, or if it was given up
	 */
	boolean take() {
		return this.state.compareAndSet(State.WAITING, State.TAKEN);
	}

	/**
	 * Gives it up.
	 * @return {@code false} if a thread has taken it
	 */
	boolean giveUp() {
		return this.state.compareAndSet(State.WAITING, State.GIVEN_UP);
	}

	/**
	 * Reads its replies, which are the next.
	 */
	void receive(Wire wire, long deadline) {
		for (int i = 0; i < this.replies.length; i++) {
			this.replies[i] = wire.receive(deadline);
		}
		end();
	}

	/**
	 * Ends it without replies.
	 * @param failure why, as its own thread may throw it: that of another thread is only
	 * the cause
	 */
	void fail(RuntimeException failure) {
		this.failure = (this.thread == Thread.currentThread()) ? failure : new RedisConnectionFailureException(
				"the thread that sent it together with its own could not: " + failure.getMessage(), failure);
		end();
	}

	private void end() {
		this.state.set(State.OVER);
		if (this.thread != Thread.currentThread()) {
			LockSupport.unpark(this.thread);
		}
	}

	void wake() {
		LockSupport.unpark(this.thread);
	}

	/**
	 * What has become of it.
	 * @return the replies and errors, in the order of the commands
	 * @throws RuntimeException if it failed
	 */
	List<@Nullable Object> replies() {
		RuntimeException failure = this.failure;
		if (failure != null) {
			throw failure;
		}
		return Arrays.asList(this.replies);
	}

	private enum State {

		WAITING, TAKEN, OVER, GIVEN_UP

	}

}
