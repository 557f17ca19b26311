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
	 * @return one text, or one for each element of a collection or array
	 * @throws IllegalArgumentException that says what the value is, to be put after its
	 * name
	 */
	static List<String> of(@Nullable Object value) {
		if (value instanceof Collection<?> collection) {
			return each(collection);
		}
		if (value != null && value.getClass().isArray() && !(value instanceof byte[]) && !(value instanceof char[])) {
			return each(Arrays.asList(ObjectUtils.toObjectArray(value)));
		}
		return List.of(one(value));
	}

	private static List<String> each(Collection<?> values) {
		if (values.isEmpty()) {
			throw new IllegalArgumentException("is empty, and there would be nothing to lock");
		}
		List<String> texts = new ArrayList<>(values.size());
		for (Object value : values) {
			texts.add(one(value));
		}
		return texts;
	}

	private static String one(@Nullable Object value) {
		if (value == null) {
			throw new IllegalArgumentException("is null, or has an element that is null");
		}
		String text = text(value);
		if (text == null) {
			throw new IllegalArgumentException("is a " + value.getClass().getName()
					+ ", whose text need not be the same in every JVM: name what identifies it, such as #order.id");
		}
		if (text.isBlank()) {
			throw new IllegalArgumentException("is blank, or has an element that is blank");
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
