package io.github.distributedlock.aop;

import java.lang.reflect.Method;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CopyOnWriteArrayList;

import io.github.distributedlock.fixtures.Patience;
import io.github.distributedlock.internal.reactive.LockedResult;
import io.micrometer.context.ContextRegistry;
import org.aopalliance.intercept.MethodInterceptor;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import reactor.core.publisher.Hooks;
import reactor.core.publisher.Mono;
import reactor.test.StepVerifier;

import org.springframework.aop.Advisor;
import org.springframework.aop.interceptor.ExposeInvocationInterceptor;
import org.springframework.aop.support.DefaultPointcutAdvisor;
import org.springframework.aop.support.StaticMethodMatcherPointcut;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * The lock of a result that is subscribed to, beside other advice, and beside what else
 * takes part in a chain.
 */
class ReactiveAdviceTests {

	private static final String TRACE = "trace";

	private static final List<String> advice = new CopyOnWriteArrayList<>();

	private AdvisorContext context;

	private ReactiveFixture.Service service;

	@BeforeEach
	void start() {
		advice.clear();
		this.context = new AdvisorContext().advice(ReactiveAdviceTests::inner).start(ReactiveFixture.Service.class);
		this.service = this.context.get(ReactiveFixture.Service.class);
	}

	@AfterEach
	void stop() {
		Hooks.resetOnOperatorDebug();
		Hooks.disableAutomaticContextPropagation();
		ContextRegistry.getInstance().removeThreadLocalAccessor(TRACE);
		this.context.close();
	}

	@Test
	void eachSubscriptionPassesTheAdviceInside() {
		Mono<String> result = this.service.mono(() -> Mono.just("value"));
		assertThat(advice).isEmpty();
		verify(result);
		verify(result);
		assertThat(advice).containsExactly("mono", "mono");
	}

	@Test
	void contextOfTheSubscriberReachesTheMethod() {
		StepVerifier
			.create(this.service.mono(() -> Mono.deferContextual((view) -> Mono.just(view.get("trace"))))
				.contextWrite((view) -> view.put("trace", "t1")))
			.expectNext("t1")
			.verifyComplete();
	}

	/**
	 * A tracer keeps the span in a thread-local. Other threads tell of the lock and of
	 * the release.
	 */
	@Test
	void threadLocalsOfTheSubscriberReachTheMethodAndWhatFollows() {
		ThreadLocal<String> trace = new ThreadLocal<>();
		ContextRegistry.getInstance().registerThreadLocalAccessor(TRACE, trace);
		Hooks.enableAutomaticContextPropagation();
		CompletableFuture<Void> turn = new CompletableFuture<>();
		CompletableFuture<Void> released = new CompletableFuture<>();
		this.context.lock().turn = turn;
		this.context.lock().released = released;
		trace.set("t1");
		CompletableFuture<String> result = this.service.mono(() -> Mono.just(trace.get()))
			.map((inside) -> inside + " inside, " + trace.get() + " after")
			.contextCapture()
			.toFuture();
		trace.remove();
		turn.complete(null);
		released.complete(null);
		assertThat(result).succeedsWithin(Patience.PATIENCE).isEqualTo("t1 inside, t1 after");
	}

	@Test
	void assemblyTracesSurvive() {
		Hooks.onOperatorDebug();
		StepVerifier
			.create(this.service.mono(() -> Mono.error(new IllegalStateException("no"))).map((value) -> value + "!"))
			.verifyErrorSatisfies((thrown) -> assertThat(thrown.getSuppressed()).anySatisfy((trace) -> assertThat(trace)
				.hasMessageContainingAll("Assembly trace", LockedResult.class.getPackageName())));
	}

	private static void verify(Mono<String> result) {
		StepVerifier.create(result).expectNext("value").verifyComplete();
	}

	private static Advisor inner() {
		MethodInterceptor interceptor = (invocation) -> {
			// Aspects ask in this way.
			advice.add(ExposeInvocationInterceptor.currentInvocation().getMethod().getName());
			return invocation.proceed();
		};
		return new DefaultPointcutAdvisor(new StaticMethodMatcherPointcut() {

			@Override
			public boolean matches(Method method, Class<?> targetClass) {
				return targetClass == ReactiveFixture.Service.class;
			}

		}, interceptor);
	}

}
