package io.github.distributedlock.docs;

/**
 * What the examples are about.
 */
public class Order {

	private final String id;

	public Order(String id) {
		this.id = id;
	}

	public String getId() {
		return this.id;
	}

}
