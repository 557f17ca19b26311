package io.github.distributedlock.backend.redis.connection;

import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;

import io.lettuce.core.codec.ByteArrayCodec;
import io.lettuce.core.output.CommandOutput;
import org.jspecify.annotations.Nullable;

/**
 * A reply of any type, as the server sends it. The outputs of Lettuce fail on a reply of
 * another type than theirs, after the server has carried the command out.
 */
final class LettuceReply extends CommandOutput<byte[], byte[], Object> {

	private @Nullable Unfinished unfinished;

	LettuceReply() {
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
