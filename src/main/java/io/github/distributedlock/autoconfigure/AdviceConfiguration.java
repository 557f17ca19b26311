package io.github.distributedlock.autoconfigure;

import java.util.function.Supplier;

import io.github.distributedlock.DistributedLock;
import io.github.distributedlock.aop.DistributedLockAdvisor;

import org.springframework.aop.PointcutAdvisor;
import org.springframework.beans.factory.BeanFactory;
import org.springframework.beans.factory.ObjectProvider;
import org.springframework.beans.factory.config.BeanDefinition;
import org.springframework.boot.autoconfigure.condition.ConditionalOnMissingBean;
import org.springframework.boot.autoconfigure.condition.ConditionalOnSingleCandidate;
import org.springframework.boot.context.properties.bind.Binder;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.Import;
import org.springframework.context.annotation.Role;
import org.springframework.core.env.Environment;

/**
 * The advice of annotated methods. The advisor is made before ordinary beans are, so it
 * must not need any: the lock is looked up at the first call, the order is read from the
 * environment.
 */
@Configuration(proxyBeanMethods = false)
@Role(BeanDefinition.ROLE_INFRASTRUCTURE)
@Import(LockProxyRegistrar.class)
class AdviceConfiguration {

	@Bean
	@Role(BeanDefinition.ROLE_INFRASTRUCTURE)
	@ConditionalOnMissingBean
	static DistributedLockAdvisor distributedLockAdvisor(ObjectProvider<DistributedLock> lock, BeanFactory beanFactory,
			Environment environment) {
		// Off means that a DistributedLock of the user's own is not asked either.
		Supplier<DistributedLock> supplier = LocksEnabled.in(environment) ? lock::getObject : SwitchedOffLock::new;
		DistributedLockAdvisor advisor = new DistributedLockAdvisor(supplier, beanFactory, environment);
		Binder.get(environment).bind("distributed-lock.order", Integer.class).ifBound(advisor::setOrder);
		return advisor;
	}

	@Bean
	@Role(BeanDefinition.ROLE_INFRASTRUCTURE)
	@ConditionalOnSingleCandidate(DistributedLockAdvisor.class)
	static PointcutAdvisor distributedLockCommitCheck(DistributedLockAdvisor advisor) {
		return advisor.commitCheck();
	}

	@Bean
	static AdvisorRole distributedLockAdvisorRole() {
		return new AdvisorRole();
	}

	@Bean
	@Role(BeanDefinition.ROLE_INFRASTRUCTURE)
	static CommitGuardPostProcessor distributedLockCommitGuard() {
		return new CommitGuardPostProcessor();
	}

}
