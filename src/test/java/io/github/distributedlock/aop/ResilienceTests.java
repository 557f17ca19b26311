package io.github.distributedlock.aop;

import java.lang.reflect.Method;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.function.Supplier;

import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.condition.EnabledIf;
import org.junit.jupiter.api.io.TempDir;
import reactor.core.Disposable;
import reactor.core.publisher.Mono;
import reactor.test.StepVerifier;

import org.springframework.util.ClassUtils;
import org.springframework.util.ReflectionUtils;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * The lock of a result that is subscribed to, inside of Spring Framework 7's own
 * {@code @Retryable} and {@code @ConcurrencyLimit}.
 */
@EnabledIf("isThere")
class ResilienceTests {

	private AdvisorContext context;

	private Object service;

	static boolean isThere() {
		return ClassUtils.isPresent("org.springframework.resilience.annotation.Retryable", null);
	}

	@BeforeEach
	void start(@TempDir Path directory) {
		Class<?> type = Sources.compile(directory, "acme.Service", Map.of("acme.Service", """
				package acme;
				import java.util.function.Supplier;
				import io.github.distributedlock.annotation.DistributedLock;
				import org.springframework.resilience.annotation.*;
				import reactor.core.publisher.Mono;
				@EnableResilientMethods
				public class Service {
					@Retryable(maxRetries = 2, delay = 1)
					@DistributedLock(key = "'k'")
					public Mono<String> retried(Supplier<Mono<String>> body) {
						return body.get();
					}
					@Retryable(maxRetries = 2, delay = 1)
					@DistributedLock(key = "'k'")
					public String blocking(Supplier<String> body) {
						return body.get();
					}
					@ConcurrencyLimit(1)
					@DistributedLock(key = "'k'")
					public Mono<String> limited(Supplier<Mono<String>> body) {
						return body.get();
					}
				}
				"""));
		this.context = AdvisorContext.of(type);
		this.service = this.context.get(type);
	}

	@AfterEach
	void stop() {
		this.context.close();
	}

	@Test
	void eachAttemptOfABlockingMethodTakesTheLock() {
		List<String> failures = new CopyOnWriteArrayList<>(List.of("one", "two"));
		Supplier<String> body = () -> {
			if (!failures.isEmpty()) {
				throw new IllegalStateException(failures.remove(0));
			}
			return "value";
		};
		Method method = ReflectionUtils.findMethod(this.service.getClass(), "blocking", Supplier.class);
		assertThat(ReflectionUtils.invokeMethod(method, this.service, body)).isEqualTo("value");
		assertThat(this.context.lock().events).containsExactly("acquire", "release", "acquire", "release", "acquire",
				"release");
	}

	/**
	 * {@code @Retryable} calls once, and subscribes again.
	 */
	@Test
	void eachAttemptTakesTheLockAndCallsTheMethod() {
		List<String> failures = new CopyOnWriteArrayList<>(List.of("one", "two"));
		StepVerifier
			.create(call("retried",
					() -> failures.isEmpty() ? Mono.just("value")
							: Mono.error(new IllegalStateException(failures.remove(0)))))
			.expectNext("value")
			.verifyComplete();
		assertThat(this.context.lock().events).containsExactly("acquire", "release", "acquire", "release", "acquire",
				"release");
	}

	/**
	 * {@code @ConcurrencyLimit} counts until the method returns: after that only the lock
	 * keeps others out.
	 */
	@Test
	void limitIsOfCallsAndNotOfSubscriptions() {
		Disposable first = call("limited", Mono::never).subscribe();
		assertThat(this.context.lock().events).containsExactly("acquire");
		StepVerifier.create(call("limited", () -> Mono.just("value"))).expectNext("value").verifyComplete();
		first.dispose();
		assertThat(this.context.lock().events).containsExactly("acquire", "acquire", "release", "release");
	}

	@SuppressWarnings("unchecked")
	private Mono<String> call(String name, Supplier<Mono<String>> body) {
		Method method = ReflectionUtils.findMethod(this.service.getClass(), name, Supplier.class);
		return (Mono<String>) ReflectionUtils.invokeMethod(method, this.service, body);
	}

}
