package io.github.distributedlock.observability;

import java.util.Objects;

import org.jspecify.annotations.Nullable;

import org.springframework.boot.actuate.endpoint.SanitizableData;
import org.springframework.boot.actuate.endpoint.Sanitizer;

/**
 * Hides what may be personal data from an asker.
 *
 * @param sanitizer Spring Boot's, with the application's own functions
 * @param shown whether what they let pass is shown
 */
record Values(Sanitizer sanitizer, boolean shown) {

	/**
	 * A value to be shown.
	 * @param name the name of the field
	 */
	String show(String name, String value) {
		return Objects.toString(this.sanitizer.sanitize(new SanitizableData(null, name, value), this.shown));
	}

	@Nullable String showIfPresent(String name, @Nullable String value) {
		return (value != null) ? show(name, value) : null;
	}

}
