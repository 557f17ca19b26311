package io.github.distributedlock.aop;

import java.util.Collection;

import org.jspecify.annotations.Nullable;

import org.springframework.beans.factory.aot.BeanRegistrationAotContribution;
import org.springframework.beans.factory.aot.BeanRegistrationAotProcessor;
import org.springframework.beans.factory.config.ConfigurableListableBeanFactory;
import org.springframework.beans.factory.support.RegisteredBean;

/**
 * Registers hints for an application that is processed ahead of time: a native image
 * cannot see what the annotations of beans reach by reflection. Annotations that cannot
 * work are refused during that processing.
 */
final class AnnotationHints implements BeanRegistrationAotProcessor {

	@Override
	public @Nullable BeanRegistrationAotContribution processAheadOfTime(RegisteredBean bean) {
		ConfigurableListableBeanFactory beans = bean.getBeanFactory();
		DistributedLockAdvisor advisor = beans.getBeanProvider(DistributedLockAdvisor.class).getIfUnique();
		if (advisor == null) {
			return null;
		}
		Collection<LockDefinition> definitions = advisor.definitions(bean.getBeanClass());
		return definitions.isEmpty() ? null : (context, code) -> definitions
			.forEach((definition) -> definition.registerHints(context.getRuntimeHints().reflection()));
	}

}
