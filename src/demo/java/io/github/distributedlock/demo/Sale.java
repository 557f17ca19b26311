package io.github.distributedlock.demo;

import java.time.Duration;
import java.util.Collection;
import java.util.List;
import java.util.function.BooleanSupplier;

/**
 * One round of the sale, as the director sees it.
 */
final class Sale {

	private static final long LOOK_MILLIS = 50;

	private static final Duration LONGEST = Duration.ofSeconds(30);

	private final String sku;

	private final int units;

	private final Stock stock;

	private final Progress progress;

	private final long start = System.nanoTime();

	Sale(String sku, int units, Stock stock, Progress progress) {
		this.sku = sku;
		this.units = units;
		this.stock = stock;
		this.progress = progress;
		stock.leave(sku, units);
	}

	String sku() {
		return this.sku;
	}

	/**
	 * Shows the progress until all buyers have gone home.
	 */
	void awaitEnd(String title, Collection<Branch> branches) throws InterruptedException {
		await(title, () -> branches.stream().allMatch((branch) -> branch.isClosed(this.sku)));
	}

	/**
	 * Shows the progress until something has happened.
	 */
	void await(String title, BooleanSupplier condition) throws InterruptedException {
		while (!condition.getAsBoolean()) {
			if (System.nanoTime() - this.start > LONGEST.toNanos()) {
				throw new IllegalStateException(title + ": not over after " + LONGEST.toSeconds() + " s");
			}
			show(title);
			Thread.sleep(LOOK_MILLIS);
		}
		show(title);
	}

	Round result(Collection<Branch> branches) {
		List<Integer> sales = branches.stream().map((branch) -> this.stock.sold(this.sku, branch.name())).toList();
		return new Round(this.units, sales, this.stock.left(this.sku),
				Duration.ofNanos(System.nanoTime() - this.start));
	}

	private void show(String title) {
		this.progress.show(title, this.units - this.stock.left(this.sku), this.units, "units");
	}

}
