package io.github.distributedlock.benchmark;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;

/**
 * A logarithmic axis of whole decades.
 */
record Scale(int lowest, int highest) {

	/**
	 * The scale that has room for some values; zero stands at its lower end.
	 * @param values the values
	 */
	static Scale of(double[] values) {
		double min = Arrays.stream(values).filter((value) -> value > 0).min().orElse(1);
		double max = Arrays.stream(values).filter((value) -> value > 0).max().orElse(1);
		int lowest = (int) Math.floor(Math.log10(min));
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
