package io.github.distributedlock.aop;

import java.lang.reflect.Method;
import java.lang.reflect.Modifier;
import java.net.URI;
import java.util.Arrays;
import java.util.Calendar;
import java.util.Collection;
import java.util.Currency;
import java.util.Date;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.UUID;

import org.jspecify.annotations.Nullable;

import org.springframework.core.KotlinDetector;
import org.springframework.core.ResolvableType;
import org.springframework.core.convert.TypeDescriptor;
import org.springframework.expression.spel.support.StandardTypeConverter;
import org.springframework.util.ObjectUtils;
import org.springframework.util.ReflectionUtils;

/**
 * Turns the value of an expression into the text of keys. Only values that read the same
 * in every JVM are accepted: an object without a {@code toString} of its own, or an
 * object whose text depends on the time zone, would lock something else in each JVM.
 */
final class KeyText {

	static final String NO_TEXT = ", whose text need not be the same in every JVM: name what identifies it, such as #order.id";

	private static final List<Class<?>> PLAIN = List.of(CharSequence.class, Number.class, Boolean.class,
			Character.class, UUID.class, Locale.class, Currency.class, URI.class, Class.class);

	private KeyText() {
	}

	/**
	 * Returns the text of a value.
	 * @param before the text to put before the value's own
	 * @return one text, or one for each element of a collection or array
	 * @throws IllegalArgumentException if the value cannot be a key; the message is a
	 * predicate, to be put after the name of the value
	 */
	static List<String> of(String before, @Nullable Object value) {
		Collection<?> elements = null;
		if (value instanceof Collection<?> collection) {
			elements = collection;
		}
		else if (value != null && value.getClass().isArray() && !(value instanceof byte[] || value instanceof char[])) {
			elements = Arrays.asList(ObjectUtils.toObjectArray(value));
		}
		if (elements == null) {
			return List.of(before.concat(one(value, "is ")));
		}
		if (elements.isEmpty()) {
			throw new IllegalArgumentException("is empty, and there would be nothing to lock");
		}
		return elements.stream().map((element) -> before.concat(one(element, "has an element that is "))).toList();
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

	/**
	 * Returns whether no value of a declared type can be a key: the class has no text
	 * here, nor can a subclass give one.
	 */
	static boolean isImpossible(ResolvableType declared) {
		Class<?> type = declared.toClass();
		if (type == byte[].class || type == char[].class || Map.class.isAssignableFrom(type)
				|| Date.class.isAssignableFrom(type) || Calendar.class.isAssignableFrom(type)) {
			return true;
		}
		if (type.isArray()) {
			return isImpossible(declared.getComponentType());
		}
		if (Collection.class.isAssignableFrom(type)) {
			return isImpossible(declared.asCollection().getGeneric(0));
		}
		Method unbox = unboxing(type);
		if (unbox != null) {
			return isImpossible(ResolvableType.forMethodReturnType(unbox));
		}
		return Modifier.isFinal(type.getModifiers()) && !type.isPrimitive() && !type.isEnum()
				&& !type.getName().startsWith("java.time.")
				&& PLAIN.stream().noneMatch((each) -> each.isAssignableFrom(type));
	}

	/**
	 * Returns the method that unwraps an object of a Kotlin value class. Such an object
	 * exists where the value is nullable, generic or an element.
	 */
	private static @Nullable Method unboxing(Class<?> type) {
		return KotlinDetector.isKotlinType(type) ? ReflectionUtils.findMethod(type, "unbox-impl") : null;
	}

	private static String plain(Object value) {
		if (value instanceof String text) {
			return text;
		}
		if (value instanceof Enum<?> constant) {
			return constant.name();
		}
		if (value instanceof Class<?> named) {
			return named.getName();
		}
		String type = value.getClass().getTypeName();
		if (PLAIN.stream().anyMatch((each) -> each.isInstance(value)) || type.startsWith("java.time.")) {
			String text = value.toString();
			// A number class without a toString of its own has the JDK's default text,
			// which differs from JVM to JVM.
			if (!(text.startsWith(type) && text.startsWith("@", type.length()))) {
				return text;
			}
		}
		Method unbox = unboxing(value.getClass());
		if (unbox != null) {
			ReflectionUtils.makeAccessible(unbox);
			Object wrapped = ReflectionUtils.invokeMethod(unbox, value);
			return (wrapped != null) ? plain(wrapped) : "";
		}
		throw new IllegalArgumentException("is a " + type + NO_TEXT);
	}

	/**
	 * Converts only values that {@code plain} accepts where a method takes text, too.
	 * SpEL does not ask the converter about {@code null}.
	 */
	static final class Converter extends StandardTypeConverter {

		@Override
		public boolean canConvert(@Nullable TypeDescriptor sourceType, TypeDescriptor targetType) {
			return targetType.getType() == String.class || super.canConvert(sourceType, targetType);
		}

		@Override
		public @Nullable Object convertValue(@Nullable Object value, @Nullable TypeDescriptor sourceType,
				TypeDescriptor targetType) {
			return (value != null && targetType.getType() == String.class) ? plain(value)
					: super.convertValue(value, sourceType, targetType);
		}

	}

}
