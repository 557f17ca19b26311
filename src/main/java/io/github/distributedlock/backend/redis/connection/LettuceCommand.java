package io.github.distributedlock.backend.redis.connection;

import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicIntegerFieldUpdater;
import java.util.concurrent.atomic.AtomicReferenceFieldUpdater;
import java.util.concurrent.locks.LockSupport;

import io.github.distributedlock.backend.redis.wire.UnsentException;
import io.lettuce.core.RedisCommandExecutionException;
import io.lettuce.core.RedisCommandInterruptedException;
import io.lettuce.core.RedisCommandTimeoutException;
import io.lettuce.core.RedisConnectionException;
import io.lettuce.core.RedisException;
import io.lettuce.core.codec.ByteArrayCodec;
import io.lettuce.core.protocol.Command;
import io.lettuce.core.protocol.CommandArgs;
import io.lettuce.core.protocol.ProtocolKeyword;
import org.jspecify.annotations.Nullable;

/**
 * A command, and the thread that waits for its reply. The thread is woken by the client,
 * without a future or a timer between them.
 * <p>
 * States: waiting; claimed, by the thread that sends it, or by the one that waits no
 * more; done: answered, failed or cancelled. Invariants: it is claimed once, so what was
 * given up unsent is not sent later. Whatever waits for its end is told once.
 */
final class LettuceCommand extends Command<byte[], byte[], Object> {

	private static final AtomicIntegerFieldUpdater<LettuceCommand> CLAIMED = AtomicIntegerFieldUpdater
		.newUpdater(LettuceCommand.class, "claimed");

	private static final AtomicReferenceFieldUpdater<LettuceCommand, Runnable> ON_END = AtomicReferenceFieldUpdater
		.newUpdater(LettuceCommand.class, Runnable.class, "onEnd");

	private final Thread thread = Thread.currentThread();

	private volatile int claimed;

	private volatile @Nullable Runnable onEnd;

	/**
	 * Creates it, for this thread to wait for.
	 */
	LettuceCommand(ProtocolKeyword verb, CommandArgs<byte[], byte[]> arguments) {
		super(verb, new LettuceReply(), arguments);
	}

	static CommandArgs<byte[], byte[]> arguments() {
		return new CommandArgs<>(ByteArrayCodec.INSTANCE);
	}

	/**
	 * Claims it: to send it, or not to wait for it any more.
	 * @return {@code false} if that was done before
	 */
	boolean claim() {
		return CLAIMED.compareAndSet(this, 0, 1);
	}

	/**
	 * Sets what to do when it is done, which may be at once.
	 */
	void whenDone(Runnable action) {
		this.onEnd = action;
		if (isDone()) {
			end();
		}
	}

	@Override
	public void complete() {
		super.complete();
		end();
	}

	@Override
	public boolean completeExceptionally(Throwable failure) {
		boolean completed = super.completeExceptionally(failure);
		end();
		return completed;
	}

	@Override
	public void cancel() {
		super.cancel();
		end();
	}

	private void end() {
		LockSupport.unpark(this.thread);
		Runnable action = ON_END.getAndSet(this, null);
		if (action != null) {
			action.run();
		}
	}

	/**
	 * Waits for the reply.
	 * @param nanos how long at most
	 * @return the reply
	 * @throws RedisException if there is none, or an error
	 * @throws UnsentException if it was not sent in that time
	 */
	@Nullable Object await(long nanos) {
		long end = System.nanoTime() + nanos;
		while (!isDone()) {
			long left = end - System.nanoTime();
			if (left <= 0) {
				throw givenUp(new RedisCommandTimeoutException(
						"Command timed out after " + TimeUnit.NANOSECONDS.toMillis(nanos) + " ms"));
			}
			if (Thread.currentThread().isInterrupted()) {
				throw givenUp(new RedisCommandInterruptedException(new InterruptedException()));
			}
			LockSupport.parkNanos(this, left);
		}
		return reply();
	}

	private RuntimeException givenUp(RedisException reason) {
		boolean unsent = claim();
		cancel();
		return unsent ? new UnsentException(LettuceLink.translated(reason)) : reason;
	}

	private @Nullable Object reply() {
		Throwable failure = this.exception;
		if (failure != null) {
			throw (failure instanceof RuntimeException unchecked) ? unchecked : new RedisException(failure);
		}
		if (isCancelled()) {
			throw new RedisConnectionException("the connection was closed before the reply came");
		}
		if (getOutput().hasError()) {
			throw new RedisCommandExecutionException(getOutput().getError());
		}
		return getOutput().get();
	}

}
