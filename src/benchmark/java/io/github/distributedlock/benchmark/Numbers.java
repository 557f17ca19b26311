package io.github.distributedlock.benchmark;

import java.util.Locale;

/**
 * Writes numbers with as many digits as mean something.
 */
final class Numbers {

	private Numbers() {
	}

	static String of(double value) {
		double size = Math.abs(value);
		if (size >= 100 || value == 0) {
			return String.format(Locale.ROOT, "%,.0f", value);
		}
		return String.format(Locale.ROOT, (size >= 10) ? "%.1f" : (size >= 0.1) ? "%.2f" : "%.3f", value);
	}

}
