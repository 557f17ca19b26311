package io.github.distributedlock.backend.redis;

import java.util.concurrent.locks.ReentrantLock;
import java.util.stream.Stream;

/**
 * Locks by which the threads of this JVM deal with a name one after another. Two names
 * may have the same lock by chance.
 */
record NameLocks(ReentrantLock[] locks) {

	NameLocks() {
		this(Stream.generate(ReentrantLock::new).limit(64).toArray(ReentrantLock[]::new));
	}

	ReentrantLock of(String name) {
		return this.locks[Math.floorMod(name.hashCode(), this.locks.length)];
	}

}
