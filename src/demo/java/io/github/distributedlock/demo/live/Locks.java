package io.github.distributedlock.demo.live;

import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import java.util.stream.Collectors;

/**
 * The locks of a JVM, as the endpoint {@code distributedlocks} tells.
 *
 * @param holds the locks that the JVM holds
 * @param queues how many requests of the JVM queue up for each key
 * @param waiting how many requests of the JVM wait
 * @param losses how many locks the JVM has lost, by reason
 * @param lateRenewals how many leases the JVM has nearly lost
 */
record Locks(List<Hold> holds, Map<String, Long> queues, long waiting, Map<String, Long> losses, long lateRenewals) {

	static Locks of(Map<String, Object> json, Instant now) {
		return new Locks(list(json, "holds").stream().map((hold) -> Hold.of(hold, now)).toList(),
				list(json, "queues").stream()
					.collect(Collectors.toMap((queue) -> (String) queue.get("key"),
							(queue) -> number(queue.get("length")))),
				number(json.get("requestsWaiting")), losses(json), number(json.get("lateRenewals")));
	}

	long lost() {
		return this.losses.values().stream().mapToLong(Long::longValue).sum();
	}

	Optional<Hold> hold(String key) {
		return this.holds.stream().filter((hold) -> hold.key().equals(key)).findFirst();
	}

	@SuppressWarnings("unchecked")
	private static Map<String, Long> losses(Map<String, Object> json) {
		Map<String, Long> losses = new TreeMap<>();
		((Map<String, Object>) json.get("losses")).forEach((reason, count) -> losses.put(reason, number(count)));
		return losses;
	}

	@SuppressWarnings("unchecked")
	static List<Map<String, Object>> list(Map<String, Object> json, String name) {
		return (List<Map<String, Object>>) json.get(name);
	}

	// Some of the parsers that Spring Boot may find make a double of each number.
	static long number(Object number) {
		return ((Number) number).longValue();
	}

	/**
	 * A key that is held.
	 *
	 * @param held for how long the request has had the key
	 * @param renewals how often the lease was renewed
	 */
	record Hold(String key, Duration held, long renewals) {

		static Hold of(Map<String, Object> json, Instant now) {
			Duration held = Duration.between(Instant.parse((String) json.get("since")), now);
			return new Hold((String) json.get("key"), held.isNegative() ? Duration.ZERO : held,
					number(json.get("renewals")));
		}

	}

}
