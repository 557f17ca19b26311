package io.github.distributedlock.demo.live;

import java.time.Duration;
import java.util.Map;
import java.util.Optional;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * The holder of a key in the store, as the endpoint {@code distributedlocks?key=…} of any
 * JVM tells.
 *
 * @param jvm the JVM that holds the key
 * @param left the rest of the lease
 */
record Holder(int jvm, Duration left) {

	/** Followed by the JVM's number. The owner of a lock begins with this name. */
	static final String APPLICATION = "jvm-";

	private static final Pattern OWNER = Pattern.compile(APPLICATION + "(\\d+)@.*");

	static Optional<Holder> of(Map<String, Object> json) {
		return Locks.list(json, "holders").stream().findFirst().map(Holder::ofHolder);
	}

	private static Holder ofHolder(Map<String, Object> json) {
		Matcher owner = OWNER.matcher((String) json.get("owner"));
		if (!owner.matches()) {
			throw new IllegalStateException("No JVM of ours: " + json);
		}
		Object left = json.get("remaining");
		return new Holder(Integer.parseInt(owner.group(1)),
				(left != null) ? Duration.parse((String) left) : Duration.ZERO);
	}

}
