package io.github.distributedlock.demo;

import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.atomic.AtomicInteger;

import org.springframework.stereotype.Component;

/**
 * Thinks between reading and writing the stock, so that a sale takes time.
 */
@Component
class Clerk {

	private static final int SHORTEST_THOUGHT_MILLIS = 1;

	private static final int LONGEST_THOUGHT_MILLIS = 3;

	private final AtomicInteger thoughtsLeft = new AtomicInteger(Integer.MAX_VALUE);

	void think() {
		if (this.thoughtsLeft.decrementAndGet() == 0) {
			System.out.println(Shop.FAINTED);
			pause(Long.MAX_VALUE);
		}
		pause(ThreadLocalRandom.current().nextInt(SHORTEST_THOUGHT_MILLIS, LONGEST_THOUGHT_MILLIS + 1));
	}

	/**
	 * Makes one of the next thoughts the last one: the clerk says so and never goes on,
	 * with the stock read and nothing written yet.
	 * @param thoughts which one; 1 is the next
	 */
	void faintAt(int thoughts) {
		this.thoughtsLeft.set(thoughts);
	}

	private static void pause(long millis) {
		try {
			Thread.sleep(millis);
		}
		catch (InterruptedException ex) {
			throw new IllegalStateException("Nobody interrupts a clerk", ex);
		}
	}

}
