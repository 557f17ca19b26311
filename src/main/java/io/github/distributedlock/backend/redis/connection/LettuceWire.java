package io.github.distributedlock.backend.redis.connection;

import java.util.ArrayList;
import java.util.List;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.atomic.AtomicInteger;

import io.lettuce.core.api.StatefulRedisConnection;
import io.lettuce.core.api.async.RedisAsyncCommands;

import org.springframework.data.redis.connection.RedisConnection;

/**
 * Sends the commands of many threads on one connection, those of one moment in one write:
 * Lettuce by itself makes one for each command.
 * <p>
 * What comes while fewer than two batches are under way is sent at once, so a thread
 * alone waits for nobody. What comes later waits, and is sent by the thread of the client
 * that reads the last reply of one of the two. So the server has work while replies are
 * read, and the waiting grow to a batch.
 * <p>
 * Invariants: a batch is under way until its last command is done, however that comes
 * about. While anything waits, two batches are under way, or a thread is about to send.
 */
final class LettuceWire implements LettuceSender {

	private static final int BATCHES = 2;

	private final StatefulRedisConnection<byte[], byte[]> connection;

	private final Queue<List<LettuceCommand>> waiting = new ConcurrentLinkedQueue<>();

	private final AtomicInteger underWay = new AtomicInteger();

	LettuceWire(StatefulRedisConnection<byte[], byte[]> connection) {
		this.connection = connection;
	}

	/**
	 * A wire over Spring Data's connection to a server.
	 */
	@SuppressWarnings({ "deprecation", "unchecked" }) // What replaces it exists only for
														// other kinds.
	static LettuceWire of(RedisConnection connection) {
		return new LettuceWire(
				((RedisAsyncCommands<byte[], byte[]>) connection.getNativeConnection()).getStatefulConnection());
	}

	@Override
	public void send(List<LettuceCommand> commands, byte[] key) {
		this.waiting.add(commands);
		sendWaiting();
	}

	private void sendWaiting() {
		while (!this.waiting.isEmpty() && begin()) {
			List<LettuceCommand> batch = takeWaiting();
			if (batch.isEmpty()) {
				this.underWay.decrementAndGet();
			}
			else {
				batch.get(batch.size() - 1).whenDone(this::ended);
				dispatch(batch);
			}
		}
	}

	private boolean begin() {
		int before = this.underWay.get();
		while (before < BATCHES && !this.underWay.compareAndSet(before, before + 1)) {
			before = this.underWay.get();
		}
		return before < BATCHES;
	}

	private List<LettuceCommand> takeWaiting() {
		List<LettuceCommand> batch = new ArrayList<>();
		List<LettuceCommand> next = this.waiting.poll();
		while (next != null) {
			// The first is the one that is waited for, so it tells for all of them.
			if (next.get(0).claim()) {
				next.forEach(LettuceCommand::claim);
				batch.addAll(next);
			}
			next = this.waiting.poll();
		}
		return batch;
	}

	private void dispatch(List<LettuceCommand> batch) {
		try {
			if (batch.size() == 1) {
				this.connection.dispatch(batch.get(0));
			}
			else {
				this.connection.dispatch(batch);
			}
		}
		catch (RuntimeException ex) {
			batch.forEach((command) -> command.completeExceptionally(ex));
		}
	}

	private void ended() {
		this.underWay.decrementAndGet();
		sendWaiting();
	}

	@Override
	public boolean isOpen() {
		return this.connection.isOpen();
	}

	void close() {
		this.connection.closeAsync();
	}

}
