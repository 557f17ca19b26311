package io.github.distributedlock.demo.live;

import java.util.Locale;

/**
 * The state of a JVM. The colours are those of a terminal and of a picture.
 */
enum State {

	STARTING("36", "#39c5cf"),

	RUNNING("32", "#3fb950"),

	/** Stopped by a signal: the locks are lost when their leases have run out. */
	PAUSED("33", "#d29922"),

	/** The process has ended. */
	KILLED("31", "#f85149"),

	/** The JVM runs, but the endpoint has not answered in time. */
	SILENT("35", "#bc8cff");

	private final String ansi;

	private final String rgb;

	State(String ansi, String rgb) {
		this.ansi = ansi;
		this.rgb = rgb;
	}

	/**
	 * The digits of the escape sequence.
	 */
	String ansi() {
		return this.ansi;
	}

	String rgb() {
		return this.rgb;
	}

	@Override
	public String toString() {
		return name().toLowerCase(Locale.ROOT);
	}

}
