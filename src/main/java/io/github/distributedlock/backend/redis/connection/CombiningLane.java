package io.github.distributedlock.backend.redis.connection;

import java.time.Duration;
import java.util.List;
import java.util.stream.Stream;

import io.github.distributedlock.backend.redis.wire.Command;
import io.github.distributedlock.backend.redis.wire.Link;
import org.jspecify.annotations.Nullable;

/**
 * Four connections of a pool, on which the commands of all threads are combined.
 */
final class CombiningLane implements Lane {

	/**
	 * While some wait for replies, another is filled. More make batches smaller; fewer
	 * leave processors idle: with two, four threads reach two thirds of what they reach
	 * with four.
	 */
	static final int WIRES = 4;

	private final JedisLane pool;

	private final Combiner combiner;

	private final long timeoutNanos;

	private final Shared link;

	CombiningLane(JedisLane pool, Duration timeout) {
		this.pool = pool;
		this.combiner = new Combiner(Stream.generate(() -> new JedisWire(pool)).limit(WIRES).toList(), timeout);
		this.timeoutNanos = timeout.toNanos();
		this.link = new Shared(this.combiner, this.timeoutNanos);
	}

	@Override
	public <T> @Nullable T run(Step<T> step) {
		long begin = System.nanoTime();
		if (this.pool.isOpen()) {
			return step.on(this.link);
		}
		this.pool.open();
		long left = this.timeoutNanos - (System.nanoTime() - begin);
		return step.on(new Shared(this.combiner, Math.max(left, this.timeoutNanos / 4)));
	}

	@Override
	public void close() {
		this.pool.close();
		this.combiner.tidy();
	}

	/**
	 * The same for all threads.
	 *
	 * @param nanos how long a command may take
	 */
	private record Shared(Combiner combiner, long nanos) implements Link {

		@Override
		public @Nullable Object call(Command command) {
			Object reply = call(List.of(command)).get(0);
			if (reply instanceof RuntimeException error) {
				throw error;
			}
			return reply;
		}

		@Override
		public List<@Nullable Object> call(List<Command> commands) {
			return this.combiner.call(commands, this.nanos);
		}

	}

}
