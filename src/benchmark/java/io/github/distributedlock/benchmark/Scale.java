package io.github.distributedlock.benchmark;

import java.util.ArrayList;
import java.util.List;

/**
 * A logarithmic axis of whole decades.
 */
final class Scale {

	private final int lowest;

	private final int highest;

	private Scale(int lowest, int highest) {
		this.lowest = lowest;
		this.highest = highest;
	}

	/**
	 * The scale that has room for some values; those that are not positive count as the
	 * least.
	 * @param values the values
	 * @param least the least value that is told from zero
	 */
	static Scale of(double[] values, double least) {
		double min = Double.MAX_VALUE;
		double max = least;
		for (double value : values) {
			min = Math.min(min, Math.max(value, least));
			max = Math.max(max, value);
		}
		int lowest = (int) Math.floor(Math.log10(Math.min(min, max)));
		return new Scale(lowest, Math.max(lowest + 1, (int) Math.ceil(Math.log10(max))));
	}

	/**
	 * Where a value stands.
	 * @return from 0 to 1
	 */
	double position(double value) {
		double position = (Math.log10(Math.max(value, Double.MIN_NORMAL)) - this.lowest) / (this.highest - this.lowest);
		return Math.max(0, Math.min(1, position));
	}

	/**
	 * The values that get a number.
	 */
	List<Double> ticks() {
		List<Double> ticks = new ArrayList<>();
		for (int exponent = this.lowest; exponent <= this.highest; exponent++) {
			ticks.add(Math.pow(10, exponent));
		}
		return ticks;
	}

	/**
	 * The values between two ticks.
	 */
	List<Double> minorTicks() {
		List<Double> ticks = new ArrayList<>();
		for (int exponent = this.lowest; exponent < this.highest; exponent++) {
			for (int factor = 2; factor < 10; factor++) {
				ticks.add(factor * Math.pow(10, exponent));
			}
		}
		return ticks;
	}

}
