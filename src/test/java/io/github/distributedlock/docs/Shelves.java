package io.github.distributedlock.docs;

// tag::jdk-locks[]
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.locks.ReadWriteLock;

import io.github.distributedlock.concurrent.JdkLocks;

public class Shelves {

	private final Map<String, String> shelves = new ConcurrentHashMap<>();

	private final ReadWriteLock lock;

	public Shelves(JdkLocks locks) {
		this.lock = locks.readWriteLock("shelves");
	}

	public void swap(String sku, String other) {
		this.lock.writeLock().lock();
		try {
			String shelf = this.shelves.get(sku);
			this.shelves.put(sku, this.shelves.get(other));
			this.shelves.put(other, shelf);
		}
		finally {
			this.lock.writeLock().unlock();
		}
	}

	// end::jdk-locks[]
	String shelf(String sku) {
		return this.shelves.get(sku);
	}

	Shelves put(String sku, String shelf) {
		this.shelves.put(sku, shelf);
		return this;
	}

	// tag::jdk-locks[]

}
// end::jdk-locks[]
