package io.github.distributedlock.demo.live;

import java.time.Duration;
import java.util.List;
import java.util.Optional;

/**
 * The view at one moment.
 *
 * @param at the time since the start
 * @param jvms each JVM, by number
 * @param keys each key
 */
record Look(Duration at, List<Jvm> jvms, List<Key> keys) {

	static final Look NOTHING = new Look(Duration.ZERO, List.of(), List.of());

	Jvm jvm(int number) {
		return this.jvms.get(number - 1);
	}

	/**
	 * The keys that a JVM has in the store, whether it lives or not.
	 */
	List<String> keysOf(int jvm) {
		return this.keys.stream()
			.filter((key) -> key.holder().filter((holder) -> holder.jvm() == jvm).isPresent())
			.map(Key::key)
			.toList();
	}

	/**
	 * A JVM.
	 *
	 * @param rate how many locks the JVM acquires in a second
	 * @param locks the answer of the JVM's endpoint, if there is one
	 */
	record Jvm(int number, State state, double rate, Optional<Locks> locks) {

		String name() {
			return "JVM " + this.number;
		}

	}

	/**
	 * A key.
	 *
	 * @param holder the holder of the key, as the store has it
	 */
	record Key(String key, Optional<Holder> holder) {
	}

}
