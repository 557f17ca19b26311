package io.github.distributedlock.autoconfigure;

import java.lang.reflect.Proxy;
import java.util.Arrays;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.ConcurrentHashMap;
import java.util.stream.Collectors;
import java.util.stream.Stream;

import io.github.distributedlock.LockDefinitionException;
import io.github.distributedlock.aop.DistributedLockAdvisor;
import org.jspecify.annotations.Nullable;

import org.springframework.aop.SpringProxy;
import org.springframework.aop.framework.Advised;
import org.springframework.aop.framework.AopInfrastructureBean;
import org.springframework.aop.framework.AopProxyUtils;
import org.springframework.aop.framework.autoproxy.AbstractAutoProxyCreator;
import org.springframework.beans.factory.BeanFactoryUtils;
import org.springframework.beans.factory.FactoryBean;
import org.springframework.beans.factory.SmartInitializingSingleton;
import org.springframework.beans.factory.config.AutowireCapableBeanFactory;
import org.springframework.beans.factory.config.BeanDefinition;
import org.springframework.beans.factory.config.BeanPostProcessor;
import org.springframework.beans.factory.config.SmartInstantiationAwareBeanPostProcessor;
import org.springframework.beans.factory.support.BeanDefinitionRegistry;
import org.springframework.beans.factory.support.BeanDefinitionRegistryPostProcessor;
import org.springframework.beans.factory.support.DefaultListableBeanFactory;
import org.springframework.beans.factory.support.MergedBeanDefinitionPostProcessor;
import org.springframework.beans.factory.support.RootBeanDefinition;
import org.springframework.context.annotation.Role;

/**
 * Ensures that no bean with annotated methods goes without its locks. Each such bean must
 * have a proxy with the lock advice, Spring must not call an annotated method on the bean
 * itself, and the store of each annotation must be there, once all singletons exist.
 * <p>
 * This check is one of the last bean post-processors, and sees beans as others will. A
 * second post-processor, which is the first of all, remembers the beans that are created
 * before there is an auto-proxy creator. Early beans are refused once all singletons
 * exist, and all others when they are created. Instances that are registered ready-made,
 * such as the mocks of a test, are not created, and so not checked.
 * <p>
 * Several threads may create beans. Invariant: a bean is in {@code early} if and only if
 * no proxy could be made for the bean.
 */
@Role(BeanDefinition.ROLE_INFRASTRUCTURE)
class LockProxyCheck implements BeanDefinitionRegistryPostProcessor, MergedBeanDefinitionPostProcessor,
		SmartInstantiationAwareBeanPostProcessor, SmartInitializingSingleton, AopInfrastructureBean {

	/**
	 * Spring's name for the aspect that AspectJ weaves for {@code @Async}.
	 */
	private static final String ASYNC_ASPECT = "org.springframework.scheduling.config.internalAsyncExecutionAspect";

	private final Map<String, Class<?>> early = new ConcurrentHashMap<>();

	// Spring sets its own bean factory before any other call.
	private DefaultListableBeanFactory beanFactory = new DefaultListableBeanFactory();

	private volatile @Nullable DistributedLockAdvisor advisor;

	@Override
	public void postProcessBeanDefinitionRegistry(BeanDefinitionRegistry registry) {
		if (registry instanceof DefaultListableBeanFactory factory) {
			this.beanFactory = factory;
			for (String name : factory.getSingletonNames()) {
				if (factory.containsBeanDefinition(name)) {
					rememberEarly(Objects.requireNonNull(factory.getSingleton(name)), name);
				}
			}
			factory.addBeanPostProcessor(new BeanPostProcessor() {

				@Override
				public Object postProcessAfterInitialization(Object bean, String name) {
					// No advisor and no auto-proxy creator exist yet: the bean is early.
					if (LockProxyCheck.this.advisor == null && factory.getBeanPostProcessors()
						.stream()
						.noneMatch(AbstractAutoProxyCreator.class::isInstance)) {
						rememberEarly(bean, name);
					}
					return bean;
				}

			});
		}
	}

	private void rememberEarly(Object bean, String name) {
		Object unlocked = unlocked(bean);
		if (unlocked != null) {
			this.early.put(name, unlocked.getClass());
		}
	}

	@Override
	public void postProcessMergedBeanDefinition(RootBeanDefinition definition, Class<?> type, String name) {
		DistributedLockAdvisor known = advisor();
		if (known != null && isAnnotated(type, known)) {
			RootBeanDefinition resolved = new RootBeanDefinition(definition);
			resolved.setTargetType(type);
			resolved.resolveDestroyMethodIfNecessary();
			known.refuseLifecycleMethods(type, Stream
				.of(definition.getInitMethodNames(), definition.isPrototype() ? null : resolved.getDestroyMethodNames())
				.filter(Objects::nonNull)
				.flatMap(Arrays::stream)
				.collect(Collectors.toSet()));
		}
	}

	/**
	 * Refuses a bean with locks that another bean needs before the bean is complete. The
	 * proxy is there, but Spring gives the bean itself to the post-processors that come
	 * afterwards, and the post-processors of schedulers and listener containers keep the
	 * object that they are given. The product of a factory gets no proxy then.
	 */
	@Override
	public Object getEarlyBeanReference(Object bean, String name) {
		DistributedLockAdvisor known = advisor();
		Class<?> type = (bean instanceof FactoryBean<?> factory) ? factory.getObjectType()
				: AopProxyUtils.ultimateTargetClass(bean);
		if (known != null && type != null && isAnnotated(type, known)) {
			String circle = Arrays.stream(this.beanFactory.getBeanDefinitionNames())
				.filter(this.beanFactory::isCurrentlyInCreation)
				.collect(Collectors.joining("', '"));
			throw new LockDefinitionException(refusal(name, type)
					+ "it is part of a circle among the beans that are being created ('" + circle
					+ "'). Spring hands a bean of a circle to its scheduler, to listener containers and to other"
					+ " post-processors without the proxy, and the methods would run unlocked",
					"write @Lazy where a bean of the circle is injected, also into itself, or move the methods to a bean"
							+ " outside of the circle",
					null);
		}
		return bean;
	}

	@Override
	public @Nullable Object postProcessAfterInitialization(Object bean, String name) {
		check(bean, name);
		return bean;
	}

	private void check(Object bean, String name) {
		if (name.endsWith(AutowireCapableBeanFactory.ORIGINAL_INSTANCE_SUFFIX)) {
			return;
		}
		DistributedLockAdvisor known = advisor();
		Object unlocked = unlocked(bean);
		if (unlocked == null) {
			if (known != null && bean instanceof Advised proxy) {
				known.refuseAsyncInside(bean, this.beanFactory.containsBeanDefinition(ASYNC_ASPECT));
				Class<?> target = proxy.getTargetClass();
				if (target != null) {
					// Refuses wrong annotations of a target that a scoped proxy makes
					// later.
					isAnnotated(target, known);
				}
			}
		}
		// A JDK proxy that other code has made of a bean may well lead to the bean's
		// lock.
		else if (!Proxy.isProxyClass(unlocked.getClass())) {
			if (known == null) {
				rememberEarly(bean, name);
			}
			else if (isAnnotated(unlocked.getClass(), known)) {
				throw refuse(name, unlocked.getClass(), bean instanceof Advised);
			}
		}
	}

	private static LockDefinitionException refuse(String name, Class<?> type, boolean proxied) {
		return proxied
				? new LockDefinitionException(
						refusal(name, type) + "its proxy was made by another post-processor than"
								+ " Spring's auto-proxy creator, which does not see the annotations behind that proxy,"
								+ " and the methods would run unlocked",
						"give @EnableAsync, or what else makes the proxy, no order of its own, or move the methods to"
								+ " another bean",
						null)
				: new LockDefinitionException(
						refusal(name, type) + "Spring has put no proxy around it, as it does"
								+ " around no Advice, Advisor, Pointcut or aspect, and the methods would run unlocked",
						"move the methods to another bean", null);
	}

	@Override
	public void afterSingletonsInstantiated() {
		DistributedLockAdvisor known = advisor();
		String refusals = (known == null) ? ""
				: this.early.entrySet()
					.stream()
					.filter((bean) -> isAnnotated(bean.getValue(), known))
					.map((bean) -> refusal(bean.getKey(), bean.getValue())
							+ "it was created before Spring could put a proxy with locks around it, because "
							+ dependents(bean.getKey()) + ", and the methods would run unlocked")
					.collect(Collectors.joining("\n"));
		if (!refusals.isEmpty()) {
			throw new LockDefinitionException(refusals, "let the other bean ask for this one later (ObjectProvider,"
					+ " @Lazy), make the @Bean method of a post-processor static, or move the methods to another bean",
					null);
		}
		this.early.clear();
		if (known != null) {
			known.requireLocks();
		}
	}

	private String dependents(String name) {
		String dependents = Arrays.stream(this.beanFactory.getDependentBeans(name))
			.filter(this.early::containsKey)
			.sorted()
			.collect(Collectors.joining("', '"));
		return dependents.isEmpty() ? "it is a post-processor, or one needs it" : "'" + dependents + "' needed it";
	}

	private static String refusal(String name, Class<?> type) {
		return "Bean '" + name + "' (" + type.getName() + ") has methods with @DistributedLock, but ";
	}

	/**
	 * Looks for the lock through the proxies of Spring.
	 * @return the innermost object if no proxy has the lock, or {@code null}
	 */
	private static @Nullable Object unlocked(Object bean) {
		Object object = bean;
		while (object instanceof Advised proxy) {
			if (Arrays.stream(proxy.getAdvisors()).anyMatch(DistributedLockAdvisor.class::isInstance)) {
				return null;
			}
			// Targets of other kinds of proxies, such as scoped proxies, are beans of
			// their own.
			object = AopProxyUtils.getSingletonTarget(object);
		}
		// An opaque proxy hides its advice and target.
		return (object instanceof SpringProxy) ? null : object;
	}

	/*
	 * Returns whether a class has annotated methods. A class that cannot be inspected,
	 * because it refers to a missing class, counts as not annotated.
	 */
	private static boolean isAnnotated(Class<?> type, DistributedLockAdvisor advisor) {
		try {
			return advisor.getPointcut().getClassFilter().matches(type);
		}
		catch (IllegalStateException | LinkageError ex) {
			return false;
		}
	}

	/*
	 * Returns the advisor, or null while the advisor is being created: beans that the
	 * advisor needs have no locks either.
	 */
	private @Nullable DistributedLockAdvisor advisor() {
		DistributedLockAdvisor known = this.advisor;
		if (known == null) {
			String[] names = BeanFactoryUtils.beanNamesForTypeIncludingAncestors(this.beanFactory,
					DistributedLockAdvisor.class, true, false);
			if (names.length > 0 && !this.beanFactory.isCurrentlyInCreation(names[0])) {
				known = this.beanFactory.getBean(names[0], DistributedLockAdvisor.class);
				this.advisor = known;
			}
		}
		return known;
	}

}
