package io.github.distributedlock.autoconfigure;

import org.springframework.boot.context.properties.bind.Binder;
import org.springframework.context.annotation.Condition;
import org.springframework.context.annotation.ConditionContext;
import org.springframework.core.type.AnnotatedTypeMetadata;

/**
 * Matches if a property asks for an adapter. Asks Boot's binder, as {@link LocksEnabled}
 * does.
 */
abstract class AdapterAsked implements Condition {

	private final String property;

	AdapterAsked(String name) {
		this.property = "distributed-lock.adapters." + name;
	}

	@Override
	public boolean matches(ConditionContext context, AnnotatedTypeMetadata metadata) {
		return Boolean.TRUE
			.equals(Binder.get(context.getEnvironment()).bind(this.property, Boolean.class).orElse(false));
	}

	static final class Jdk extends AdapterAsked {

		Jdk() {
			super("jdk");
		}

	}

	static final class ShedLock extends AdapterAsked {

		ShedLock() {
			super("shedlock");
		}

	}

	static final class SpringIntegration extends AdapterAsked {

		SpringIntegration() {
			super("spring-integration");
		}

	}

}
