package io.github.distributedlock;

import java.lang.reflect.Method;
import java.lang.reflect.Modifier;
import java.lang.reflect.Proxy;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.stream.Stream;

import io.github.distributedlock.backend.memory.InMemoryLockBackend;
import io.github.distributedlock.engine.LockEngine;
import io.github.distributedlock.fixtures.Patience;
import io.github.distributedlock.fixtures.StubHandle;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

import static org.assertj.core.api.Assertions.assertThat;

class ForwardingDistributedLockTests {

	private static final LockRequest REQUEST = LockRequest.of("k");

	static Stream<Method> abstractMethods() {
		return Arrays.stream(DistributedLock.class.getDeclaredMethods())
			.filter((method) -> Modifier.isAbstract(method.getModifiers()));
	}

	@ParameterizedTest
	@MethodSource("abstractMethods")
	void forwardsWhatHasNoDefault(Method method) throws Exception {
		List<Method> called = new ArrayList<>();
		Object answer = answer(method.getReturnType());
		DistributedLock delegate = (DistributedLock) Proxy.newProxyInstance(getClass().getClassLoader(),
				new Class<?>[] { DistributedLock.class }, (proxy, call, arguments) -> {
					called.add(call);
					return answer;
				});
		Object argument = Stream.of("k", REQUEST, new StubHandle(List.of("k")))
			.filter(method.getParameterTypes()[0]::isInstance)
			.findFirst()
			.orElseThrow();
		assertThat(method.invoke(new ForwardingDistributedLock(delegate) {
		}, argument)).isEqualTo(answer);
		assertThat(called).containsExactly(method);
	}

	private static Object answer(Class<?> type) {
		return Stream
			.of(new StubHandle(List.of("k")), Optional.empty(), new CompletableFuture<>(),
					LockStatus.of("k", List.of(), List.of()), true)
			.filter((answer) -> type == boolean.class || type.isInstance(answer))
			.reduce((first, last) -> last)
			.orElseThrow();
	}

	/**
	 * A user's decorator: what follows must pass through the four methods that acquire.
	 */
	private static final class CountingLock extends ForwardingDistributedLock {

		private int requests;

		private CountingLock(DistributedLock delegate) {
			super(delegate);
		}

		@Override
		public LockHandle acquire(LockRequest request) {
			this.requests++;
			return super.acquire(request);
		}

		@Override
		public Optional<LockHandle> tryAcquire(LockRequest request) {
			this.requests++;
			return super.tryAcquire(request);
		}

		@Override
		public CompletableFuture<LockHandle> acquireAsync(LockRequest request) {
			this.requests++;
			return super.acquireAsync(request);
		}

		@Override
		public CompletableFuture<Optional<LockHandle>> tryAcquireAsync(LockRequest request) {
			this.requests++;
			return super.tryAcquireAsync(request);
		}

	}

	@Test
	void decoratorSeesEachAcquisitionOnce() {
		try (LockEngine engine = LockEngine.builder(new InMemoryLockBackend()).build()) {
			CountingLock lock = new CountingLock(engine);
			lock.acquire("k").close();
			lock.tryAcquire("k").orElseThrow().close();
			lock.run("k", () -> {
			});
			lock.tryRun("k", () -> {
			});
			lock.execute("k", () -> 1);
			lock.tryExecute("k", () -> 1, () -> 2);
			CompletionStage<Integer> stage = CompletableFuture.completedFuture(1);
			Patience.get(lock.acquireAsync("k"), "a lock").close();
			Patience.get(lock.tryAcquireAsync("k"), "a lock").orElseThrow().close();
			Patience.get(lock.executeAsync("k", () -> stage), "the value");
			Patience.get(lock.tryExecuteAsync("k", () -> stage, () -> stage), "the value");
			assertThat(lock.requests).isEqualTo(10);
			LockHandle handle = lock.acquire("k");
			assertThat(lock.owns(handle)).isTrue();
			assertThat(lock.inspect("k").heldHere()).isTrue();
			handle.close();
		}
	}

	/**
	 * The caller says whether a stop waits for a lock, also if the lock runs code.
	 */
	@Test
	void awaitedOnStopIsKeptAsItWasAsked() {
		List<Boolean> awaited = new ArrayList<>();
		try (LockEngine engine = LockEngine.builder(new InMemoryLockBackend()).build()) {
			DistributedLock lock = new ForwardingDistributedLock(engine) {

				@Override
				public LockHandle acquire(LockRequest request) {
					awaited.add(request.awaitedOnStop());
					return super.acquire(request);
				}

			};
			lock.execute(REQUEST, () -> 1);
			lock.execute(REQUEST.awaitedOnStop(false), () -> 1);
			lock.run(REQUEST.awaitedOnStop(false).awaitedOnStop(null), () -> {
			});
			lock.acquire(REQUEST).close();
		}
		assertThat(awaited).containsExactly(true, false, true, false);
	}

}
