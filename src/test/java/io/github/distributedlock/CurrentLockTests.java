package io.github.distributedlock;

import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicReference;

import io.github.distributedlock.backend.memory.InMemoryLockBackend;
import io.github.distributedlock.engine.LockEngine;
import io.github.distributedlock.fixtures.Patience;
import io.github.distributedlock.fixtures.StubHandle;
import io.github.distributedlock.internal.Binding;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

import org.springframework.test.util.ReflectionTestUtils;

import static org.assertj.core.api.Assertions.assertThat;

class CurrentLockTests {

	private final LockEngine engine = LockEngine.builder(new InMemoryLockBackend()).build();

	private final ExecutorService thread = Executors.newSingleThreadExecutor();

	@AfterEach
	void close() {
		this.thread.shutdownNow();
		this.engine.close();
	}

	@Test
	void handleIsCurrentOnTheThreadThatAcquiredItOnly() throws Exception {
		try (LockHandle handle = this.engine.acquire("k")) {
			assertThat(LockHandle.current()).containsSame(handle);
			assertThat(elsewhere(LockHandle::current)).isEmpty();
		}
	}

	@Test
	void bindingHandsAHandleToAnotherThreadUntilItIsClosed() throws Exception {
		try (LockHandle handle = this.engine.acquire("k")) {
			assertThat(elsewhere(() -> {
				try (CurrentLock binding = CurrentLock.bind(handle)) {
					return LockHandle.current();
				}
			})).containsSame(handle);
			assertThat(elsewhere(LockHandle::current)).isEmpty();
			assertThat(handle.isHeld()).isTrue();
		}
	}

	/**
	 * A thread of a servlet container outlives the application, and would keep the class
	 * loader of the application.
	 */
	@Test
	void threadKeepsNothingOfTheLibraryOnceItsLocksAreClosed() {
		LockHandle handle = this.engine.acquire("a");
		this.engine.acquire("b").close();
		assertThat(bindingsOfThisThread()).isNotNull();
		handle.close();
		assertThat(bindingsOfThisThread()).isNull();
		LockHandle unbound = this.engine.acquire("c");
		Binding.unbind(unbound);
		assertThat(bindingsOfThisThread()).isNull();
		unbound.close();
	}

	private static Object bindingsOfThisThread() {
		ThreadLocal<?> bindings = (ThreadLocal<?>) ReflectionTestUtils.getField(Binding.class, "INNERMOST");
		return ((AtomicReference<?>) bindings.get()).get();
	}

	@Test
	void bindingThatAnotherThreadEndsIsPassedOver() throws Exception {
		LockHandle outer = this.engine.acquire("outer");
		LockHandle inner = this.engine.acquire("inner");
		elsewhere(() -> {
			inner.close();
			return true;
		});
		assertThat(Binding.all()).containsExactly(outer);
		assertThat(LockHandle.current()).containsSame(outer);
		outer.close();
		assertThat(Binding.all()).isEmpty();
	}

	@Test
	void unbindingTakesAwayOneHandleAndReleasesNothing() {
		try (LockHandle outer = this.engine.acquire("outer"); LockHandle inner = this.engine.acquire("inner")) {
			Binding.unbind(outer);
			assertThat(Binding.all()).containsExactly(inner);
			assertThat(outer.isHeld()).isTrue();
		}
	}

	@Test
	void innermostOfTheKeyThatSuitsIsFound() {
		StubHandle first = new StubHandle(List.of("k"));
		StubHandle second = new StubHandle(List.of("k"));
		try (CurrentLock outer = CurrentLock.bind(first)) {
			CurrentLock ended = CurrentLock.bind(second);
			assertThat(Binding.find("k", (any) -> true)).containsSame(second);
			assertThat(Binding.find("k", (handle) -> handle == first)).containsSame(first);
			assertThat(Binding.find("another", (any) -> true)).isEmpty();
			ended.close();
			assertThat(Binding.find("k", (any) -> true)).containsSame(first);
			CurrentLock.bind(second);
			assertThat(Binding.find("k", (any) -> true)).containsSame(second);
			second.close();
			assertThat(Binding.find("k", (any) -> true)).containsSame(first);
			Binding.unbind(first);
			assertThat(Binding.find("k", (any) -> true)).isEmpty();
		}
	}

	/**
	 * A thread may for ever take the next lock before the release of the last one.
	 */
	@Test
	void bindingThatEndedBelowOneThatGoesOnIsDropped() {
		CurrentLock below = CurrentLock.bind(new StubHandle(List.of("k")));
		try (CurrentLock above = CurrentLock.bind(new StubHandle(List.of("k")))) {
			below.close();
			assertThat(above).extracting("binding.outer").isNull();
		}
	}

	private <T> T elsewhere(Callable<T> action) throws Exception {
		return this.thread.submit(action).get(Patience.PATIENCE.toSeconds(), TimeUnit.SECONDS);
	}

}
