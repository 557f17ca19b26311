package io.github.distributedlock.backend.redis.connection;

import java.util.List;
import java.util.concurrent.CancellationException;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.AtomicReference;

import io.lettuce.core.LettuceFutures;
import io.lettuce.core.RedisCommandTimeoutException;
import io.lettuce.core.RedisConnectionException;
import io.lettuce.core.RedisException;
import io.lettuce.core.codec.ByteArrayCodec;
import io.lettuce.core.output.NestedMultiOutput;
import io.lettuce.core.protocol.AsyncCommand;
import io.lettuce.core.protocol.Command;
import io.lettuce.core.protocol.CommandArgs;
import io.lettuce.core.protocol.ProtocolKeyword;
import io.netty.buffer.ByteBuf;
import org.jspecify.annotations.Nullable;

/**
 * A command, which knows whether the client has begun to write it.
 * <p>
 * States: new; sent, when the client has begun to write it; given up, by the thread that
 * waits no more. Invariant: what was given up before it was sent is never sent. Should
 * the client have begun with it nevertheless, it sends a PING, since it expects one more
 * reply by then.
 */
final class LettuceCommand extends AsyncCommand<byte[], byte[], List<Object>> {

	private static final byte[] PING = KeyNames.bytes("*1\r\n$4\r\nPING\r\n");

	/** New as long as it has none; {@code false} if it was given up. */
	private final AtomicReference<@Nullable Boolean> sent = new AtomicReference<>();

	LettuceCommand(ProtocolKeyword verb, CommandArgs<byte[], byte[]> arguments) {
		super(new Command<>(verb, new Reply(), arguments));
	}

	private boolean decide(boolean sends) {
		this.sent.compareAndSet(null, sends);
		return Boolean.TRUE.equals(this.sent.get());
	}

	@Override
	public void encode(ByteBuf buffer) {
		if (decide(true)) {
			super.encode(buffer);
		}
		else {
			buffer.writeBytes(PING);
		}
	}

	/**
	 * Ensures that it is not sent any more.
	 * @return {@code false} if it was
	 */
	boolean giveUp() {
		return !decide(false);
	}

	/**
	 * Waits for the reply, also if the thread is interrupted.
	 * @throws RedisException if there is none, or an error
	 */
	@Nullable Object await(long nanos) {
		try {
			Uninterrupted.get(this, nanos);
		}
		catch (ExecutionException | CancellationException ex) {
			// Translated below.
		}
		catch (TimeoutException ex) {
			cancel(true);
			throw new RedisCommandTimeoutException("no reply within the command timeout");
		}
		try {
			List<@Nullable Object> replies = LettuceFutures.awaitOrCancel(this, 1, TimeUnit.NANOSECONDS);
			// Lettuce leaves out QUEUED.
			return ((Reply) getOutput()).list ? replies : replies.isEmpty() ? null : replies.get(0);
		}
		catch (CancellationException ex) {
			throw new RedisConnectionException("the connection was closed before the reply came", ex);
		}
	}

	/**
	 * A reply of any type, as the server sends it. Other outputs of Lettuce fail on a
	 * reply of another type than theirs, after the server has carried the command out.
	 * This one has one that is no list as the only element of a list.
	 */
	private static final class Reply extends NestedMultiOutput<byte[], byte[]> {

		private boolean list;

		Reply() {
			super(ByteArrayCodec.INSTANCE);
		}

		@Override
		public void multi(int count) {
			this.list = true;
			super.multi(count);
		}

	}

}
