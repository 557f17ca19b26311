package io.github.distributedlock.aop;

import org.springframework.core.env.PropertyResolver;

/**
 * Replaces <code>${…}</code> in attributes, and nothing else: the bean factory's embedded
 * value resolver would evaluate <code>#{…}</code> as well, and make a key out of nothing.
 */
final class Placeholders {

	private Placeholders() {
	}

	static String resolve(AnnotatedMethod annotated, String attribute, String written, PropertyResolver properties) {
		try {
			return properties.resolveRequiredPlaceholders(written);
		}
		catch (IllegalArgumentException ex) {
			throw annotated.refuse(attribute, written, "has a placeholder that cannot be resolved (" + ex.getMessage()
					+ "): define the property, or write a default, ${name:default}", ex);
		}
	}

}
