package io.github.distributedlock.aop;

import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;

import io.github.distributedlock.annotation.DistributedLock;
import io.github.distributedlock.fixtures.Patience;
import org.aopalliance.intercept.MethodInterceptor;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import reactor.core.publisher.Mono;

import org.springframework.aop.Advisor;
import org.springframework.aop.ProxyMethodInvocation;
import org.springframework.aop.framework.Advised;
import org.springframework.aop.framework.AopProxyUtils;
import org.springframework.aop.framework.autoproxy.DefaultAdvisorAutoProxyCreator;
import org.springframework.aop.support.AopUtils;
import org.springframework.aop.support.DefaultPointcutAdvisor;
import org.springframework.aop.support.NameMatchMethodPointcut;
import org.springframework.beans.factory.config.BeanPostProcessor;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.core.Ordered;
import org.springframework.transaction.PlatformTransactionManager;
import org.springframework.transaction.annotation.EnableTransactionManagement;
import org.springframework.transaction.annotation.Transactional;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * A second auto-proxy creator applies all advisors again, and so puts a proxy with the
 * lock around a proxy with the lock. A call acquires the lock once, at the place where
 * the lock would be without the second creator.
 */
class NestedProxiesTests {

	@ParameterizedTest
	@ValueSource(booleans = { true, false })
	void eachCallTakesTheLockOnce(boolean classProxies) {
		try (AdvisorContext context = start(classProxies, TwoCreators.class)) {
			Desk desk = desk(context);
			List<String> events = context.lock().events;
			desk.transactional();
			assertThat(events).containsExactly("acquire", "begin", "run", "commit", "release");
			assertThat(context.lock().keys()).containsExactly(Reception.class.getName() + ".transactional");
			events.clear();
			Patience.get(desk.stage().toCompletableFuture(), "the stage");
			assertThat(events).containsExactly("acquire", "run", "release");
			events.clear();
			Mono<String> result = desk.reactive();
			assertThat(events).isEmpty();
			result.block(Patience.PATIENCE);
			result.block(Patience.PATIENCE);
			assertThat(events).containsExactly("acquire", "run", "release", "acquire", "run", "release");
			events.clear();
			// The inner call is another call, although of the same method.
			desk.recursive(desk, 1);
			assertThat(events).containsExactly("acquire", "acquire", "run", "release", "run", "release");
			events.clear();
			// The advice was put around the inner proxy alone, to be outside of all
			// other.
			desk.retried();
			assertThat(events).containsExactly("acquire", "run", "release", "acquire", "run", "release");
			context.lock().busy = true;
			assertThat(desk.fallingBack()).isEqualTo("fallen back");
		}
	}

	/**
	 * The second creator sees the first one's proxy, which has only the interfaces.
	 */
	@Test
	void fallbackThatTheInterfaceLacks() {
		new AdvisorContext().interfaceProxies()
			.refuses(TwoCreators.class, Counter.class)
			.hasMessageContainingAll(
					"fallback = \"fallBack\" fits no method of the interfaces of the bean, which is a"
							+ " proxy, so that its class is hidden",
					"in the interface; or, if the class has it, set spring.aop.proxy-target-class=true");
		try (AdvisorContext context = AdvisorContext.of(TwoCreators.class, Counter.class)) {
			context.lock().busy = true;
			assertThat(context.get(Serving.class).serve()).isEqualTo("fallen back");
		}
	}

	/**
	 * Listener containers call the proxy that their post-processor has seen.
	 */
	@ParameterizedTest
	@ValueSource(booleans = { true, false })
	void inTheInnerProxyThatAPostProcessorKeeps(boolean classProxies) {
		try (AdvisorContext context = start(classProxies, TwoCreators.class)) {
			desk(context);
			Desk kept = (Desk) context.get(Keeper.class).kept;
			assertThat(kept).isNotSameAs(desk(context));
			kept.transactional();
			assertThat(context.lock().events).containsExactly("acquire", "begin", "run", "commit", "release");
		}
	}

	@ParameterizedTest
	@ValueSource(booleans = { true, false })
	void withThreeCreators(boolean classProxies) {
		try (AdvisorContext context = start(classProxies, TwoCreators.class, Third.class)) {
			context.get(Desk.class).transactional();
			assertThat(context.lock().events).containsExactly("acquire", "begin", "run", "commit", "release");
		}
	}

	private static AdvisorContext start(boolean classProxies, Class<?>... components) {
		return (classProxies ? new AdvisorContext() : new AdvisorContext().interfaceProxies()).start(components);
	}

	private static Desk desk(AdvisorContext context) {
		Desk desk = context.get(Desk.class);
		assertThat(AopUtils.isAopProxy(AopProxyUtils.getSingletonTarget(desk))).isTrue();
		return desk;
	}

	@DistributedLock
	interface Desk {

		@Transactional
		void transactional();

		CompletionStage<String> stage();

		Mono<String> reactive();

		@DistributedLock(fallback = "fallBack")
		String fallingBack();

		String fallBack();

		void recursive(Desk desk, int depth);

		void retried();

	}

	static class Reception implements Desk {

		private final List<String> events;

		Reception(List<String> events) {
			this.events = events;
		}

		@Override
		public void transactional() {
			this.events.add("run");
		}

		@Override
		public CompletionStage<String> stage() {
			this.events.add("run");
			return CompletableFuture.completedFuture("value");
		}

		@Override
		public Mono<String> reactive() {
			return Mono.fromCallable(() -> {
				this.events.add("run");
				return "value";
			});
		}

		@Override
		public String fallingBack() {
			return "run";
		}

		@Override
		public String fallBack() {
			return "fallen back";
		}

		@Override
		public void recursive(Desk desk, int depth) {
			if (depth > 0) {
				desk.recursive(desk, depth - 1);
			}
			this.events.add("run");
		}

		@Override
		public void retried() {
			this.events.add("run");
		}

	}

	@DistributedLock(fallback = "fallBack")
	interface Serving {

		String serve();

	}

	static class Counter implements Serving {

		@Override
		public String serve() {
			return "run";
		}

		private String fallBack() {
			return "fallen back";
		}

	}

	@Configuration(proxyBeanMethods = false)
	@EnableTransactionManagement
	static class TwoCreators {

		@Bean
		Reception reception(RecordingLock lock) {
			return new Reception(lock.events);
		}

		@Bean
		static DefaultAdvisorAutoProxyCreator second() {
			return new DefaultAdvisorAutoProxyCreator();
		}

		@Bean
		static Keeper keeper() {
			return new Keeper();
		}

		@Bean
		PlatformTransactionManager transactionManager(RecordingLock lock) {
			return new RecordingTransactionManager(lock.events);
		}

	}

	@Configuration(proxyBeanMethods = false)
	static class Third {

		@Bean
		static DefaultAdvisorAutoProxyCreator third() {
			return new DefaultAdvisorAutoProxyCreator();
		}

	}

	/**
	 * Comes between the two auto-proxy creators.
	 */
	static class Keeper implements BeanPostProcessor, Ordered {

		private volatile Object kept;

		@Override
		public Object postProcessAfterInitialization(Object bean, String name) {
			if (bean instanceof Desk) {
				this.kept = bean;
				((Advised) bean).addAdvisor(0, retries());
			}
			return bean;
		}

		private static Advisor retries() {
			NameMatchMethodPointcut pointcut = new NameMatchMethodPointcut();
			pointcut.setMappedName("retried");
			MethodInterceptor twice = (invocation) -> {
				((ProxyMethodInvocation) invocation).invocableClone().proceed();
				return invocation.proceed();
			};
			return new DefaultPointcutAdvisor(pointcut, twice);
		}

		@Override
		public int getOrder() {
			return 0;
		}

	}

}
