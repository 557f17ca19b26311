package io.github.distributedlock.demo;

import java.time.Duration;
import java.util.List;

/**
 * How one round of the sale has ended.
 *
 * @param units how many units there were
 * @param sales how many were sold, by each JVM
 * @param left what the stock says is left
 * @param time how long the round took
 */
record Round(int units, List<Integer> sales, int left, Duration time) {

	int sold() {
		return this.sales.stream().mapToInt(Integer::intValue).sum();
	}

	/**
	 * How many buyers paid for a unit that does not exist.
	 */
	int oversold() {
		return Math.max(0, sold() - this.units);
	}

	/**
	 * Returns whether each unit was sold once.
	 */
	boolean isExact() {
		return sold() == this.units && this.left == 0;
	}

}
