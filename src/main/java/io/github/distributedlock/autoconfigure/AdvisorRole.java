package io.github.distributedlock.autoconfigure;

import io.github.distributedlock.aop.DistributedLockAdvisor;

import org.springframework.beans.factory.config.BeanDefinition;
import org.springframework.beans.factory.config.BeanFactoryPostProcessor;
import org.springframework.beans.factory.config.ConfigurableListableBeanFactory;
import org.springframework.beans.factory.support.AbstractBeanDefinition;

/**
 * Gives advisors of the user's own the infrastructure role. Without AspectJ the
 * auto-proxy creator passes over any other, and methods would run unlocked without a
 * word.
 */
final class AdvisorRole implements BeanFactoryPostProcessor {

	@Override
	public void postProcessBeanFactory(ConfigurableListableBeanFactory beanFactory) {
		for (String name : beanFactory.getBeanNamesForType(DistributedLockAdvisor.class, true, false)) {
			if (beanFactory.containsBeanDefinition(name)
					&& beanFactory.getBeanDefinition(name) instanceof AbstractBeanDefinition definition) {
				definition.setRole(BeanDefinition.ROLE_INFRASTRUCTURE);
			}
		}
	}

}
