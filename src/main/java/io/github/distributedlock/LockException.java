package io.github.distributedlock;

import java.util.Collection;
import java.util.stream.Collectors;

import org.jspecify.annotations.Nullable;

/**
 * What all exceptions of this library have in common, and how their messages, and the
 * log, write keys. A key may hold whatever somebody sent to the application: a line break
 * in it must not look like a line of the log, nor an escape sequence reach a terminal.
 */
public abstract class LockException extends RuntimeException {

	private static final int MOST_NAMED = 10;

	LockException(String message, @Nullable Throwable cause) {
		super(message, cause);
	}

	/**
	 * Writes control characters and line separators as escapes, as in Java.
	 * @param key a key, or other text that holds one
	 * @return the text on one line; the same object if there is nothing to escape
	 */
	public static String printable(String key) {
		return key.chars().anyMatch(LockException::isControl)
				? key.chars().mapToObj(LockException::printable).collect(Collectors.joining()) : key;
	}

	/**
	 * Writes several keys; of many only the first ten.
	 * @param keys the keys
	 * @return the keys, each {@linkplain #printable(String) printable}, in brackets
	 */
	public static String printable(Collection<? extends @Nullable String> keys) {
		if (keys.size() <= MOST_NAMED) {
			return printable(keys.toString());
		}
		String first = keys.stream().limit(MOST_NAMED).map(String::valueOf).collect(Collectors.joining(", "));
		return printable("[" + first + " and " + (keys.size() - MOST_NAMED) + " more]");
	}

	private static boolean isControl(int character) {
		return Character.isISOControl(character) || character == '\u2028' || character == '\u2029';
	}

	private static String printable(int character) {
		if (!isControl(character)) {
			return Character.toString(character);
		}
		return switch (character) {
			case '\n' -> "\\n";
			case '\r' -> "\\r";
			case '\t' -> "\\t";
			default -> String.format("\\u%04x", character);
		};
	}

}
