package io.github.distributedlock.aop;

import org.jspecify.annotations.Nullable;

import org.springframework.core.convert.TypeDescriptor;
import org.springframework.expression.TypeConverter;
import org.springframework.expression.spel.support.StandardTypeConverter;

/**
 * Makes text only of values that read the same in every JVM, wherever in a key expression
 * text is wanted. SpEL does not ask it about {@code null}.
 */
final class KeyTypeConverter implements TypeConverter {

	private final TypeConverter delegate = new StandardTypeConverter();

	// If it said no, SpEL would help itself with toString().
	@Override
	public boolean canConvert(@Nullable TypeDescriptor sourceType, TypeDescriptor targetType) {
		return isText(targetType) || this.delegate.canConvert(sourceType, targetType);
	}

	@Override
	public @Nullable Object convertValue(@Nullable Object value, @Nullable TypeDescriptor sourceType,
			TypeDescriptor targetType) {
		if (value == null || value instanceof String || !isText(targetType)) {
			return this.delegate.convertValue(value, sourceType, targetType);
		}
		try {
			return KeyText.plain(value);
		}
		catch (IllegalArgumentException ex) {
			throw new UnusableValueException(null, "makes text of a value that " + ex.getMessage());
		}
	}

	private static boolean isText(TypeDescriptor type) {
		return type.getType() == String.class;
	}

}
