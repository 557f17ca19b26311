package io.github.distributedlock.benchmark;

import java.util.Arrays;
import java.util.Collection;
import java.util.stream.Collectors;
import java.util.stream.IntStream;

/**
 * Counts durations by their length, to a sixteenth. For one thread.
 */
final class Durations {

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

	/**
	 * How many there were.
	 */
	long total() {
		return this.total;
	}

	/**
	 * Returns the counts of several threads, or JVMs, together.
	 */
	static Durations sum(Collection<Durations> all) {
		Durations sum = new Durations();
		for (Durations each : all) {
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
	 * @return milliseconds
	 */
	double percentile(int percent) {
		return nanos(percent) / 1e6;
	}

	private long nanos(int percent) {
		long left = (long) Math.ceil(this.total * percent / 100.0);
		for (int i = 0; i < this.counts.length; i++) {
			left -= this.counts[i];
			if (left <= 0) {
				return Math.min(longest(i), this.max);
			}
		}
		return this.max;
	}

	/**
	 * Reads the output of {@link #toString()}.
	 */
	static Durations parse(String text) {
		Durations durations = new Durations();
		String[] parts = text.split(",");
		durations.max = Long.parseLong(parts[0]);
		for (String part : Arrays.asList(parts).subList(1, parts.length)) {
			int colon = part.indexOf(':');
			long count = Long.parseLong(part.substring(colon + 1));
			durations.counts[Integer.parseInt(part.substring(0, colon))] = count;
			durations.total += count;
		}
		return durations;
	}

	/**
	 * One word for another JVM to {@link #parse parse}.
	 */
	@Override
	public String toString() {
		return IntStream.range(0, this.counts.length)
			.filter((index) -> this.counts[index] > 0)
			.mapToObj((index) -> index + ":" + this.counts[index])
			.collect(Collectors.joining(",", this.max + ",", ""));
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
