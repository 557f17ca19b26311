package io.github.distributedlock.autoconfigure;

import java.lang.annotation.ElementType;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.annotation.Target;

import org.springframework.boot.context.properties.bind.Binder;
import org.springframework.context.annotation.Condition;
import org.springframework.context.annotation.ConditionContext;
import org.springframework.context.annotation.Conditional;
import org.springframework.core.annotation.MergedAnnotation;
import org.springframework.core.env.Environment;
import org.springframework.core.type.AnnotatedTypeMetadata;

/**
 * Matches if a property is true, or false. Boot's binder reads the property, so that
 * every way to write a boolean counts, and any other value stops the start. Boot's own
 * condition for booleans would take such a value for neither, and switch locks off
 * without a message.
 */
@Target({ ElementType.TYPE, ElementType.METHOD })
@Retention(RetentionPolicy.RUNTIME)
@Conditional(ConditionalOnSwitch.OnSwitch.class)
@interface ConditionalOnSwitch {

	/**
	 * The name of the property below {@code distributed-lock}. Only {@code enabled} is on
	 * by default.
	 */
	String value();

	boolean on() default true;

	/**
	 * Reads the property.
	 */
	class OnSwitch implements Condition {

		@Override
		public boolean matches(ConditionContext context, AnnotatedTypeMetadata metadata) {
			MergedAnnotation<?> condition = metadata.getAnnotations().get(ConditionalOnSwitch.class);
			return isOn(context.getEnvironment(), condition.getString("value")) == condition.getBoolean("on");
		}

		static boolean isOn(Environment environment, String name) {
			return Binder.get(environment)
				.bind("distributed-lock." + name, Boolean.class)
				.orElseGet(() -> name.equals("enabled"));
		}

	}

}
