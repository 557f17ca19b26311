package io.github.distributedlock.docs;

import io.github.distributedlock.annotation.DistributedLock;

/**
 * Locks in another store than most.
 */
public class Closings {

	// tag::two-stores[]
	@DistributedLock(key = "invoice:#{#id}", store = "jdbcLock")
	public String close(String id) {
		return "closed " + id;
	}
	// end::two-stores[]

}
