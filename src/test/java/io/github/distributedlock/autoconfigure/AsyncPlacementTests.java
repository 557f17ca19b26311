package io.github.distributedlock.autoconfigure;

import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.Executor;
import java.util.concurrent.TimeUnit;

import io.github.distributedlock.LockDefinitionException;
import io.github.distributedlock.LockEvent;
import io.github.distributedlock.LockHandle;
import io.github.distributedlock.LockListener;
import io.github.distributedlock.annotation.DistributedLock;
import io.github.distributedlock.annotation.IfBusy;
import io.github.distributedlock.fixtures.Patience;
import org.aopalliance.intercept.MethodInterceptor;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import reactor.core.publisher.Mono;

import org.springframework.aop.framework.ProxyFactory;
import org.springframework.aop.framework.autoproxy.DefaultAdvisorAutoProxyCreator;
import org.springframework.beans.factory.FactoryBean;
import org.springframework.beans.factory.config.BeanDefinition;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.context.ApplicationContext;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.Role;
import org.springframework.core.Ordered;
import org.springframework.scheduling.annotation.Async;
import org.springframework.scheduling.annotation.AsyncAnnotationAdvisor;
import org.springframework.scheduling.annotation.EnableAsync;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatException;

/**
 * The lock of a method that runs on another thread is taken there, and only there.
 */
class AsyncPlacementTests {

	private static final int CALLS = 5;

	private final List<LockEvent> events = new CopyOnWriteArrayList<>();

	private final ApplicationContextRunner contexts = Contexts.inMemory()
		.withBean(LockListener.class, () -> this.events::add)
		.withBean("taskExecutor", Executor.class, () -> AsyncPlacementTests::executeElsewhere);

	/**
	 * The caller goes on when the other thread is done, so that a lock that the caller
	 * holds is in the way of the other thread for certain.
	 */
	private static void executeElsewhere(Runnable task) {
		Thread thread = new Thread(task, "elsewhere");
		thread.start();
		try {
			thread.join(Patience.PATIENCE.toMillis());
		}
		catch (InterruptedException ex) {
			Thread.currentThread().interrupt();
		}
	}

	@ParameterizedTest
	@ValueSource(classes = { AsyncFirst.class, CustomAsyncFirst.class, AdvisorInside.class })
	void asyncInsideOfTheLock(Class<?> configuration) {
		Contexts.refuses(this.contexts.withUserConfiguration(configuration).withBean(AsyncMethod.class),
				LockDefinitionException.class,
				"@DistributedLock on " + AsyncMethod.class.getName() + ".run(): the method is handed to another"
						+ " thread by advice inside of its lock (AnnotationAsyncExecutionInterceptor), which would run"
						+ " it unlocked (give @EnableAsync no order of its own, so that it is outside of the lock, or"
						+ " call the locked method of another bean in the asynchronous one)");
		this.contexts.withUserConfiguration(configuration).withBean(Plain.class).run((context) -> {
			assertThat(context).hasNotFailed();
			assertThat(context.getBean(Plain.class).locked()).as("not asynchronous").containsExactly("plain");
		});
	}

	/**
	 * Repositories and HTTP clients are made like this.
	 */
	@Test
	void asyncInsideOfTheLockOfAnInterfaceProxy() {
		Contexts.refuses(
				this.contexts.withUserConfiguration(AsyncFirst.class)
					.withPropertyValues("spring.aop.proxy-target-class=false")
					.withBean(Contract.class, Implementation::new),
				LockDefinitionException.class, "is handed to another thread by advice inside of its lock");
		this.contexts.withUserConfiguration(AsyncFirst.class)
			.withBean(ContractFactory.class)
			.run((context) -> assertThatException().isThrownBy(() -> context.getBean(Contract.class))
				.havingRootCause()
				.isInstanceOf(LockDefinitionException.class)
				.withMessageContaining("is handed to another thread by advice inside of its lock"));
		this.contexts.withUserConfiguration(SecondCreator.class).withBean(ContractFactory.class).run((context) -> {
			context.getBean(Contract.class).run();
			assertThat(this.events).filteredOn(LockEvent.Acquired.class::isInstance).hasSize(1);
		});
	}

	@Test
	void proxyThatHidesTheAnnotationOfTheClass() {
		Contexts.refuses(
				this.contexts.withUserConfiguration(AsyncFirst.class)
					.withPropertyValues("spring.aop.proxy-target-class=false")
					.withBean("work", UnlockedContract.class, LockedImplementation::new),
				LockDefinitionException.class, "Bean 'work' (" + LockedImplementation.class.getName() + ")",
				"@EnableAsync");
	}

	/**
	 * The name is that of the aspect in Spring's XML and in {@code AdviceMode.ASPECTJ},
	 * which needs classes that AspectJ has woven.
	 */
	@ParameterizedTest
	@ValueSource(classes = { AsyncMethod.class, AsyncClass.class })
	void asyncThatIsWovenIntoTheMethod(Class<?> work) {
		Contexts.refuses(
				this.contexts
					.withBean("org.springframework.scheduling.config.internalAsyncExecutionAspect", Object.class,
							Object::new)
					.withBean(work),
				LockDefinitionException.class,
				work.getName() + ".run(): AspectJ hands the method to another thread inside of its"
						+ " lock (@EnableAsync with AdviceMode.ASPECTJ), which would run it unlocked");
	}

	/**
	 * With a second auto-proxy creator both proxies have the lock, and the asynchronous
	 * advice is on the inner one.
	 */
	@ParameterizedTest
	@ValueSource(classes = { AsyncAsUsual.class, SecondCreator.class, FirstCreator.class })
	void asyncOutsideOfTheLock(Class<?> configuration) {
		this.contexts.withUserConfiguration(configuration).withBean(Work.class).run(this::runsEachCall);
	}

	@ParameterizedTest
	@ValueSource(classes = { SecondCreator.class, FirstCreator.class })
	void eachCallBehindTwoInterfaceProxies(Class<?> configuration) {
		this.contexts.withUserConfiguration(configuration)
			.withPropertyValues("spring.aop.proxy-target-class=false")
			.withBean(Contract.class, Implementation::new)
			.run((context) -> {
				context.getBean(Contract.class).run();
				assertThat(this.events).filteredOn(LockEvent.Acquired.class::isInstance).hasSize(1);
				assertThat(this.events).noneMatch(LockEvent.NotAcquired.class::isInstance);
			});
	}

	private void runsEachCall(ApplicationContext context) throws Exception {
		Work work = context.getBean(Work.class);
		for (int i = 0; i < CALLS; i++) {
			work.run();
			assertThat(work.result().get(Patience.PATIENCE.toSeconds(), TimeUnit.SECONDS)).containsExactly("result");
			assertThat(work.synchronous()).containsExactly("synchronous");
			assertThat(work.reactive().block(Patience.PATIENCE)).isEqualTo("value");
		}
		assertThat(this.events).filteredOn(LockEvent.Acquired.class::isInstance).hasSize(4 * CALLS);
		assertThat(this.events).noneMatch(LockEvent.NotAcquired.class::isInstance);
	}

	static class Work {

		@Async
		@DistributedLock(key = "'run'", ifBusy = IfBusy.SKIP)
		public void run() {
			assertThat(LockHandle.current()).isPresent();
		}

		@Async
		@DistributedLock(key = "'result'", waitTime = "0s")
		public CompletableFuture<List<String>> result() {
			return CompletableFuture.completedFuture(LockHandle.current().orElseThrow().keys());
		}

		@DistributedLock(key = "'synchronous'", waitTime = "0s")
		public List<String> synchronous() {
			return LockHandle.current().orElseThrow().keys();
		}

		@DistributedLock(key = "'reactive'", waitTime = "0s")
		public Mono<String> reactive() {
			return Mono.just("value");
		}

	}

	static class AsyncMethod {

		@Async
		@Custom
		@DistributedLock
		public void run() {
		}

	}

	@Async
	static class AsyncClass {

		@DistributedLock
		public void run() {
		}

	}

	static class Plain {

		@DistributedLock(key = "'plain'")
		public List<String> locked() {
			return LockHandle.current().map(LockHandle::keys).orElse(List.of());
		}

		@Async
		@Custom
		public void asynchronous() {
		}

	}

	interface Contract {

		@Async
		@DistributedLock(key = "'run'", ifBusy = IfBusy.SKIP)
		void run();

	}

	static class Implementation implements Contract {

		@Override
		public void run() {
			assertThat(LockHandle.current()).isPresent();
		}

	}

	static class ContractFactory implements FactoryBean<Contract> {

		@Override
		public Contract getObject() {
			MethodInterceptor client = (invocation) -> {
				assertThat(LockHandle.current()).isPresent();
				return null;
			};
			return ProxyFactory.getProxy(Contract.class, client);
		}

		@Override
		public Class<?> getObjectType() {
			return Contract.class;
		}

	}

	interface UnlockedContract {

		void run();

	}

	static class LockedImplementation implements UnlockedContract {

		@Override
		@Async
		@DistributedLock
		public void run() {
		}

	}

	@Retention(RetentionPolicy.RUNTIME)
	@interface Custom {

	}

	@Configuration(proxyBeanMethods = false)
	@EnableAsync
	static class AsyncAsUsual {

	}

	@Configuration(proxyBeanMethods = false)
	@EnableAsync(order = Ordered.HIGHEST_PRECEDENCE)
	static class AsyncFirst {

	}

	@Configuration(proxyBeanMethods = false)
	@EnableAsync(order = Ordered.HIGHEST_PRECEDENCE, annotation = Custom.class)
	static class CustomAsyncFirst {

	}

	@Configuration(proxyBeanMethods = false)
	static class AdvisorInside {

		@Bean
		@Role(BeanDefinition.ROLE_INFRASTRUCTURE)
		static AsyncAnnotationAdvisor advisor() {
			AsyncAnnotationAdvisor advisor = new AsyncAnnotationAdvisor();
			advisor.setOrder(Ordered.LOWEST_PRECEDENCE);
			return advisor;
		}

	}

	/**
	 * The second auto-proxy creator comes after the advice of {@code @Async}.
	 */
	@Configuration(proxyBeanMethods = false)
	@EnableAsync
	static class SecondCreator {

		@Bean
		static DefaultAdvisorAutoProxyCreator second() {
			DefaultAdvisorAutoProxyCreator creator = new DefaultAdvisorAutoProxyCreator();
			// On Spring 6 the proxy of a proxy would have only the interfaces of proxies.
			creator.setProxyTargetClass(true);
			return creator;
		}

	}

	/**
	 * The second auto-proxy creator comes before the advice of {@code @Async}.
	 */
	@Configuration(proxyBeanMethods = false)
	@EnableAsync
	static class FirstCreator {

		@Bean
		static DefaultAdvisorAutoProxyCreator second() {
			DefaultAdvisorAutoProxyCreator creator = new DefaultAdvisorAutoProxyCreator();
			creator.setProxyTargetClass(true);
			creator.setOrder(Ordered.HIGHEST_PRECEDENCE);
			return creator;
		}

	}

}
