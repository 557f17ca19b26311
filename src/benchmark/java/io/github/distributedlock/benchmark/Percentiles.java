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

	static Percentiles of(Waits waits) {
		return new Percentiles(waits.percentile(50) / 1000, waits.percentile(90) / 1000, waits.percentile(99) / 1000,
				waits.percentile(100) / 1000);
	}

	static Percentiles parse(String text) {
		String[] parts = text.split("/");
		return new Percentiles(Long.parseLong(parts[0]), Long.parseLong(parts[1]), Long.parseLong(parts[2]),
				Long.parseLong(parts[3]));
	}

	@Override
	public String toString() {
		return this.p50 + "/" + this.p90 + "/" + this.p99 + "/" + this.max;
	}

}
