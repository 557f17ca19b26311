package io.github.distributedlock.engine;

import java.util.concurrent.Callable;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.TimeUnit;

import io.github.distributedlock.LockHandle;
import io.github.distributedlock.LockRequest;
import io.github.distributedlock.fixtures.Patience;
import io.github.distributedlock.internal.Binding;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;

import org.springframework.boot.test.system.CapturedOutput;
import org.springframework.boot.test.system.OutputCaptureExtension;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Handles that another thread closes than the one that acquired them.
 */
@ExtendWith(OutputCaptureExtension.class)
class DetachedTests extends EngineFixture {

	private static final String WARNING = "Acquire such a lock with LockRequest.detached(true)";

	private final ExecutorService pooledThread = Executors.newSingleThreadExecutor();

	@AfterEach
	void endThread() {
		this.pooledThread.shutdownNow();
	}

	@Test
	void nextTaskOfThePooledThreadDoesNotReenterADetachedLock() throws Exception {
		LockHandle handle = onPooledThread(() -> this.engine.acquire(detached("k")));
		assertThat(onPooledThread(LockHandle::current)).isEmpty();
		assertThat(onPooledThread(() -> this.engine.tryAcquire("k"))).isEmpty();
		assertThat(handle.isHeld()).isTrue();
		handle.close();
		assertThat(holderOf("k")).isNull();
		assertThat(onPooledThread(() -> this.engine.tryAcquire("k"))).isPresent();
	}

	@Test
	void bindingMakesADetachedLockCurrentWhereItIsBound() {
		LockHandle handle = this.engine.acquire(detached("k"));
		try (Binding binding = Binding.bind(handle)) {
			assertThat(LockHandle.current()).containsSame(handle);
			this.engine.acquire("k").close();
		}
		assertThat(LockHandle.current()).isEmpty();
		assertThat(this.engine.tryAcquire("k")).isEmpty();
		assertThat(this.backend.steps()).containsExactly("acquire k");
		handle.close();
	}

	@Test
	void detachedRequestReentersWhatItsThreadHolds() {
		LockHandle outer = this.engine.acquire("k");
		LockHandle detached = this.engine.acquire(detached("k"));
		assertThat(LockHandle.current()).containsSame(outer);
		outer.close();
		assertThat(detached.isHeld()).isTrue();
		assertThat(this.engine.tryAcquire("k")).as("no longer bound").isEmpty();
		detached.close();
		assertThat(this.backend.steps()).containsExactly("acquire k", "release k");
	}

	@Test
	void closingADetachedOrUnboundHandleElsewhereIsNothingToWarnOf(CapturedOutput output) throws Exception {
		onPooledThread(() -> this.engine.acquire(detached("a"))).close();
		onPooledThread(() -> {
			LockHandle handle = this.engine.acquire("b");
			Binding.unbind(handle);
			return handle;
		}).close();
		this.engine.acquire("c").close();
		assertThat(output).doesNotContain(WARNING);
	}

	@Test
	void closeByAnotherThreadUnbindsAndWarnsOnce(CapturedOutput output) throws Exception {
		LockHandle handle = onPooledThread(() -> this.engine.acquire("k"));
		handle.close();
		assertThat(output).containsOnlyOnce(WARNING)
			.contains("Lock [k] was acquired by thread pool-",
					"and is released by thread " + Thread.currentThread().getName());
		assertThat(onPooledThread(LockHandle::current)).isEmpty();
		assertThat(onPooledThread(() -> this.engine.acquire("k")).owner()).as("not re-entered")
			.isNotEqualTo(handle.owner());
		onPooledThread(() -> this.engine.acquire("other")).close();
		assertThat(output).containsOnlyOnce(WARNING);
	}

	@Test
	void closedHandleIsCurrentNowhere() throws Exception {
		LockHandle outer = this.engine.acquire("outer");
		LockHandle handle = this.engine.acquire(detached("k"));
		Binding bindingHere = Binding.bind(handle);
		Binding bindingThere = onPooledThread(() -> Binding.bind(handle));
		inThread(() -> {
			handle.close();
			return true;
		}).join();
		assertThat(handle.isClosed()).isTrue();
		assertThat(LockHandle.current()).containsSame(outer);
		assertThat(Binding.all()).containsExactly(outer);
		assertThat(onPooledThread(Binding::all)).isEmpty();
		assertThat(onPooledThread(() -> Binding.bind(handle).thread() != null && LockHandle.current().isEmpty()))
			.as("nor can it be bound")
			.isTrue();
		bindingHere.close();
		bindingThere.close();
	}

	@Test
	void lostHandleStaysCurrentUntilItIsClosed() {
		LockHandle handle = this.engine.acquire(request("k").leaseTime(LEASE));
		this.time.advance(LEASE);
		assertThat(handle.isHeld()).isFalse();
		assertThat(LockHandle.current()).containsSame(handle);
		handle.close();
		assertThat(LockHandle.current()).isEmpty();
	}

	private static LockRequest detached(String key) {
		return request(key).detached(true);
	}

	private <T> T onPooledThread(Callable<T> task) throws Exception {
		return this.pooledThread.submit(task).get(Patience.PATIENCE.toSeconds(), TimeUnit.SECONDS);
	}

}
