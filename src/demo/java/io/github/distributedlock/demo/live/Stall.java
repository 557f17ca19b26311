package io.github.distributedlock.demo.live;

import java.time.Duration;

import io.github.distributedlock.annotation.DistributedLock;

/**
 * Sells to one customer at a time of all customers in all JVMs.
 */
public class Stall {

	/**
	 * Sells one unit.
	 * @param sku what to sell
	 * @param time how long it takes
	 */
	@DistributedLock(key = "stock:#{#sku}")
	public void sell(String sku, Duration time) {
		try {
			Thread.sleep(time.toMillis());
		}
		catch (InterruptedException ex) {
			throw new IllegalStateException("Nobody interrupts a sale", ex);
		}
	}

}
