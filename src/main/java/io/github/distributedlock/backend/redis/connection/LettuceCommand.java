package io.github.distributedlock.backend.redis.connection;

import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CancellationException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicReference;

import io.lettuce.core.LettuceFutures;
import io.lettuce.core.RedisConnectionException;
import io.lettuce.core.RedisException;
import io.lettuce.core.codec.ByteArrayCodec;
import io.lettuce.core.output.CommandOutput;
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
final class LettuceCommand extends AsyncCommand<byte[], byte[], Object> {

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

	// Once more where a cluster redirects it.
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
	 * Sees to it that it is not sent any more.
	 * @return {@code false} if it was
	 */
	boolean giveUp() {
		return !decide(false);
	}

	/**
	 * Waits for the reply.
	 * @throws RedisException if there is none, or an error
	 */
	@Nullable Object await(long nanos) {
		try {
			return LettuceFutures.awaitOrCancel(this, nanos, TimeUnit.NANOSECONDS);
		}
		catch (CancellationException ex) {
			throw new RedisConnectionException("the connection was closed before the reply came", ex);
		}
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
