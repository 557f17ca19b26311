package io.github.distributedlock.aop;

import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeoutException;

import io.github.distributedlock.LockNotAcquiredException;
import io.github.distributedlock.annotation.DistributedLock;
import org.aopalliance.intercept.MethodInterceptor;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

import org.springframework.aop.Advisor;
import org.springframework.aop.ProxyMethodInvocation;
import org.springframework.aop.support.DefaultPointcutAdvisor;
import org.springframework.aop.support.NameMatchMethodPointcut;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
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
	@EnumSource
	void oneLockForAllAttempts(Library library) {
		try (AdvisorContext context = library.start(library.order)) {
			context.get(Service.class).attempt();
			assertThat(context.lock().events).containsExactly("acquire", "run", "run", "release");
		}
	}

	@ParameterizedTest
	@EnumSource
	void busyLockIsNotTriedAgain(Library library) {
		try (AdvisorContext context = library.start(library.order)) {
			context.lock().busy = true;
			assertThatExceptionOfType(LockNotAcquiredException.class).isThrownBy(context.get(Service.class)::attempt);
			assertThat(context.lock().requests).hasSize(1);
		}
	}

	@ParameterizedTest
	@EnumSource
	void lockForEachAttemptWhereRetriesComeFirst(Library library) {
		try (AdvisorContext context = library.start(DistributedLockAdvisor.DEFAULT_ORDER - 1)) {
			context.get(Service.class).attempt();
			assertThat(context.lock().events).containsExactly("acquire", "run", "release", "acquire", "run", "release");
		}
	}

	/**
	 * The time-out ends the future that the method has returned, and so the lock.
	 */
	@Test
	void timeLimiterInsideOfTheLockReleasesIt() {
		try (AdvisorContext context = start(timeOut(Ordered.LOWEST_PRECEDENCE - 2))) {
			assertThat(context.get(Service.class).later()).isCompletedExceptionally();
			assertThat(context.lock().events).containsExactly("acquire", "release");
		}
	}

	@Test
	void lockIsHeldUntilTheMethodIsDoneWhereTheTimeLimiterComesFirst() {
		try (AdvisorContext context = start(timeOut(DistributedLockAdvisor.DEFAULT_ORDER - 1))) {
			assertThat(context.get(Service.class).later()).isCompletedExceptionally();
			assertThat(context.lock().events).containsExactly("acquire");
			CompletableFuture<?> result = context.get(CompletableFuture.class);
			result.complete(null);
			assertThat(context.lock().events).containsExactly("acquire", "release");
		}
	}

	private static AdvisorContext start(Advisor advice) {
		return new AdvisorContext().advice(() -> advice).start(Configured.class);
	}

	/**
	 * A library of retries. AspectJ is not here, which {@code @EnableRetry} and
	 * {@code RetryAspect} need: the advice has their orders.
	 */
	enum Library {

		SPRING_RETRY((int) AnnotationUtils.getDefaultValue(EnableRetry.class, "order")),

		RESILIENCE4J(Ordered.LOWEST_PRECEDENCE - 5);

		private final int order;

		Library(int order) {
			this.order = order;
		}

		AdvisorContext start(int order) {
			RetryConfiguration configuration = new RetryConfiguration();
			configuration.setOrder(order);
			return RetryOrderTests.start((this == SPRING_RETRY) ? configuration : secondAttempt(order));
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
