package io.github.distributedlock.benchmark;

/**
 * How long one waits, in microseconds.
 *
 * @param p50 half of all wait no longer
 * @param p90 nine of ten
 * @param p99 ninety-nine of a hundred
 * @param max all
 */
record Percentiles(long p50, long p90, long p99, long max) {

	static Percentiles of(long[] sortedNanos) {
		return new Percentiles(at(sortedNanos, 50), at(sortedNanos, 90), at(sortedNanos, 99), at(sortedNanos, 100));
	}

	static Percentiles parse(String text) {
		String[] parts = text.split("/");
		return new Percentiles(Long.parseLong(parts[0]), Long.parseLong(parts[1]), Long.parseLong(parts[2]),
				Long.parseLong(parts[3]));
	}

	private static long at(long[] sortedNanos, int percent) {
		if (sortedNanos.length == 0) {
			return 0;
		}
		int index = (int) Math.ceil(sortedNanos.length * percent / 100.0) - 1;
		return sortedNanos[index] / 1000;
	}

	@Override
	public String toString() {
		return this.p50 + "/" + this.p90 + "/" + this.p99 + "/" + this.max;
	}

}
