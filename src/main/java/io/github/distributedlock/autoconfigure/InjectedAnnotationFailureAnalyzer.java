package io.github.distributedlock.autoconfigure;

import io.github.distributedlock.DistributedLock;
import org.jspecify.annotations.Nullable;

import org.springframework.beans.factory.NoSuchBeanDefinitionException;
import org.springframework.boot.diagnostics.FailureAnalysis;
import org.springframework.boot.diagnostics.analyzer.AbstractInjectionFailureAnalyzer;
import org.springframework.core.Ordered;
import org.springframework.core.annotation.Order;

/**
 * Says that it is the annotation which was to be injected, since the bean's type has the
 * same simple name. Comes before Spring Boot's, which would say to define a bean of the
 * annotation's type.
 */
@Order(Ordered.HIGHEST_PRECEDENCE)
class InjectedAnnotationFailureAnalyzer extends AbstractInjectionFailureAnalyzer<NoSuchBeanDefinitionException> {

	private static final Class<?> ANNOTATION = io.github.distributedlock.annotation.DistributedLock.class;

	@Override
	protected @Nullable FailureAnalysis analyze(Throwable rootFailure, NoSuchBeanDefinitionException cause,
			@Nullable String description) {
		if (cause.getBeanType() != ANNOTATION) {
			return null;
		}
		return new FailureAnalysis(
				((description != null) ? description : "Something") + " asks for a bean of the type "
						+ ANNOTATION.getName() + ", which is the annotation.",
				"Inject " + DistributedLock.class.getName()
						+ " instead: correct the import, or write the name in full where both are needed.",
				cause);
	}

}
