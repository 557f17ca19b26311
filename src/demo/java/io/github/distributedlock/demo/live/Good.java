package io.github.distributedlock.demo.live;

import java.time.Duration;
import java.util.Locale;
import java.util.concurrent.ThreadLocalRandom;

/**
 * The goods for sale, each under a lock of its own: slow, faster, and fast ones.
 */
enum Good {

	/** Slow enough that the lease is renewed meanwhile. */
	APPLES(1500, 3000),

	PEARS(100, 400),

	PLUMS(1, 10);

	private final int shortestMillis;

	private final int longestMillis;

	Good(int shortestMillis, int longestMillis) {
		this.shortestMillis = shortestMillis;
		this.longestMillis = longestMillis;
	}

	String sku() {
		return name().toLowerCase(Locale.ROOT);
	}

	String key() {
		return "stock:" + sku();
	}

	/**
	 * How long the next sale takes.
	 */
	Duration time() {
		return Duration.ofMillis(ThreadLocalRandom.current().nextInt(this.shortestMillis, this.longestMillis + 1));
	}

}
