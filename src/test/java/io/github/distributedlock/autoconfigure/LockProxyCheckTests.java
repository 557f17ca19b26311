package io.github.distributedlock.autoconfigure;

import java.io.Closeable;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Proxy;
import java.util.List;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.stream.Stream;

import io.github.distributedlock.LockDefinitionException;
import io.github.distributedlock.LockHandle;
import io.github.distributedlock.annotation.DistributedLock;
import org.aopalliance.intercept.MethodInterceptor;
import org.aopalliance.intercept.MethodInvocation;
import org.junit.jupiter.api.Named;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;

import org.springframework.aop.TargetSource;
import org.springframework.aop.framework.ProxyFactory;
import org.springframework.aop.target.HotSwappableTargetSource;
import org.springframework.aop.target.SingletonTargetSource;
import org.springframework.aot.generate.ClassNameGenerator;
import org.springframework.aot.generate.DefaultGenerationContext;
import org.springframework.aot.generate.GeneratedFiles;
import org.springframework.aot.generate.InMemoryGeneratedFiles;
import org.springframework.beans.BeanUtils;
import org.springframework.beans.factory.config.BeanDefinition;
import org.springframework.beans.factory.config.BeanDefinitionCustomizer;
import org.springframework.beans.factory.config.BeanFactoryPostProcessor;
import org.springframework.beans.factory.config.BeanPostProcessor;
import org.springframework.beans.factory.config.ConfigurableListableBeanFactory;
import org.springframework.beans.factory.support.AbstractBeanDefinition;
import org.springframework.beans.factory.support.BeanDefinitionRegistry;
import org.springframework.beans.factory.support.BeanDefinitionRegistryPostProcessor;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.boot.test.system.CapturedOutput;
import org.springframework.boot.test.system.OutputCaptureExtension;
import org.springframework.context.ApplicationContextInitializer;
import org.springframework.context.ConfigurableApplicationContext;
import org.springframework.context.annotation.AnnotationConfigApplicationContext;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.Lazy;
import org.springframework.context.annotation.Scope;
import org.springframework.context.annotation.ScopedProxyMode;
import org.springframework.context.aot.ApplicationContextAotGenerator;
import org.springframework.context.support.GenericApplicationContext;
import org.springframework.context.support.SimpleThreadScope;
import org.springframework.core.PriorityOrdered;
import org.springframework.javapoet.ClassName;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatException;

@ExtendWith(OutputCaptureExtension.class)
class LockProxyCheckTests {

	private final ApplicationContextRunner contexts = Contexts.inMemory();

	@ParameterizedTest
	@ValueSource(
			classes = { NeedyFactoryPostProcessor.class, NeedyPostProcessor.class, NeedyRegistryPostProcessor.class })
	void beanThatIsCreatedTooEarly(Class<?> early) {
		Contexts.refuses(this.contexts.withBean("greeter", Greeter.class)
			.withInitializer(early(early))
			// Needs the bean, too, but is not early.
			.withBean("late", Needy.class), LockDefinitionException.class,
				"Bean 'greeter' (" + Greeter.class.getName() + ") has methods with @DistributedLock,"
						+ " but it was created before Spring could put a proxy with locks around it, because 'early'"
						+ " needed it, and the methods would run unlocked (let the other bean ask for this one later (ObjectProvider, @Lazy),"
						+ " make the @Bean method of a post-processor static, or move the methods to another bean)");
	}

	/**
	 * Registers a bean that needs another one before beans are asked for constructors.
	 */
	private static ApplicationContextInitializer<ConfigurableApplicationContext> early(Class<?> type) {
		return (context) -> ((GenericApplicationContext) context).registerBean("early", type,
				(definition) -> ((AbstractBeanDefinition) definition)
					.setAutowireMode(AbstractBeanDefinition.AUTOWIRE_CONSTRUCTOR));
	}

	@Test
	void configurationOfAPostProcessorThatIsNotStatic() {
		Contexts.refuses(this.contexts.withUserConfiguration(NotStatic.class), Throwable.class,
				"(" + NotStatic.class.getName() + ") has methods with @DistributedLock", "because 'early' needed it");
	}

	@Test
	void productOfAFactoryBeanThatIsCreatedTooEarly() {
		Contexts.refuses(
				this.contexts.withBean("greeter", GreeterFactory.class)
					.withInitializer(early(NeedyFactoryPostProcessor.class)),
				Throwable.class, "Bean 'greeter' (" + Greeter.class.getName() + ")");
	}

	@Test
	void beanThatNobodyHasAnnotatedMayBeEarly() {
		this.contexts.withBean("plain", String.class, () -> "plain")
			.withBean("early", BeanFactoryPostProcessor.class,
					() -> (beans) -> assertThat(beans.getBean("plain")).isEqualTo("plain"))
			.run((context) -> assertThat(context).hasNotFailed());
	}

	@Test
	void advice() {
		Contexts.refuses(this.contexts.withBean("advice", LockedAdvice.class), LockDefinitionException.class,
				"Bean 'advice' (" + LockedAdvice.class.getName() + ") has methods with @DistributedLock,"
						+ " but Spring has put no proxy around it, as it does around no Advice, Advisor, Pointcut or"
						+ " aspect, and the methods would run unlocked (move the methods to another bean)");
	}

	@ParameterizedTest
	@ValueSource(strings = { "prototype", "thread" })
	void beanThatIsNoSingletonIsCheckedWhenItIsCreated(String scope) {
		this.contexts
			.withInitializer((context) -> context.getBeanFactory().registerScope("thread", new SimpleThreadScope()))
			.withBean("advice", LockedAdvice.class, LockedAdvice::new, (definition) -> definition.setScope(scope))
			.run((context) -> {
				assertThat(context).hasNotFailed();
				assertThatException().isThrownBy(() -> context.getBean("advice"))
					.havingRootCause()
					.isInstanceOf(LockDefinitionException.class)
					.withMessageStartingWith("Bean 'advice' ");
			});
	}

	@Test
	void lazySingletonIsCheckedWhenItIsCreatedAndNotBefore() {
		this.contexts
			.withBean("advice", LockedAdvice.class, LockedAdvice::new, (definition) -> definition.setLazyInit(true))
			.run((context) -> {
				assertThat(context).hasNotFailed();
				assertThat(context.getSourceApplicationContext().getBeanFactory().getSingleton("advice")).isNull();
				assertThatException().isThrownBy(() -> context.getBean("advice"))
					.havingRootCause()
					.isInstanceOf(LockDefinitionException.class);
			});
	}

	static Stream<Arguments> lifecycles() {
		return Stream.of(lifecycle("init", Lifecycle.class, (definition) -> definition.setInitMethodName("start")),
				lifecycle("destroy", Lifecycle.class, (definition) -> definition.setDestroyMethodName("start")),
				lifecycle("close", ClosedLifecycle.class, LockProxyCheckTests::inferred),
				lifecycle("shutdown", Lifecycle.class, LockProxyCheckTests::inferred),
				lifecycle("closeable", CloseableLifecycle.class, (definition) -> {
				}));
	}

	static Stream<Arguments> otherLifecycles() {
		return Stream.of(lifecycle("none", Lifecycle.class, (definition) -> {
		}), lifecycle("prototype", ClosedLifecycle.class, (definition) -> {
			inferred(definition);
			definition.setScope(BeanDefinition.SCOPE_PROTOTYPE);
		}), lifecycle("type", AnnotatedLifecycle.class, (definition) -> definition.setInitMethodName("start")));
	}

	private static Arguments lifecycle(String name, Class<?> type, BeanDefinitionCustomizer customizer) {
		return Arguments.of(Named.of(name, type), customizer);
	}

	/**
	 * The destroy method of a {@code @Bean} method is inferred by default.
	 */
	private static void inferred(BeanDefinition definition) {
		definition.setDestroyMethodName(AbstractBeanDefinition.INFER_METHOD);
	}

	@ParameterizedTest
	@MethodSource("lifecycles")
	<T> void methodThatTheDefinitionOfTheBeanNames(Class<T> type, BeanDefinitionCustomizer customizer) {
		Lifecycle.ran.set(false);
		Contexts.refuses(this.contexts.withBean("lifecycle", type, () -> BeanUtils.instantiateClass(type), customizer),
				LockDefinitionException.class,
				"(): the method is called by Spring on the bean itself (an init or destroy method),"
						+ " so that it would run unlocked (move the locked part to another bean");
		assertThat(Lifecycle.ran).isFalse();
	}

	@ParameterizedTest
	@MethodSource("otherLifecycles")
	<T> void methodThatSpringDoesNotCallOrThatIsNotMeant(Class<T> type, BeanDefinitionCustomizer customizer) {
		this.contexts.withBean("lifecycle", type, () -> BeanUtils.instantiateClass(type), customizer).run((context) -> {
			assertThat(context).hasNotFailed();
			assertThat(context.getBean("lifecycle")).isInstanceOf(type);
		});
	}

	@Test
	void lockIsFoundThroughOtherProxies() {
		this.contexts.withBean(Wrapper.class)
			.withBean("wrapped", Greeting.class, Greeter::new)
			.withBean("interface", Greeting.class, Greeter::new)
			.withBean("swappable", Greeting.class, Greeter::new)
			.withBean("foreign", LockedGreeting.class,
					() -> () -> LockHandle.current().map(LockHandle::keys).orElse(List.of()))
			.withBean("made", GreeterFactory.class)
			.run((context) -> {
				assertThat(context).hasNotFailed();
				for (String name : List.of("wrapped", "interface", "foreign", "swappable", "made")) {
					assertThat(context.getBean(name, Greeting.class).heldKeys()).as(name).containsExactly("greeting");
				}
			});
	}

	@Test
	void lockIsMissedThroughOtherProxies() {
		Contexts.refuses(this.contexts.withBean("wrapper", Wrapper.class).withBean("advice", LockedAdvice.class),
				LockDefinitionException.class, "Bean 'advice' (" + LockedAdvice.class.getName() + ")");
	}

	@Test
	void lockIsFoundBehindAScopedProxy() {
		this.contexts
			.withInitializer((context) -> context.getBeanFactory().registerScope("thread", new SimpleThreadScope()))
			.withUserConfiguration(Scoped.class)
			.run((context) -> {
				assertThat(context).hasNotFailed();
				assertThat(context.getBean("greeter", Greeter.class).heldKeys()).containsExactly("greeting");
			});
	}

	@Test
	void instanceThatSomebodyRegistersIsNotRefused() {
		this.contexts.withInitializer((context) -> context.getBeanFactory().registerSingleton("greeter", new Greeter()))
			.run((context) -> {
				assertThat(context).hasNotFailed();
				assertThat(context.getBean(Greeter.class).heldKeys()).isEmpty();
			});
		this.contexts.withBean("greeter", Greeter.class, () -> {
			throw new IllegalStateException("is replaced");
		})
			.withBean(BeanFactoryPostProcessor.class,
					() -> (beans) -> beans.registerSingleton("greeter", new Greeter()))
			.run((context) -> {
				assertThat(context).hasNotFailed();
				assertThat(context.getBean(Greeter.class).heldKeys()).isEmpty();
			});
	}

	@Test
	void disturbsNoBean(CapturedOutput output) {
		this.contexts.withBean(Greeter.class)
			.run((context) -> assertThat(context.getBean(Greeter.class).heldKeys()).containsExactly("greeting"));
		assertThat(output).doesNotContain("is not eligible for getting processed by all BeanPostProcessors");
	}

	@Test
	void isPartOfAnApplicationThatIsProcessedAheadOfTime() {
		InMemoryGeneratedFiles files = new InMemoryGeneratedFiles();
		GenericApplicationContext context = new AnnotationConfigApplicationContext();
		context.registerBean(DistributedLockAutoConfiguration.class);
		context.registerBean("greeter", Greeter.class);
		DefaultGenerationContext generation = new DefaultGenerationContext(
				new ClassNameGenerator(ClassName.get("acme", "Application")), files);
		new ApplicationContextAotGenerator().processAheadOfTime(context, generation);
		generation.writeGeneratedContent();
		assertThat(files.getGeneratedFiles(GeneratedFiles.Kind.SOURCE).keySet())
			.anyMatch((name) -> name.endsWith("autoconfigure/LockProxyCheck__BeanDefinitions.java"));
	}

	@Test
	void nothingIsRefusedWithoutLocks() {
		this.contexts.withPropertyValues("distributed-lock.enabled=false")
			.withBean("greeter", Greeter.class)
			.withInitializer(early(NeedyFactoryPostProcessor.class))
			.withBean("advice", LockedAdvice.class)
			.run((context) -> assertThat(context).hasNotFailed());
	}

	static class Needy {

		public Needy(Greeter greeter) {
		}

	}

	static class NeedyFactoryPostProcessor extends Needy implements BeanFactoryPostProcessor {

		public NeedyFactoryPostProcessor(Greeter greeter) {
			super(greeter);
		}

		@Override
		public void postProcessBeanFactory(ConfigurableListableBeanFactory beans) {
		}

	}

	static class NeedyPostProcessor extends Needy implements BeanPostProcessor, PriorityOrdered {

		public NeedyPostProcessor(Greeter greeter) {
			super(greeter);
		}

		@Override
		public int getOrder() {
			return 0;
		}

	}

	static class NeedyRegistryPostProcessor extends Needy
			implements BeanDefinitionRegistryPostProcessor, PriorityOrdered {

		public NeedyRegistryPostProcessor(Greeter greeter) {
			super(greeter);
		}

		@Override
		public void postProcessBeanDefinitionRegistry(BeanDefinitionRegistry registry) {
		}

		@Override
		public int getOrder() {
			return HIGHEST_PRECEDENCE;
		}

	}

	static class First implements BeanPostProcessor, PriorityOrdered {

		@Override
		public int getOrder() {
			return 0;
		}

	}

	@Configuration(proxyBeanMethods = false)
	static class NotStatic {

		@Bean
		First early() {
			return new First();
		}

		@DistributedLock
		public void refresh() {
		}

	}

	static class LockedAdvice implements MethodInterceptor {

		@Override
		@DistributedLock
		public Object invoke(MethodInvocation invocation) throws Throwable {
			return invocation.proceed();
		}

	}

	static class Lifecycle {

		static final AtomicBoolean ran = new AtomicBoolean();

		@DistributedLock
		public void start() {
			ran.set(true);
		}

		@DistributedLock
		public void shutdown() {
			ran.set(true);
		}

	}

	static class ClosedLifecycle {

		@DistributedLock
		public void close() {
			Lifecycle.ran.set(true);
		}

	}

	static class CloseableLifecycle extends ClosedLifecycle implements Closeable {

		@Override
		@DistributedLock
		public void close() {
			super.close();
		}

	}

	@DistributedLock
	static class AnnotatedLifecycle implements Closeable {

		public void start() {
		}

		@Override
		public void close() {
		}

	}

	interface LockedGreeting extends Greeting {

		@Override
		@DistributedLock(key = "'greeting'")
		List<String> heldKeys();

	}

	/**
	 * Comes after the auto-proxy creator, and does not show what is inside.
	 */
	static class Wrapper implements BeanPostProcessor {

		@Override
		public Object postProcessAfterInitialization(Object bean, String name) {
			return switch (name) {
				case "wrapped", "advice" ->
					ofClass(new SingletonTargetSource(ofClass(new SingletonTargetSource(bean))));
				case "swappable" -> ofClass(new HotSwappableTargetSource(bean));
				case "interface" -> ProxyFactory.getProxy(Greeting.class, new SingletonTargetSource(bean));
				case "foreign" -> foreign(bean);
				default -> bean;
			};
		}

		// A proxy of interfaces is not refused, whatever the target.
		private static Object ofClass(TargetSource target) {
			ProxyFactory factory = new ProxyFactory();
			factory.setTargetSource(target);
			factory.setProxyTargetClass(true);
			return factory.getProxy();
		}

		private static Object foreign(Object bean) {
			return Proxy.newProxyInstance(LockedGreeting.class.getClassLoader(),
					new Class<?>[] { LockedGreeting.class }, (proxy, method, args) -> {
						try {
							return method.invoke(bean, args);
						}
						catch (InvocationTargetException ex) {
							throw ex.getCause();
						}
					});
		}

	}

	@Configuration(proxyBeanMethods = false)
	static class Scoped {

		@Bean
		@Scope(scopeName = "thread", proxyMode = ScopedProxyMode.TARGET_CLASS)
		Greeter greeter() {
			return new Greeter();
		}

		@Bean // needs the proxy before there are locks, but not what is behind it
		static BeanFactoryPostProcessor early(Greeter greeter) {
			return (beanFactory) -> {
			};
		}

	}

}
