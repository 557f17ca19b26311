package io.github.distributedlock.multijvm;

import java.util.Arrays;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.concurrent.TimeUnit;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * The history of one lock, from the output of {@code MONITOR}: holders, waiters,
 * wake-ups.
 * <p>
 * A slice is the time from an acquisition of the lock in the store to the release there,
 * by one JVM. A JVM is bypassed by each slice of another JVM that begins while the former
 * is registered as a waiter, or has the reservation. A JVM that stands still for longer
 * than a reservation lasts lets somebody past: that is no bypass, but a lapse.
 */
final class StoreTrace {

	private static final Pattern LINE = Pattern.compile("(\\d+)\\.(\\d+) \\[\\d+ (\\S+)] (.*)", Pattern.DOTALL);

	private static final Pattern WORD = Pattern.compile("\"((?:[^\"\\\\]++|\\\\.)*+)\"");

	private static final String RESERVED = "reserved:";

	private final String key;

	private final String lock;

	private final String waiters;

	private final Map<String, Integer> slices = new TreeMap<>();

	private final Map<String, Integer> bypasses = new HashMap<>();

	/** The JVMs that have a place; they may ask for a place that they have. */
	private final Set<String> places = new HashSet<>();

	private final Set<String> waiting = new HashSet<>();

	private String value = "";

	private long until;

	private int mostBypasses;

	private int handOvers;

	private int wakeUps;

	private int lapses;

	StoreTrace(String key) {
		this.key = key;
		this.lock = "lock:{" + key + "}";
		this.waiters = "lock-waiters:{" + key + "}";
	}

	/**
	 * Reads what was shown since nobody had the lock.
	 * @param lines the lines, in order
	 * @return this
	 */
	StoreTrace read(List<String> lines) {
		lines.stream().map(LINE::matcher).filter(Matcher::matches).forEach((line) -> {
			long now = TimeUnit.SECONDS.toMicros(Long.parseLong(line.group(1))) + Long.parseLong(line.group(2));
			String[] words = WORD.matcher(line.group(4)).results().map((word) -> word.group(1)).toArray(String[]::new);
			read(now, words);
		});
		return this;
	}

	private void read(long now, String[] words) {
		String command = words[0].toUpperCase(Locale.ROOT);
		String key = (words.length > 1) ? words[1] : "";
		if (command.equals("PUBLISH")) {
			boolean ours = words[2].endsWith(" " + this.key);
			this.wakeUps += ours ? 1 : 0;
			this.handOvers += (ours && words[2].startsWith("granted: ")) ? 1 : 0;
		}
		else if (key.equals(this.waiters) && command.equals("ZADD")) {
			String waiter = words[words.length - 1];
			if (this.places.add(waiter)) {
				this.bypasses.put(waiter, 0);
				this.waiting.add(waiter);
			}
		}
		else if (key.equals(this.waiters) && command.equals("ZREM")) {
			this.places.remove(words[2]);
			this.waiting.remove(words[2]);
		}
		else if (key.equals(this.lock) && command.equals("DEL")) {
			this.value = "";
		}
		else if (key.equals(this.lock) && command.equals("SET")) {
			List<String> options = Arrays.stream(words).map((word) -> word.toUpperCase(Locale.ROOT)).toList();
			if (!options.contains("NX") || this.value.isEmpty() || now >= this.until) {
				becomes(words[2]);
				long lease = Long.parseLong(words[options.lastIndexOf("PX") + 1]);
				this.until = now + TimeUnit.MILLISECONDS.toMicros(lease);
			}
		}
	}

	private void becomes(String next) {
		String before = this.value;
		this.value = next;
		if (next.startsWith(RESERVED)) {
			this.waiting.add(next.substring(RESERVED.length()));
			return;
		}
		String instance = instance(next);
		if (instance(before).equals(instance)) {
			return; // Another of the same slice.
		}
		boolean lapsed = before.startsWith(RESERVED) && !before.equals(RESERVED + instance);
		this.lapses += lapsed ? 1 : 0;
		this.handOvers += before.equals(RESERVED + instance) ? 1 : 0;
		this.slices.merge(instance, 1, Integer::sum);
		this.waiting.remove(instance);
		if (!lapsed) {
			this.waiting.forEach((other) -> this.mostBypasses = Math.max(this.mostBypasses,
					this.bypasses.merge(other, 1, Integer::sum)));
		}
	}

	private static String instance(String owner) {
		return owner.replaceFirst(":.*", "");
	}

	/**
	 * How many slices each instance had.
	 */
	Map<String, Integer> slices() {
		return this.slices;
	}

	/**
	 * How many slices began with a reservation or a grant.
	 */
	int handOvers() {
		return this.handOvers;
	}

	/**
	 * How often one that waited was bypassed at most.
	 */
	int mostBypasses() {
		return this.mostBypasses;
	}

	int wakeUps() {
		return this.wakeUps;
	}

	int lapses() {
		return this.lapses;
	}

	@Override
	public String toString() {
		return "slices %s, %d hand-overs, %d wake-ups, at most %d bypasses, %d lapses".formatted(this.slices.values(),
				this.handOvers, this.wakeUps, this.mostBypasses, this.lapses);
	}

}
