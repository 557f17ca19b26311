package io.github.distributedlock.demo;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Predicate;

import io.github.distributedlock.LockException;
import io.github.distributedlock.fixtures.Patience;

/**
 * Buy one unit after the other, all at the same time, until there is none left.
 */
final class Buyers {

	static final int NUMBER = 8;

	private static final Duration OPENING_HOURS = Duration.ofSeconds(15);

	private Buyers() {
	}

	static void buyOut(String sku, Predicate<String> till) {
		long opened = System.nanoTime();
		List<Thread> buyers = new ArrayList<>();
		for (int number = 1; number <= NUMBER; number++) {
			Thread buyer = new Thread(() -> {
				boolean more = true;
				while (more && System.nanoTime() - opened < OPENING_HOURS.toNanos()) {
					more = mayHaveMore(sku, till);
				}
			}, "buyer-" + number);
			buyer.start();
			buyers.add(buyer);
		}
		buyers.forEach(Patience::join);
	}

	private static boolean mayHaveMore(String sku, Predicate<String> till) {
		try {
			return till.test(sku);
		}
		catch (LockException ex) {
			// Another buyer has the lock: nothing is sold, and the buyer asks again.
			return true;
		}
	}

}
