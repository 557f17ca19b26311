package io.github.distributedlock.autoconfigure;

import org.springframework.aop.config.AopConfigUtils;
import org.springframework.beans.factory.support.BeanDefinitionRegistry;
import org.springframework.context.EnvironmentAware;
import org.springframework.context.annotation.ImportBeanDefinitionRegistrar;
import org.springframework.core.env.Environment;
import org.springframework.core.type.AnnotationMetadata;

/**
 * Sees to it that there is an auto-proxy creator, which {@code spring.aop.auto=false}
 * would otherwise take away, and with it every lock, without a word. Proxies are of the
 * kind that Spring Boot makes for {@code @Transactional}.
 */
final class LockProxyRegistrar implements ImportBeanDefinitionRegistrar, EnvironmentAware {

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
