package io.github.distributedlock.autoconfigure;

import java.util.function.Function;

import org.springframework.boot.context.properties.source.InvalidConfigurationPropertyValueException;

/**
 * A property on its way to the one that uses it and may refuse it. Spring Boot reports
 * the refusal with the property, its value and where that was set.
 *
 * @param name the name below {@code distributed-lock}
 * @param value its value
 */
record CheckedProperty<T>(String name, T value) {

	static <T> CheckedProperty<T> of(String name, T value) {
		return new CheckedProperty<>(name, value);
	}

	/**
	 * Hands the value to its user.
	 */
	<R> R to(Function<? super T, R> user) {
		try {
			return user.apply(this.value);
		}
		catch (IllegalArgumentException ex) {
			throw new InvalidConfigurationPropertyValueException("distributed-lock." + this.name, this.value,
					String.valueOf(ex.getMessage()));
		}
	}

}
