package io.github.distributedlock.backend.redis.internal;

import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.concurrent.CancellationException;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.AtomicReference;

import io.github.distributedlock.internal.Uninterrupted;
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
 * A command that knows whether the client has begun to write the command.
 * <p>
 * States: new; sent, when the client has begun to write the command; given up, by the
 * thread that waits no more. Invariant: a command that was given up while new is never
 * sent. If the client writes a given-up command nevertheless, a PING is sent instead,
 * since the client expects one more reply by then.
 */
final class LettuceCommand extends AsyncCommand<byte[], byte[], List<Object>> {

	private static final byte[] PING = "*1\r\n$4\r\nPING\r\n".getBytes(StandardCharsets.UTF_8);

	/**
	 * The state: {@code null} if new, {@code true} if sent, {@code false} if given up.
	 */
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
	 * Ensures that the command will not be sent.
	 * @return {@code false} if the command was sent already
	 */
	boolean giveUp() {
		return !decide(false);
	}

	/**
	 * Waits for the reply, even if the thread is interrupted.
	 * @throws RedisException if no reply comes, or the reply is an error
	 */
	@Nullable Object await(long nanos) {
		try {
			Uninterrupted.get(this, nanos);
		}
		catch (ExecutionException | CancellationException ex) {
			// The failure is translated below.
		}
		catch (TimeoutException ex) {
			cancel(true);
			throw new RedisCommandTimeoutException("no reply within the command timeout");
		}
		try {
			List<@Nullable Object> replies = LettuceFutures.awaitOrCancel(this, 1, TimeUnit.NANOSECONDS);
			// Lettuce leaves QUEUED out of the replies.
			return ((Reply) getOutput()).list ? replies : replies.isEmpty() ? null : replies.get(0);
		}
		catch (CancellationException ex) {
			throw new RedisConnectionException("the connection was closed before the reply came", ex);
		}
	}

	/**
	 * A reply of any type, unchanged. Other outputs of Lettuce fail on a reply of an
	 * unexpected type, after the server has carried the command out. This output keeps a
	 * reply that is no list as the only element of a list.
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
