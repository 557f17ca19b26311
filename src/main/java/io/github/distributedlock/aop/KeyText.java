package io.github.distributedlock.aop;

import java.net.URI;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collection;
import java.util.Currency;
import java.util.List;
import java.util.Locale;
import java.util.UUID;

import org.jspecify.annotations.Nullable;

import org.springframework.util.ObjectUtils;

/**
 * Turns the value of an expression into the text of keys. Only values that read the same
 * in every JVM are let through: an object without a {@code toString} of its own, or one
 * whose text depends on the time zone, would lock something else in each of them.
 */
final class KeyText {

	private KeyText() {
	}

	/**
	 * The text of a value.
	 * @param beginning what to put before it
	 * @return one text, or one for each element of a collection or array
	 * @throws IllegalArgumentException that says what the value is, to be put after its
	 * name
	 */
	static List<String> of(@Nullable Object value, String beginning) {
		Collection<?> elements = elements(value);
		if (elements != null) {
			return each(elements, beginning);
		}
		String text = one(value, "is ");
		return List.of(beginning.isEmpty() ? text : beginning.concat(text));
	}

	/**
	 * The text of a value that is joined with others by {@code +}.
	 * @param template what to write for one key for each element
	 * @throws IllegalArgumentException as for {@link #of}, and for a collection or array
	 */
	static String joined(@Nullable Object value, String template) {
		if (elements(value) != null) {
			throw new IllegalArgumentException(
					"is a collection or an array, of which + would make a single key: write \"" + template
							+ "\" for one key for each element");
		}
		return one(value, "is ");
	}

	/**
	 * The text of a value, which may be blank.
	 * @throws IllegalArgumentException if it need not be the same in every JVM
	 */
	static String plain(Object value) {
		String text = text(value);
		if (text == null) {
			throw new IllegalArgumentException("is a " + value.getClass().getTypeName()
					+ ", whose text need not be the same in every JVM: name what identifies it, such as #order.id");
		}
		return text;
	}

	private static @Nullable Collection<?> elements(@Nullable Object value) {
		if (value instanceof Collection<?> collection) {
			return collection;
		}
		if (value != null && value.getClass().isArray() && !(value instanceof byte[]) && !(value instanceof char[])) {
			return Arrays.asList(ObjectUtils.toObjectArray(value));
		}
		return null;
	}

	private static List<String> each(Collection<?> values, String beginning) {
		if (values.isEmpty()) {
			throw new IllegalArgumentException("is empty, and there would be nothing to lock");
		}
		List<String> texts = new ArrayList<>(values.size());
		for (Object value : values) {
			texts.add(beginning.concat(one(value, "has an element that is ")));
		}
		return texts;
	}

	private static String one(@Nullable Object value, String verb) {
		if (value == null) {
			throw new IllegalArgumentException(verb + "null");
		}
		String text = plain(value);
		if (text.isBlank()) {
			throw new IllegalArgumentException(verb + "blank");
		}
		return text;
	}

	private static @Nullable String text(Object value) {
		if (value instanceof CharSequence || value instanceof Number || value instanceof Boolean
				|| value instanceof Character || value instanceof UUID || value instanceof Locale
				|| value instanceof Currency || value instanceof URI
				|| value.getClass().getName().startsWith("java.time.")) {
			return value.toString();
		}
		if (value instanceof Enum<?> constant) {
			return constant.name();
		}
		return (value instanceof Class<?> type) ? type.getName() : null;
	}

}
