package io.github.distributedlock.demo;

import java.io.PrintStream;

/**
 * A bar that grows on a terminal; elsewhere a line for each quarter of the way.
 */
final class Progress {

	private static final int WIDTH = 79;

	private static final int BAR = 24;

	private static final int QUARTERS = 4;

	private final PrintStream out;

	private final boolean terminal;

	private String title = "";

	private int quarter;

	Progress(PrintStream out, boolean terminal) {
		this.out = out;
		this.terminal = terminal;
	}

	void show(String title, int done, int all, String what) {
		if (!this.terminal && !isNews(title, QUARTERS * done / all)) {
			return;
		}
		int filled = BAR * done / all;
		String line = "%-34s [%s%s] %d of %d %s".formatted(title, "#".repeat(filled), ".".repeat(BAR - filled), done,
				all, what);
		this.out.print(this.terminal ? "\r" + pad(line) : line + "\n");
		this.out.flush();
	}

	/**
	 * Takes the bar away.
	 */
	void clear() {
		if (this.terminal) {
			this.out.print("\r" + pad("") + "\r");
			this.out.flush();
		}
	}

	private boolean isNews(String title, int quarter) {
		boolean news = !title.equals(this.title) || quarter > this.quarter;
		if (news) {
			this.title = title;
			this.quarter = quarter;
		}
		return news;
	}

	private static String pad(String line) {
		return line + " ".repeat(Math.max(0, WIDTH - line.length()));
	}

}
