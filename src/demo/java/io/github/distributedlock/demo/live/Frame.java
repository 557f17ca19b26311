package io.github.distributedlock.demo.live;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import java.util.function.Function;
import java.util.stream.Collectors;

/**
 * A look as lines of text, as many as those of any other.
 */
final class Frame {

	static final int WIDTH = 79;

	static final int NEWS = 6;

	private static final String NONE = "-";

	private Frame() {
	}

	/**
	 * Makes the lines.
	 * @param news what has happened, the latest last
	 * @param answer what there is to say to the last line that was entered
	 */
	static List<String> of(Look look, List<String> news, String answer) {
		List<String> lines = new ArrayList<>();
		lines.add("%-65s%14s".formatted("What the endpoint distributedlocks of three JVMs says", seconds(look.at())));
		lines.add("");
		lines.add("KEY            HOLDER           LEASE LEFT  HELD FOR  RENEWED  WAITING IN JVM");
		look.keys().forEach((key) -> lines.add(row(key, look)));
		lines.add("");
		lines.add("JVM  STATE      LOCKS/S    HOLDS  WAITING     LOST  RENEWED LATE");
		look.jvms().forEach((jvm) -> lines.add(row(jvm)));
		lines.add("");
		lines.addAll(news.subList(Math.max(0, news.size() - NEWS), news.size()));
		for (int missing = news.size(); missing < NEWS; missing++) {
			lines.add("");
		}
		lines.add("");
		lines.add(answer);
		lines.add(Command.HELP);
		return lines.stream().map(String::stripTrailing).toList();
	}

	private static String row(Look.Key key, Look look) {
		Optional<Holder> holder = key.holder();
		Optional<Look.Jvm> jvm = holder.map((known) -> look.jvm(known.jvm()));
		Optional<Locks.Hold> hold = jvm.flatMap(Look.Jvm::locks).flatMap((locks) -> locks.hold(key.key()));
		return "%-15s%-17s%10s%10s%9s  %s".formatted(key.key(),
				jvm.map((known) -> known.name() + ", " + known.state()).orElse(NONE),
				text(holder, (known) -> seconds(known.left())), text(hold, (known) -> seconds(known.held())),
				text(hold, Locks.Hold::renewals), waiting(key.key(), look));
	}

	private static String waiting(String key, Look look) {
		return look.jvms()
			.stream()
			.map((jvm) -> jvm.number() + ": " + text(jvm.locks(), (locks) -> locks.queues().getOrDefault(key, 0L)))
			.collect(Collectors.joining("  "));
	}

	private static String row(Look.Jvm jvm) {
		Optional<Locks> locks = jvm.locks();
		return "%-5d%-10s%8s%9s%9s%9s%14s".formatted(jvm.number(), jvm.state(),
				text(locks, (known) -> String.format(Locale.ROOT, "%.1f", jvm.rate())),
				text(locks, (known) -> known.holds().size()), text(locks, Locks::waiting), text(locks, Locks::lost),
				text(locks, Locks::lateRenewals));
	}

	private static <T> String text(Optional<T> value, Function<T, Object> column) {
		return value.map(column).map(String::valueOf).orElse(NONE);
	}

	static String seconds(Duration time) {
		return String.format(Locale.ROOT, "%.1f s", time.toMillis() / 1000.0);
	}

}
