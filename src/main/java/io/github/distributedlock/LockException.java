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
 * The superclass of all exceptions of this library: an exception has a problem, a remedy
 * if one is known, and the keys that the problem is about.
 * <p>
 * The static methods are for code that writes messages as this library does, such as a
 * store, an adapter or a listener of your own. A key may contain any text that somebody
 * sent to the application: a line break in a key must not look like a line of the log,
 * and an escape sequence must not reach a terminal.
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
	 * Returns the problem.
	 * @return the message without the {@linkplain #remedy() remedy}
	 */
	public final String problem() {
		return this.problem;
	}

	/**
	 * Returns the remedy. The message is the problem, followed by the remedy in
	 * parentheses.
	 * @return the remedy, empty if the remedy is only part of the problem, or not known
	 */
	public final Optional<String> remedy() {
		return Optional.ofNullable(this.remedy);
	}

	/**
	 * Returns the keys that the problem is about, as given by the request or the handle.
	 * @return the keys; empty if the problem is about no key, or if only the message
	 * names the keys, as with {@link LockBackendException} and
	 * {@link LockDefinitionException}
	 */
	public final List<String> keys() {
		return this.keys;
	}

	/**
	 * Returns a failure and the causes of the failure. A store uses the causes to
	 * interpret an exception of a client library. Each failure occurs once in the result,
	 * so that the method terminates even if a failure is among the causes of itself.
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
	 * Writes the control characters and line separators of a text as escapes, as in Java.
	 * @param key a key, or other text that contains a key
	 * @return the text on one line; the same object if there is nothing to escape
	 */
	public static String printable(String key) {
		return key.chars().anyMatch(LockException::isControl)
				? key.chars().mapToObj(LockException::printable).collect(Collectors.joining()) : key;
	}

	/**
	 * Writes several keys; of more than ten keys only the first ten, and the number of
	 * the others.
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
