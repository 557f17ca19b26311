package io.github.distributedlock.demo;

/**
 * How many units are left, and how many each JVM has sold.
 */
interface Stock {

	int left(String sku);

	void leave(String sku, int left);

	/**
	 * Notes that one more unit was sold; in one step, so that each sale counts.
	 */
	void recordSale(String sku, String seller);

	int sold(String sku, String seller);

}
