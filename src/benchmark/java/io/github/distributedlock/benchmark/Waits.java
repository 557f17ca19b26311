package io.github.distributedlock.benchmark;

import java.util.Collection;

/**
 * Counts waits by their length, one in sixteen exact. For one thread.
 */
final class Waits {

	private static final int PARTS = 16;

	private static final int PART_BITS = 4;

	private final long[] counts = new long[(Long.SIZE - PART_BITS) * PARTS];

	private long total;

	private long max;

	void add(long nanos) {
		this.counts[index(nanos)]++;
		this.total++;
		this.max = Math.max(this.max, nanos);
	}

	long total() {
		return this.total;
	}

	/**
	 * What several threads have counted.
	 */
	static Waits sum(Collection<Waits> all) {
		Waits sum = new Waits();
		for (Waits each : all) {
			for (int i = 0; i < sum.counts.length; i++) {
				sum.counts[i] += each.counts[i];
			}
			sum.total += each.total;
			sum.max = Math.max(sum.max, each.max);
		}
		return sum;
	}

	/**
	 * The time that so many of a hundred do not exceed.
	 * @return nanoseconds
	 */
	long percentile(int percent) {
		long left = (long) Math.ceil(this.total * percent / 100.0);
		for (int i = 0; i < this.counts.length; i++) {
			left -= this.counts[i];
			if (left <= 0) {
				return Math.min(longest(i), this.max);
			}
		}
		return this.max;
	}

	// The short ones have a place each; each doubling after that has as many parts.
	private static int index(long nanos) {
		if (nanos < PARTS) {
			return (int) Math.max(0, nanos);
		}
		int shift = Long.SIZE - 1 - Long.numberOfLeadingZeros(nanos) - PART_BITS;
		return (shift + 1) * PARTS + (int) (nanos >>> shift) % PARTS;
	}

	private static long longest(int index) {
		if (index < PARTS) {
			return index;
		}
		int shift = index / PARTS - 1;
		return ((PARTS + index % PARTS + 1L) << shift) - 1;
	}

}
