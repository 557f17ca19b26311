package io.github.distributedlock.docs;

/**
 * Something slow that is asked seldom.
 */
public interface PriceSource {

	String load(String sku);

}
