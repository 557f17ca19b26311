package io.github.distributedlock.engine;

import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;

import io.github.distributedlock.LockBackendException;
import io.github.distributedlock.LockEvent;
import io.github.distributedlock.LockHandle;
import io.github.distributedlock.LockRequest;
import io.github.distributedlock.backend.Holder;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

/**
 * Contract 14: several keys, in one step where the store can do that.
 */
class SeveralKeysTests extends EngineFixture {

	private static final String A = "joint-a";

	private static final String B = "joint-b";

	private static final LockRequest BOTH = LockRequest.of(B, A);

	@Test
	void areAcquiredAndGivenBackInOneStepEach() {
		LockHandle handle = this.engine.acquire(BOTH);
		assertThat(handle.isHeld()).isTrue();
		assertThat(List.of(holderOf(A), holderOf(B))).containsOnly(Holder.owner(handle.owner()));
		handle.close();
		assertThat(this.backend.steps()).containsExactly("acquire-all 2", "release-all 2");
		assertThat(holderOf(A)).isNull();
		assertThat(holderOf(B)).isNull();
		assertThat(events(LockEvent.Acquired.class)).hasSize(1);
		assertThat(events(LockEvent.Released.class)).hasSize(2);
		assertThat(this.engine.hasQueues()).isFalse();
	}

	@Test
	void areAskedForOneByOneIfOneIsBusyElsewhere() {
		ownedElsewhere(B, LEASE);
		CompletableFuture<LockHandle> both = acquiring(BOTH.waitTime(LEASE));
		assertThat(this.backend.steps()).startsWith("acquire-all 2", "acquire " + A, "acquire " + B);
		releasedElsewhere(B);
		assertThat(both).succeedsWithin(PATIENCE);
	}

	@Test
	void areNotAskedForAtOnceIfOneIsHeldHere() {
		LockHandle held = this.engine.acquire(request(A));
		this.backend.forgetSteps();
		assertThat(inThread(() -> this.engine.tryAcquire(BOTH)).join()).isEmpty();
		assertThat(this.backend.steps()).isEmpty();
		try (LockHandle handle = this.engine.acquire(BOTH)) {
			assertThat(handle.owner()).as("re-entered").isEqualTo(held.owner());
			assertThat(this.backend.steps()).containsExactly("acquire " + B);
		}
		assertThat(held.isHeld()).isTrue();
	}

	@Test
	void eachOfThemIsRenewed() {
		LockHandle handle = this.engine.acquire(BOTH);
		this.time.advance(LEASE.multipliedBy(3));
		assertThat(handle.isHeld()).isTrue();
	}

	static List<ScriptedBackend.Fault> faults() {
		return List.of(ScriptedBackend.LOST_REQUEST, ScriptedBackend.LOST_REPLY, ScriptedBackend.NOT_NOW);
	}

	@ParameterizedTest
	@MethodSource("faults")
	void areAskedForOneByOneAfterAFailure(ScriptedBackend.Fault fault) {
		this.backend.next("acquire-all", fault);
		CompletableFuture<LockHandle> both = inThread(() -> this.engine.acquire(BOTH.waitTime(LEASE)));
		org.awaitility.Awaitility.await().until(() -> {
			this.time.advance(Duration.ofMillis(10));
			return both.isDone();
		});
		assertThat(both.join().isHeld()).isTrue();
		assertThat(List.of(holderOf(A), holderOf(B))).containsOnly(Holder.owner(both.join().owner()));
	}

	@Test
	void areNotBusyIfTheStoreFailedForAllOfTheTime() {
		this.backend.next("acquire-all", (step) -> {
			this.time.pass(Duration.ofSeconds(1));
			return ScriptedBackend.LOST_REQUEST.apply(step);
		});
		assertThatExceptionOfType(LockBackendException.class)
			.isThrownBy(() -> this.engine.acquire(BOTH.waitTime(Duration.ofMillis(500))));
	}

	@Test
	void areBusyIfTheStoreSaysSoAtTheEndOfTheTime() {
		ownedElsewhere(B, LEASE);
		this.backend.next("acquire-all", (step) -> {
			Object busy = step.get();
			this.time.pass(Duration.ofSeconds(1));
			return busy;
		});
		assertThat(this.engine.tryAcquire(BOTH.waitTime(Duration.ofMillis(500)))).isEmpty();
		assertThat(this.backend.steps()).containsExactly("acquire-all 2");
	}

	@Test
	void areAskedForOneByOneIfTheStoreCannotDoItAtOnceJustNow() {
		this.backend.next("acquire-all", ScriptedBackend.NOT_NOW);
		assertThat(this.engine.tryAcquire(BOTH)).isPresent();
		assertThat(this.backend.steps()).containsExactly("acquire-all 2", "acquire " + A, "acquire " + B);
	}

	@Test
	void areAskedForOnlyOnceByWhoMayNotWait() {
		this.backend.next("acquire-all", ScriptedBackend.LOST_REPLY);
		assertThatExceptionOfType(LockBackendException.class).isThrownBy(() -> this.engine.tryAcquire(BOTH));
		assertThat(this.backend.steps()).startsWith("acquire-all 2").doesNotContain("acquire " + A);
		this.time.advance(Duration.ofSeconds(1));
		assertThat(List.of(A, B)).extracting(this::holderOf).containsOnlyNulls();
	}

	@Test
	void areNotAskedForAgainAfterARefusal() {
		this.backend.next("acquire-all", ScriptedBackend.REFUSED);
		assertThatExceptionOfType(LockBackendException.class).isThrownBy(() -> this.engine.acquire(BOTH));
		assertThat(this.backend.steps()).containsExactly("acquire-all 2");
		assertThat(this.engine.hasQueues()).isFalse();
	}

	@Test
	void areGivenBackInTheBackgroundAfterAFailure() {
		LockHandle handle = this.engine.acquire(BOTH);
		this.backend.next("release-all", ScriptedBackend.LOST_REQUEST);
		handle.close();
		assertThat(events(LockEvent.ReleaseDeferred.class)).hasSize(2);
		this.time.advance(Duration.ofSeconds(1));
		assertThat(holderOf(A)).isNull();
		assertThat(holderOf(B)).isNull();
	}

	@Test
	void keyThatIsGoneAtTheReleaseIsReportedAsLost() {
		LockHandle handle = this.engine.acquire(BOTH);
		this.store.release(A, handle.owner());
		handle.close();
		assertThat(events(LockEvent.Lost.class)).singleElement().extracting(LockEvent.Lost::key).isEqualTo(A);
		assertThat(events(LockEvent.Released.class)).singleElement().extracting(LockEvent.Released::key).isEqualTo(B);
	}

	@Test
	void engineThatIsStoppedMeanwhileKeepsNone() {
		this.backend.next("acquire-all", (step) -> {
			Object answer = step.get();
			this.engine.stop();
			return answer;
		});
		assertThatExceptionOfType(LockBackendException.class).isThrownBy(() -> this.engine.acquire(BOTH));
		this.time.advance(Duration.ofSeconds(1));
		assertThat(holderOf(A)).isNull();
		assertThat(holderOf(B)).isNull();
	}

}
