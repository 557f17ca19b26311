package io.github.distributedlock.backend.redis.connection;

import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicIntegerFieldUpdater;
import java.util.concurrent.locks.LockSupport;

import io.lettuce.core.RedisCommandExecutionException;
import io.lettuce.core.RedisCommandInterruptedException;
import io.lettuce.core.RedisCommandTimeoutException;
import io.lettuce.core.RedisConnectionException;
import io.lettuce.core.RedisException;
import io.lettuce.core.codec.ByteArrayCodec;
import io.lettuce.core.output.CommandOutput;
import io.lettuce.core.protocol.Command;
import io.lettuce.core.protocol.CommandArgs;
import io.lettuce.core.protocol.ProtocolKeyword;
import io.netty.buffer.ByteBuf;
import org.jspecify.annotations.Nullable;

/**
 * A command, and the thread that waits for its reply. The thread is woken by the client,
 * without a future or a timer between them.
 * <p>
 * States: new; sent, when the client has begun to write it; given up, by the thread that
 * waits no more. Apart from that, whether it is done: answered, failed or cancelled.
 * Invariant: what was given up before it was sent is never sent. Should the client have
 * begun with it nevertheless, it sends a PING, since it expects one more reply by then.
 */
final class LettuceCommand extends Command<byte[], byte[], Object> {

	private static final AtomicIntegerFieldUpdater<LettuceCommand> STATE = AtomicIntegerFieldUpdater
		.newUpdater(LettuceCommand.class, "state");

	private static final int NEW = 0;

	private static final int SENT = 1;

	private static final int GIVEN_UP = 2;

	private static final byte[] PING = KeyNames.bytes("*1\r\n$4\r\nPING\r\n");

	private final Thread thread = Thread.currentThread();

	private volatile int state = NEW;

	/**
	 * Creates it, for this thread to wait for.
	 */
	LettuceCommand(ProtocolKeyword verb, CommandArgs<byte[], byte[]> arguments) {
		super(verb, new Reply(), arguments);
	}

	// Once more where a cluster redirects it.
	@Override
	public void encode(ByteBuf buffer) {
		if (STATE.compareAndSet(this, NEW, SENT) || this.state == SENT) {
			super.encode(buffer);
		}
		else {
			buffer.writeBytes(PING);
		}
	}

	/**
	 * Sees to it that it is not sent any more.
	 * @return {@code false} if it was
	 */
	boolean giveUp() {
		return STATE.compareAndSet(this, NEW, GIVEN_UP) || this.state == GIVEN_UP;
	}

	@Override
	public void complete() {
		super.complete();
		LockSupport.unpark(this.thread);
	}

	@Override
	public boolean completeExceptionally(Throwable failure) {
		boolean completed = super.completeExceptionally(failure);
		LockSupport.unpark(this.thread);
		return completed;
	}

	@Override
	public void cancel() {
		super.cancel();
		LockSupport.unpark(this.thread);
	}

	/**
	 * Waits for the reply.
	 * @param end until when, by {@link System#nanoTime()}
	 * @return the reply
	 * @throws RedisException if there is none, or an error
	 */
	@Nullable Object await(long end) {
		while (!isDone()) {
			long left = end - System.nanoTime();
			if (left <= 0) {
				throw new RedisCommandTimeoutException("no reply within the command timeout");
			}
			if (Thread.currentThread().isInterrupted()) {
				throw new RedisCommandInterruptedException(new InterruptedException());
			}
			LockSupport.parkNanos(this, left);
		}
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

	/**
	 * A reply of any type, as the server sends it. The outputs of Lettuce fail on a reply
	 * of another type than theirs, after the server has carried the command out.
	 */
	private static final class Reply extends CommandOutput<byte[], byte[], Object> {

		private @Nullable Unfinished unfinished;

		Reply() {
			super(ByteArrayCodec.INSTANCE, null);
		}

		@Override
		public void set(@Nullable ByteBuffer bytes) {
			add((bytes != null) ? this.codec.decodeValue(bytes) : null);
		}

		@Override
		public void setSingle(ByteBuffer bytes) {
			set(bytes);
		}

		@Override
		public void setBigNumber(ByteBuffer bytes) {
			set(bytes);
		}

		@Override
		public void set(long number) {
			add(number);
		}

		@Override
		public void set(double number) {
			add(number);
		}

		@Override
		public void set(boolean truth) {
			add(truth ? 1L : 0L);
		}

		@Override
		public void multi(int count) {
			if (count < 0) {
				add(null);
				return;
			}
			List<@Nullable Object> list = new ArrayList<>(count);
			add(list);
			if (count > 0) {
				this.unfinished = new Unfinished(list, count, this.unfinished);
			}
		}

		private void add(@Nullable Object reply) {
			Unfinished list = this.unfinished;
			if (list == null) {
				this.output = reply;
				return;
			}
			list.elements.add(reply);
			if (list.elements.size() == list.count) {
				this.unfinished = list.outer;
			}
		}

		/**
		 * A list that lacks elements.
		 *
		 * @param elements those that it has
		 * @param count how many it is to have
		 * @param outer the list that it is in, if that lacks more
		 */
		private record Unfinished(List<@Nullable Object> elements, int count, @Nullable Unfinished outer) {
		}

	}

}
