package io.github.distributedlock.demo.live;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/**
 * The differences between two looks that are worth a sentence.
 * <p>
 * A look does not see everything: a paused JVM does not tell of losses, and a key may be
 * free for a moment before another JVM has it. So the last known state is kept.
 */
final class News {

	private final List<String> sentences = new ArrayList<>();

	private final Map<Integer, State> states = new HashMap<>();

	private final Map<Integer, Map<String, Long>> losses = new HashMap<>();

	private final Map<String, Integer> holders = new HashMap<>();

	/**
	 * Adds what is new.
	 * @return whether there is anything
	 */
	boolean update(Look look) {
		int before = this.sentences.size();
		look.jvms().forEach((jvm) -> tell(jvm, look));
		look.keys().forEach((key) -> tell(key, look));
		return this.sentences.size() > before;
	}

	/**
	 * All that has happened, the latest last.
	 */
	List<String> sentences() {
		return this.sentences;
	}

	private void tell(Look.Jvm jvm, Look look) {
		if (this.states.put(jvm.number(), jvm.state()) != jvm.state()) {
			List<String> keys = look.keysOf(jvm.number());
			boolean leaves = jvm.state() == State.PAUSED || jvm.state() == State.KILLED;
			add(look, jvm.name() + " is " + jvm.state()
					+ ((leaves && !keys.isEmpty()) ? " and has " + String.join(", ", keys) : ""));
		}
		if (jvm.state() == State.STARTING) {
			// A new process counts from 0.
			this.losses.remove(jvm.number());
		}
		jvm.locks().ifPresent((locks) -> {
			Map<String, Long> old = Optional.ofNullable(this.losses.put(jvm.number(), locks.losses())).orElse(Map.of());
			locks.losses().forEach((reason, count) -> {
				long more = count - old.getOrDefault(reason, 0L);
				if (more > 0) {
					add(look, jvm.name() + " has lost " + more + ((more == 1) ? " lock: " : " locks: ") + reason);
				}
			});
		});
	}

	private void tell(Look.Key key, Look look) {
		key.holder().map(Holder::jvm).ifPresent((next) -> {
			Integer old = this.holders.put(key.key(), next);
			if (old != null && !old.equals(next) && look.jvm(old).state() != State.RUNNING) {
				add(look, "JVM " + next + " has " + key.key() + ", which JVM " + old + " had");
			}
		});
	}

	private void add(Look look, String sentence) {
		this.sentences.add("%7s  %s.".formatted(Frame.seconds(look.at()), sentence));
	}

}
