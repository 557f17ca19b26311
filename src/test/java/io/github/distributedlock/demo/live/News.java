package io.github.distributedlock.demo.live;

import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/**
 * What is different from one look to the next, and worth a sentence.
 */
final class News {

	private final Look before;

	private final Look now;

	private final List<String> sentences = new ArrayList<>();

	private News(Look before, Look now) {
		this.before = before;
		this.now = now;
	}

	static List<String> of(Look before, Look now) {
		News news = new News(before, now);
		now.jvms().forEach(news::tell);
		now.keys().forEach(news::tell);
		return news.sentences;
	}

	private void tell(Look.Jvm jvm) {
		Optional<Look.Jvm> old = this.before.jvms().stream().filter((one) -> one.number() == jvm.number()).findFirst();
		if (old.map(Look.Jvm::state).filter((state) -> state == jvm.state()).isEmpty()) {
			List<String> keys = this.now.keysOf(jvm.number());
			boolean leaves = jvm.state() == State.PAUSED || jvm.state() == State.KILLED;
			add(jvm.name() + " is " + jvm.state()
					+ ((leaves && !keys.isEmpty()) ? " and has " + String.join(", ", keys) : ""));
		}
		Optional<Locks> oldLocks = old.flatMap(Look.Jvm::locks);
		jvm.locks().ifPresent((locks) -> locks.losses().forEach((reason, count) -> {
			long more = count - oldLocks.map((known) -> known.losses().get(reason)).orElse(0L);
			if (more > 0) {
				add(jvm.name() + " has lost " + more + ((more == 1) ? " lock: " : " locks: ") + reason);
			}
		}));
	}

	private void tell(Look.Key key) {
		Optional<Integer> old = this.before.keys()
			.stream()
			.filter((one) -> one.key().equals(key.key()))
			.findFirst()
			.flatMap(Look.Key::holder)
			.map(Holder::jvm)
			.filter((jvm) -> this.now.jvm(jvm).state() != State.RUNNING);
		Optional<Integer> next = key.holder().map(Holder::jvm);
		if (old.isPresent() && next.isPresent() && !old.equals(next)) {
			add("JVM " + next.get() + " has " + key.key() + ", which JVM " + old.get() + " had");
		}
	}

	private void add(String sentence) {
		this.sentences.add("%7s  %s.".formatted(Frame.seconds(this.now.at()), sentence));
	}

}
