package io.github.distributedlock.aop;

import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeoutException;

import io.github.distributedlock.LockNotAcquiredException;
import io.github.distributedlock.annotation.DistributedLock;
import org.aopalliance.intercept.MethodInterceptor;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

import org.springframework.aop.Advisor;
import org.springframework.aop.ProxyMethodInvocation;
import org.springframework.aop.support.DefaultPointcutAdvisor;
import org.springframework.aop.support.NameMatchMethodPointcut;
import org.springframework.beans.factory.config.BeanDefinition;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.Role;
import org.springframework.core.Ordered;
import org.springframework.core.annotation.AnnotationUtils;
import org.springframework.retry.annotation.EnableRetry;
import org.springframework.retry.annotation.RetryConfiguration;
import org.springframework.retry.annotation.Retryable;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

/**
 * The lock and the retries of libraries, whose advice has an order of its own. Spring's
 * own are in {@link ResilienceTests}.
 */
class RetryOrderTests {

	@ParameterizedTest
	@ValueSource(classes = { SpringRetry.class, Resilience4j.class })
	void oneLockForAllAttempts(Class<?> library) {
		try (AdvisorContext context = AdvisorContext.of(library, Configured.class)) {
			context.get(Service.class).attempt();
			assertThat(context.lock().events).containsExactly("acquire", "run", "run", "release");
		}
	}

	@ParameterizedTest
	@ValueSource(classes = { SpringRetry.class, Resilience4j.class })
	void busyLockIsNotTriedAgain(Class<?> library) {
		try (AdvisorContext context = AdvisorContext.of(library, Configured.class)) {
			context.lock().busy = true;
			assertThatExceptionOfType(LockNotAcquiredException.class).isThrownBy(context.get(Service.class)::attempt);
			assertThat(context.lock().requests).hasSize(1);
		}
	}

	@ParameterizedTest
	@ValueSource(classes = { SpringRetryFirst.class, Resilience4jFirst.class })
	void aLockForEachAttemptWhereRetriesComeFirst(Class<?> library) {
		try (AdvisorContext context = AdvisorContext.of(library, Configured.class)) {
			context.get(Service.class).attempt();
			assertThat(context.lock().events).containsExactly("acquire", "run", "release", "acquire", "run", "release");
		}
	}

	/**
	 * Its time-out ends the future that the method has returned, and the lock with it.
	 */
	@Test
	void timeLimiterInsideOfTheLockReleasesIt() {
		try (AdvisorContext context = AdvisorContext.of(TimeLimiter.class, Configured.class)) {
			assertThat(context.get(Service.class).later()).isCompletedExceptionally();
			assertThat(context.lock().events).containsExactly("acquire", "release");
		}
	}

	@Test
	void lockIsHeldUntilTheMethodIsDoneWhereTheTimeLimiterComesFirst() {
		try (AdvisorContext context = AdvisorContext.of(TimeLimiterFirst.class, Configured.class)) {
			assertThat(context.get(Service.class).later()).isCompletedExceptionally();
			assertThat(context.lock().events).containsExactly("acquire");
			CompletableFuture<?> result = context.get(CompletableFuture.class);
			result.complete(null);
			assertThat(context.lock().events).containsExactly("acquire", "release");
		}
	}

	static class Service {

		private final List<String> events;

		private final CompletableFuture<Void> result;

		Service(List<String> events, CompletableFuture<Void> result) {
			this.events = events;
			this.result = result;
		}

		@DistributedLock
		public CompletableFuture<Void> later() {
			return this.result;
		}

		@Retryable(maxAttempts = 2)
		@DistributedLock
		public void attempt() {
			this.events.add("run");
			if (this.events.indexOf("run") == this.events.lastIndexOf("run")) {
				throw new IllegalStateException("fails once");
			}
		}

	}

	@Configuration(proxyBeanMethods = false)
	static class Configured {

		@Bean
		Service service(RecordingLock lock, CompletableFuture<Void> result) {
			return new Service(lock.events, result);
		}

		@Bean
		CompletableFuture<Void> result() {
			return new CompletableFuture<>();
		}

	}

	/**
	 * As {@code @EnableRetry} has it, which needs AspectJ.
	 */
	@Configuration(proxyBeanMethods = false)
	static class SpringRetry {

		@Bean
		@Role(BeanDefinition.ROLE_INFRASTRUCTURE)
		static RetryConfiguration retries() {
			RetryConfiguration configuration = new RetryConfiguration();
			configuration.setOrder((int) AnnotationUtils.getDefaultValue(EnableRetry.class, "order"));
			return configuration;
		}

	}

	@Configuration(proxyBeanMethods = false)
	static class SpringRetryFirst {

		@Bean
		@Role(BeanDefinition.ROLE_INFRASTRUCTURE)
		static RetryConfiguration retries() {
			RetryConfiguration configuration = new RetryConfiguration();
			configuration.setOrder(DistributedLockAdvisor.DEFAULT_ORDER - 1);
			return configuration;
		}

	}

	/**
	 * With the order of its {@code RetryAspect}, since AspectJ is not here.
	 */
	@Configuration(proxyBeanMethods = false)
	static class Resilience4j {

		@Bean
		@Role(BeanDefinition.ROLE_INFRASTRUCTURE)
		static Advisor retries() {
			return secondAttempt(Ordered.LOWEST_PRECEDENCE - 5);
		}

	}

	@Configuration(proxyBeanMethods = false)
	static class Resilience4jFirst {

		@Bean
		@Role(BeanDefinition.ROLE_INFRASTRUCTURE)
		static Advisor retries() {
			return secondAttempt(DistributedLockAdvisor.DEFAULT_ORDER - 1);
		}

	}

	@Configuration(proxyBeanMethods = false)
	static class TimeLimiter {

		@Bean
		@Role(BeanDefinition.ROLE_INFRASTRUCTURE)
		static Advisor limit() {
			return timeOut(Ordered.LOWEST_PRECEDENCE - 2);
		}

	}

	@Configuration(proxyBeanMethods = false)
	static class TimeLimiterFirst {

		@Bean
		@Role(BeanDefinition.ROLE_INFRASTRUCTURE)
		static Advisor limit() {
			return timeOut(DistributedLockAdvisor.DEFAULT_ORDER - 1);
		}

	}

	private static Advisor timeOut(int order) {
		return advisor("later", order, (invocation) -> {
			CompletableFuture<?> future = (CompletableFuture<?>) invocation.proceed();
			future.completeExceptionally(new TimeoutException());
			return future;
		});
	}

	private static Advisor secondAttempt(int order) {
		return advisor("attempt", order, (invocation) -> {
			try {
				return ((ProxyMethodInvocation) invocation).invocableClone().proceed();
			}
			catch (IllegalStateException ex) {
				return invocation.proceed();
			}
		});
	}

	private static Advisor advisor(String method, int order, MethodInterceptor advice) {
		NameMatchMethodPointcut pointcut = new NameMatchMethodPointcut();
		pointcut.setMappedName(method);
		DefaultPointcutAdvisor advisor = new DefaultPointcutAdvisor(pointcut, advice);
		advisor.setOrder(order);
		return advisor;
	}

}
