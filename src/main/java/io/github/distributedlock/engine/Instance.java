package io.github.distributedlock.engine;

import java.net.InetAddress;
import java.net.UnknownHostException;
import java.security.SecureRandom;
import java.util.concurrent.atomic.AtomicLong;

import io.github.distributedlock.backend.Waiter;

/**
 * The identity of this JVM in the store: {@code app@host/pid#random}, so that the owner
 * of a lock can be found by its name. The random part is made at run time: neither a
 * restart with the same pid nor a native image may repeat it.
 */
final class Instance {

	private final String id;

	/**
	 * What all our tokens begin with.
	 */
	private final String prefix;

	/**
	 * Its requests that want a key alone.
	 */
	private final Waiter exclusive;

	private final AtomicLong acquisitions = new AtomicLong();

	Instance(String application) {
		this.id = plain(application) + "@" + plain(host()) + "/" + ProcessHandle.current().pid() + "#"
				+ Long.toString(new SecureRandom().nextLong() & Long.MAX_VALUE, Character.MAX_RADIX);
		this.prefix = this.id + ":";
		this.exclusive = Waiter.exclusive(this.id);
	}

	String id() {
		return this.id;
	}

	Waiter exclusive() {
		return this.exclusive;
	}

	/**
	 * A token that no other acquisition has.
	 */
	String nextOwner() {
		return this.prefix + this.acquisitions.incrementAndGet();
	}

	/**
	 * Whether a token is one of ours.
	 */
	boolean hasMade(String owner) {
		return owner.startsWith(this.prefix);
	}

	/**
	 * Without our separators, so that a name cannot look like a reservation.
	 */
	private static String plain(String name) {
		return name.replaceAll("[^A-Za-z0-9._-]", "-");
	}

	private static String host() {
		String name = System.getenv("HOSTNAME");
		if (name != null && !name.isBlank()) {
			return name;
		}
		try {
			return InetAddress.getLocalHost().getHostName();
		}
		catch (UnknownHostException ex) {
			return "unknown";
		}
	}

}
