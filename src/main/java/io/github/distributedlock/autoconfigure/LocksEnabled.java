package io.github.distributedlock.autoconfigure;

import org.springframework.boot.context.properties.bind.Binder;
import org.springframework.context.annotation.Condition;
import org.springframework.context.annotation.ConditionContext;
import org.springframework.core.env.Environment;
import org.springframework.core.type.AnnotatedTypeMetadata;

/**
 * Matches unless {@code distributed-lock.enabled} says no. Asks Boot's binder, so that
 * every way to write yes or no counts, and one that is neither stops the start: Boot's
 * own condition for booleans would take it for neither, and switch locks off without a
 * word.
 */
class LocksEnabled implements Condition {

	@Override
	public boolean matches(ConditionContext context, AnnotatedTypeMetadata metadata) {
		return in(context.getEnvironment());
	}

	static boolean in(Environment environment) {
		return !Boolean.FALSE
			.equals(Binder.get(environment).bind("distributed-lock.enabled", Boolean.class).orElse(true));
	}

	/**
	 * Matches if it says no.
	 */
	static class Not extends LocksEnabled {

		@Override
		public boolean matches(ConditionContext context, AnnotatedTypeMetadata metadata) {
			return !super.matches(context, metadata);
		}

	}

}
