package io.github.distributedlock.demo;

import org.springframework.beans.factory.annotation.Value;
import org.springframework.stereotype.Component;

/**
 * Sells as if nobody else did: reads the stock, thinks a little, and writes what is left.
 */
@Component
public class Till {

	private final Stock stock;

	private final Clerk clerk;

	private final String seller;

	Till(Stock stock, Clerk clerk, @Value("${spring.application.name}") String seller) {
		this.stock = stock;
		this.seller = seller;
		this.clerk = clerk;
	}

	/**
	 * Sells one unit.
	 * @param sku what to sell
	 * @return {@code false} if there was none left
	 */
	public boolean sell(String sku) {
		int left = this.stock.left(sku);
		if (left == 0) {
			return false;
		}
		this.clerk.think(); // Meanwhile somebody else may read the same number ...
		this.stock.leave(sku, left - 1); // ... and then both write this one.
		this.stock.recordSale(sku, this.seller);
		return true;
	}

}
