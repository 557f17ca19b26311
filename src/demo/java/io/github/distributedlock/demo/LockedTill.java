package io.github.distributedlock.demo;

import io.github.distributedlock.annotation.DistributedLock;

import org.springframework.stereotype.Component;

/**
 * The same till, used by one buyer at a time of all buyers in all JVMs.
 */
@Component
public class LockedTill {

	private final Till till;

	private final Witness witness;

	LockedTill(Till till, Witness witness) {
		this.till = till;
		this.witness = witness;
	}

	/**
	 * Sells one unit.
	 * @param sku what to sell
	 * @return {@code false} if there was none left
	 */
	@DistributedLock(key = "stock:#{#sku}")
	public boolean sell(String sku) {
		return this.witness.watch(() -> this.till.sell(sku));
	}

}
