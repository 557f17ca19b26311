package io.github.distributedlock;

import java.util.ArrayList;
import java.util.Collection;
import java.util.Collections;
import java.util.IdentityHashMap;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import java.util.Set;
import java.util.stream.Collectors;

import org.jspecify.annotations.Nullable;

/**
 * What all exceptions of this library have in common: a problem and, where one is known,
 * its remedy; and the keys that it is about.
 * <p>
 * Its static methods are for code that writes messages as this library does, such as a
 * store, an adapter or a listener of your own: a key may hold whatever somebody sent to
 * the application, and a line break in it must not look like a line of the log, nor an
 * escape sequence reach a terminal.
 *
 * @since 1.0
 */
public abstract class LockException extends RuntimeException {

	private static final int MOST_NAMED = 10;

	private final String problem;

	private final @Nullable String remedy;

	private final List<String> keys;

	LockException(String problem, @Nullable String remedy, List<String> keys, @Nullable Throwable cause) {
		super((remedy != null) ? problem + " (" + remedy + ")" : problem, cause);
		this.problem = Objects.requireNonNull(problem, "problem");
		this.remedy = remedy;
		this.keys = List.copyOf(keys);
	}

	/**
	 * What is wrong.
	 * @return the message without the {@linkplain #remedy() remedy}
	 */
	public final String problem() {
		return this.problem;
	}

	/**
	 * What to do about it. The message is the problem, then this in parentheses.
	 * @return the remedy, empty if it is only part of the problem, or not known
	 */
	public final Optional<String> remedy() {
		return Optional.ofNullable(this.remedy);
	}

	/**
	 * The keys that this is about, as the request or the handle has them.
	 * @return the keys; empty if it is about none, or only the message names them, as
	 * those of {@link LockBackendException} and {@link LockDefinitionException} do
	 */
	public final List<String> keys() {
		return this.keys;
	}

	/**
	 * A failure and what has caused it: a store finds out there what its client means.
	 * Each comes once, so that this ends also where a failure is among its own causes.
	 * @param failure the failure
	 * @return the failure, its cause, the cause of that, and so on
	 */
	public static List<Throwable> causes(Throwable failure) {
		List<Throwable> causes = new ArrayList<>();
		Set<Throwable> known = Collections.newSetFromMap(new IdentityHashMap<>());
		for (Throwable cause = failure; cause != null && known.add(cause); cause = cause.getCause()) {
			causes.add(cause);
		}
		return causes;
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
