package io.github.distributedlock.backend.redis.connection;

import java.nio.ByteBuffer;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;

import io.lettuce.core.codec.ByteArrayCodec;
import io.lettuce.core.output.CommandOutput;
import org.jspecify.annotations.Nullable;

/**
 * A reply of any type, as the server sends it. The outputs of Lettuce fail on a reply of
 * another type than theirs, after the server has carried the command out.
 */
final class LettuceReply extends CommandOutput<byte[], byte[], Object> {

	private final Deque<Unfinished> lists = new ArrayDeque<>();

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
		Unfinished list = new Unfinished(new ArrayList<>(count), count);
		add(list.elements);
		if (count > 0) {
			this.lists.push(list);
		}
	}

	private void add(@Nullable Object reply) {
		Unfinished list = this.lists.peek();
		if (list == null) {
			this.output = reply;
			return;
		}
		list.elements.add(reply);
		if (list.elements.size() == list.count) {
			this.lists.pop();
		}
	}

	private record Unfinished(List<@Nullable Object> elements, int count) {
	}

}
