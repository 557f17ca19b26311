package io.github.distributedlock.backend.redis.connection;

import java.util.ArrayList;
import java.util.List;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Consumer;

/**
 * Writes the commands of many threads to one connection, those of one moment together.
 * <p>
 * What comes while fewer than two batches are under way is written at once, so a thread
 * alone waits for nobody. What comes later waits, and is written by the thread of the
 * client that reads the last reply of one of the two. So the server has work while
 * replies are read, and what waits grows to a batch.
 * <p>
 * Invariants: a batch is under way until its last command is done, however that comes
 * about. While anything waits, two batches are under way, or a thread is about to write.
 */
final class LettuceBatches {

	private static final int MOST = 2;

	private final Queue<List<LettuceCommand>> waiting = new ConcurrentLinkedQueue<>();

	private final AtomicInteger underWay = new AtomicInteger();

	private final Consumer<List<LettuceCommand>> writer;

	/**
	 * Creates them.
	 * @param writer writes commands; one that it cannot write is to fail
	 */
	LettuceBatches(Consumer<List<LettuceCommand>> writer) {
		this.writer = writer;
	}

	/**
	 * Writes commands as soon as that is possible, all of them in one batch.
	 */
	void add(List<LettuceCommand> commands) {
		this.waiting.add(commands);
		writeWaiting();
	}

	private void writeWaiting() {
		while (!this.waiting.isEmpty() && begin()) {
			List<LettuceCommand> batch = takeWaiting();
			if (batch.isEmpty()) {
				this.underWay.decrementAndGet();
			}
			else {
				batch.get(batch.size() - 1).whenDone(this::ended);
				this.writer.accept(batch);
			}
		}
	}

	private boolean begin() {
		int before = this.underWay.get();
		while (before < MOST && !this.underWay.compareAndSet(before, before + 1)) {
			before = this.underWay.get();
		}
		return before < MOST;
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

	private void ended() {
		this.underWay.decrementAndGet();
		writeWaiting();
	}

}
