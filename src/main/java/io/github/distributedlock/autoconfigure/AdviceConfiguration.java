package io.github.distributedlock.autoconfigure;

import java.util.function.Function;

import io.github.distributedlock.DistributedLock;
import io.github.distributedlock.aop.DistributedLockAdvisor;
import org.jspecify.annotations.Nullable;

import org.springframework.aop.PointcutAdvisor;
import org.springframework.aop.config.AopConfigUtils;
import org.springframework.beans.factory.BeanFactory;
import org.springframework.beans.factory.BeanFactoryUtils;
import org.springframework.beans.factory.ListableBeanFactory;
import org.springframework.beans.factory.NoUniqueBeanDefinitionException;
import org.springframework.beans.factory.ObjectProvider;
import org.springframework.beans.factory.config.BeanDefinition;
import org.springframework.beans.factory.config.BeanFactoryPostProcessor;
import org.springframework.beans.factory.support.AbstractBeanDefinition;
import org.springframework.beans.factory.support.BeanDefinitionRegistry;
import org.springframework.boot.autoconfigure.condition.ConditionalOnMissingBean;
import org.springframework.boot.autoconfigure.condition.ConditionalOnSingleCandidate;
import org.springframework.boot.autoconfigure.condition.SearchStrategy;
import org.springframework.boot.context.properties.bind.Binder;
import org.springframework.context.EnvironmentAware;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.Import;
import org.springframework.context.annotation.ImportBeanDefinitionRegistrar;
import org.springframework.context.annotation.Role;
import org.springframework.context.support.PropertySourcesPlaceholderConfigurer;
import org.springframework.core.env.CompositePropertySource;
import org.springframework.core.env.Environment;
import org.springframework.core.env.MutablePropertySources;
import org.springframework.core.env.PropertyResolver;
import org.springframework.core.env.PropertySource;
import org.springframework.core.env.PropertySourcesPropertyResolver;
import org.springframework.core.type.AnnotationMetadata;

/**
 * The advice of annotated methods. The advisor is made before ordinary beans are, so the
 * advisor must not need any: the first call looks up the lock, and the environment gives
 * the order.
 */
@Configuration(proxyBeanMethods = false)
@Role(BeanDefinition.ROLE_INFRASTRUCTURE)
@Import(AdviceConfiguration.AutoProxyCreator.class)
class AdviceConfiguration {

	@Bean
	@Role(BeanDefinition.ROLE_INFRASTRUCTURE)
	@ConditionalOnMissingBean(search = SearchStrategy.CURRENT)
	static DistributedLockAdvisor distributedLockAdvisor(ObjectProvider<DistributedLock> lock,
			ListableBeanFactory beanFactory, Environment environment) {
		// While locks are off, no DistributedLock of the user is asked either.
		Function<String, DistributedLock> locks = ConditionalOnSwitch.OnSwitch.isOn(environment, "enabled")
				? (store) -> store.isEmpty() ? defaultLock(lock, beanFactory)
						: beanFactory.getBean(store, DistributedLock.class)
				: (store) -> new SwitchedOffLock();
		DistributedLockAdvisor advisor = new DistributedLockAdvisor(locks, beanFactory,
				properties(beanFactory, environment));
		Binder.get(environment).bind("distributed-lock.order", Integer.class).ifBound(advisor::setOrder);
		return advisor;
	}

	/**
	 * Returns the properties that {@code @Value} sees: the properties of each placeholder
	 * configurer, and then the environment, which each of them usually includes.
	 */
	private static PropertyResolver properties(ListableBeanFactory beanFactory, Environment environment) {
		MutablePropertySources sources = new MutablePropertySources();
		for (String name : beanFactory.getBeanNamesForType(PropertySourcesPlaceholderConfigurer.class, true, false)) {
			// The composite gives the sources a name of their own, since those of several
			// configurers have the same names.
			CompositePropertySource applied = new CompositePropertySource(name);
			beanFactory.getBean(name, PropertySourcesPlaceholderConfigurer.class)
				.getAppliedPropertySources()
				.forEach(applied::addPropertySource);
			sources.addLast(applied);
		}
		if (sources.size() == 0) {
			return environment;
		}
		sources.addLast(new PropertySource<>("environment of the locks", environment) {

			@Override
			public @Nullable Object getProperty(String name) {
				return this.source.getProperty(name);
			}

		});
		return new PropertySourcesPropertyResolver(sources);
	}

	/**
	 * Returns the lock that Spring would inject, or else the only lock of this context: a
	 * lock that the user defines in a child context comes before those of the parent.
	 */
	private static DistributedLock defaultLock(ObjectProvider<DistributedLock> lock, ListableBeanFactory beanFactory) {
		try {
			return lock.getObject();
		}
		catch (NoUniqueBeanDefinitionException ex) {
			String[] names = beanFactory.getBeanNamesForType(DistributedLock.class, true, false);
			if (names.length != 1) {
				throw ex;
			}
			return beanFactory.getBean(names[0], DistributedLock.class);
		}
	}

	@Bean
	@Role(BeanDefinition.ROLE_INFRASTRUCTURE)
	@ConditionalOnSingleCandidate(value = DistributedLockAdvisor.class, search = SearchStrategy.CURRENT)
	static PointcutAdvisor distributedLockCommitCheck(DistributedLockAdvisor advisor) {
		return advisor.commitCheck();
	}

	/**
	 * Gives advisors that the user defines the infrastructure role. Without AspectJ the
	 * auto-proxy creator passes over any advisor without that role, and methods would run
	 * unlocked without a message. With AspectJ the auto-proxy creator of a child context
	 * uses advisors of the parent, too, except those whose name the child has: the alias
	 * keeps a method of the child from being locked twice.
	 */
	@Bean
	static BeanFactoryPostProcessor distributedLockAdvisorRole() {
		return (beanFactory) -> {
			String[] names = beanFactory.getBeanNamesForType(DistributedLockAdvisor.class, true, false);
			for (String name : BeanFactoryUtils.beanNamesForTypeIncludingAncestors(beanFactory,
					DistributedLockAdvisor.class, true, false)) {
				if (names.length > 0 && !beanFactory.containsLocalBean(name)) {
					beanFactory.registerAlias(names[0], name);
				}
			}
			for (String name : names) {
				if (beanFactory.containsBeanDefinition(name)
						&& beanFactory.getBeanDefinition(name) instanceof AbstractBeanDefinition definition) {
					definition.setRole(BeanDefinition.ROLE_INFRASTRUCTURE);
				}
			}
		};
	}

	@Bean
	@Role(BeanDefinition.ROLE_INFRASTRUCTURE)
	static CommitGuardPostProcessor distributedLockCommitGuard(BeanFactory beanFactory) {
		return new CommitGuardPostProcessor(beanFactory);
	}

	/**
	 * Ensures that there is an auto-proxy creator, which {@code spring.aop.auto=false}
	 * would otherwise remove, and with it every lock, without a message. Proxies are of
	 * the kind that Spring Boot makes for {@code @Transactional}.
	 */
	static final class AutoProxyCreator implements ImportBeanDefinitionRegistrar, EnvironmentAware {

		private boolean proxyTargetClass = true;

		@Override
		public void setEnvironment(Environment environment) {
			this.proxyTargetClass = environment.getProperty("spring.aop.proxy-target-class", Boolean.class, true);
		}

		@Override
		public void registerBeanDefinitions(AnnotationMetadata importing, BeanDefinitionRegistry registry) {
			AopConfigUtils.registerAutoProxyCreatorIfNecessary(registry);
			if (this.proxyTargetClass) {
				AopConfigUtils.forceAutoProxyCreatorToUseClassProxying(registry);
			}
		}

	}

}
