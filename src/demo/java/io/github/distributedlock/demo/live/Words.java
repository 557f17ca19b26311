package io.github.distributedlock.demo.live;

import java.util.Locale;
import java.util.function.BiFunction;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/**
 * Finds the words that have a colour.
 */
final class Words {

	private static final Pattern STATES = Pattern
		.compile(Stream.of(State.values()).map(State::toString).collect(Collectors.joining("|", "\\b(", ")\\b")));

	private Words() {
	}

	/**
	 * Paints the names of states.
	 * @param brush makes of a name and its state what is to stand there
	 */
	static String paint(String line, BiFunction<String, State, String> brush) {
		return STATES.matcher(line)
			.replaceAll((word) -> Matcher
				.quoteReplacement(brush.apply(word.group(), State.valueOf(word.group().toUpperCase(Locale.ROOT)))));
	}

}
