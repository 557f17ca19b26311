package io.github.distributedlock.aop;

import java.util.ArrayList;
import java.util.List;

import org.springframework.core.env.PropertyResolver;

/**
 * Replaces <code>${…}</code> in attributes, and nothing else: the bean factory's embedded
 * value resolver would evaluate <code>#{…}</code> as well, and make a key out of nothing.
 */
final class Placeholders {

	private Placeholders() {
	}

	static String resolve(AnnotatedMethod annotated, String attribute, String written, PropertyResolver properties) {
		return resolve(annotated, attribute, written, written, properties, "");
	}

	/**
	 * Resolves a part of what is written.
	 * @param remedy what else to do about one that cannot be resolved, or empty
	 */
	static String resolve(AnnotatedMethod annotated, String attribute, String written, String part,
			PropertyResolver properties, String remedy) {
		try {
			return properties.resolveRequiredPlaceholders(part);
		}
		catch (IllegalArgumentException ex) {
			throw annotated.refuse(attribute, written,
					"has a placeholder that cannot be resolved (" + ex.getMessage() + ")",
					remedy + "define the property, or write a default, ${name:default}", ex);
		}
	}

	/**
	 * Splits text into placeholders, with all that is nested in them, and what is between
	 * them. Finds their ends as Spring does, and leaves to it what a backslash escapes.
	 */
	static List<Piece> split(String text) {
		List<Piece> pieces = new ArrayList<>();
		int from = 0;
		int start = nextStart(text, 0);
		while (start >= 0) {
			int end = end(text, start);
			if (end < 0) {
				break;
			}
			add(pieces, text.substring(from, start), false);
			add(pieces, text.substring(start, end), true);
			from = end;
			start = nextStart(text, end);
		}
		add(pieces, text.substring(from), false);
		return pieces;
	}

	private static void add(List<Piece> pieces, String text, boolean placeholder) {
		if (!text.isEmpty()) {
			pieces.add(new Piece(text, placeholder));
		}
	}

	private static int nextStart(String text, int from) {
		int start = text.indexOf("${", from);
		while (start > 0 && text.charAt(start - 1) == '\\') {
			start = text.indexOf("${", start + 1);
		}
		return start;
	}

	private static int end(String text, int start) {
		int open = 0;
		for (int index = start; index < text.length(); index++) {
			char character = text.charAt(index);
			if (character == '{') {
				open++;
			}
			else if (character == '}' && --open == 0) {
				return index + 1;
			}
		}
		return -1;
	}

	/**
	 * A part of the text.
	 *
	 * @param text the part as it is written
	 * @param placeholder whether it is a placeholder
	 */
	record Piece(String text, boolean placeholder) {
	}

}
