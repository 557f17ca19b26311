package io.github.distributedlock.engine;

import java.time.Duration;
import java.util.concurrent.CompletableFuture;

import io.github.distributedlock.LockBackendException;
import io.github.distributedlock.LockEvent;
import io.github.distributedlock.LockHandle;
import io.github.distributedlock.backend.Claim;
import io.github.distributedlock.backend.Holder;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

/**
 * Contracts 8 (outcomes that are not known) and 9 (release).
 */
class AmbiguityTests extends EngineFixture {

	@Test
	void acquireWhoseReplyWasLostIsRecognisedAsOurOwn() {
		this.backend.next("acquire", ScriptedBackend.LOST_REPLY);
		this.backend.next("acquire", (step) -> step.get());
		CompletableFuture<LockHandle> acquiring = acquiring(waiting("k", Duration.ofSeconds(2)));
		this.time.advance(Duration.ofMillis(25));
		LockHandle handle = succeeded(acquiring);
		assertThat(holderOf("k")).isEqualTo(Holder.owner(handle.owner()));
	}

	@Test
	void lateAcquireIsCleanedUpUntilOneLeaseAfterTheAnswer() {
		Claim[] late = new Claim[1];
		this.backend.onAcquire((claim) -> late[0] = claim);
		this.backend.next("acquire", ScriptedBackend.LOST_REQUEST);
		assertThatExceptionOfType(LockBackendException.class).isThrownBy(() -> this.engine.tryAcquire("k"));
		this.time.advance(Duration.ofSeconds(20));
		assertThat(this.store.acquire(late[0]).acquired()).isTrue();
		this.time.advance(Duration.ofSeconds(1));
		assertThat(holderOf("k")).as("an orphan lasts a second").isNull();
		this.time.advance(Duration.ofSeconds(10));
		this.backend.forgetSteps();
		this.time.advance(Duration.ofMinutes(5));
		assertThat(this.backend.steps()).as("the clean-up ends").isEmpty();
	}

	@Test
	void refusalThatMayPassIsTriedAgainAndLeavesNothingToCleanUp() {
		this.backend.next("acquire", ScriptedBackend.NOT_NOW);
		CompletableFuture<LockHandle> acquiring = acquiring(waiting("k", Duration.ofSeconds(2)));
		this.time.advance(Duration.ofMillis(25));
		succeeded(acquiring).close();
		this.backend.next("acquire", ScriptedBackend.NOT_NOW);
		assertThatExceptionOfType(LockBackendException.class).isThrownBy(() -> this.engine.tryAcquire("k"))
			.withMessage("out of memory");
		this.time.advance(Duration.ofMinutes(1));
		assertThat(this.backend.steps()).containsExactly("acquire k", "acquire k", "release k", "acquire k");
	}

	@Test
	void failureThatStaysButMayHaveBeenCarriedOutIsCleanedUp() {
		this.backend.next("acquire", (step) -> {
			step.get();
			throw LockBackendException.of("the answer cannot be read").build();
		});
		assertThatExceptionOfType(LockBackendException.class).isThrownBy(() -> this.engine.acquire("k"));
		this.time.advance(Duration.ZERO);
		assertThat(holderOf("k")).isNull();
	}

	@Test
	void extensionThatWasRefusedLeavesNothingToCleanUp() {
		LockHandle handle = this.engine.acquire("k");
		this.backend.next("renew", ScriptedBackend.NOT_NOW);
		assertThatExceptionOfType(LockBackendException.class).isThrownBy(() -> handle.extend(Duration.ofMinutes(1)))
			.withMessage("out of memory");
		handle.close();
		this.time.advance(Duration.ofMinutes(2));
		assertThat(this.backend.steps()).containsExactly("acquire k", "renew k", "release k");
	}

	@Test
	void cleanUpsOfALongOutageAreBounded() {
		this.backend.breaks(ScriptedBackend.LOST_REQUEST);
		for (int i = 0; i < 10_100; i++) {
			String key = "k" + i;
			assertThatExceptionOfType(LockBackendException.class).isThrownBy(() -> this.engine.tryAcquire(key));
		}
		this.backend.works();
		this.backend.forgetSteps();
		this.time.advance(Duration.ofSeconds(2));
		assertThat(this.backend.steps().stream().distinct()).hasSize(10_000);
	}

	@Test
	void cleanUpThatIsNotAnsweredGoesOn() {
		this.backend.breaks(ScriptedBackend.LOST_REPLY);
		assertThatExceptionOfType(LockBackendException.class).isThrownBy(() -> this.engine.tryAcquire("k"));
		this.time.advance(Duration.ofMinutes(2));
		this.backend.works();
		this.backend.forgetSteps();
		this.time.advance(Duration.ofSeconds(2));
		assertThat(this.backend.steps()).contains("release k");
	}

	@Test
	void storeThatIsDownIsNotAskedMoreOftenTheMoreThereIsToCleanUp() {
		this.backend.breaks(ScriptedBackend.LOST_REQUEST);
		for (int i = 0; i < 500; i++) {
			String key = "k" + i;
			assertThatExceptionOfType(LockBackendException.class).isThrownBy(() -> this.engine.tryAcquire(key));
		}
		this.backend.forgetSteps();
		this.time.advance(Duration.ofSeconds(10));
		assertThat(this.backend.steps()).hasSizeBetween(50, 101);
	}

	@Test
	void earlierSendThatWasNotAnsweredIsCleanedUpAfterTheRelease() {
		Claim[] late = new Claim[1];
		this.backend.onAcquire((claim) -> late[0] = claim);
		this.backend.next("acquire", ScriptedBackend.LOST_REQUEST);
		CompletableFuture<LockHandle> acquiring = acquiring(waiting("k", Duration.ofSeconds(2)));
		this.time.advance(Duration.ofMillis(25));
		LockHandle handle = succeeded(acquiring);
		this.time.advance(Duration.ofSeconds(15));
		assertThat(this.backend.steps()).as("not while it is held").doesNotContain("release k");
		handle.close();
		assertThat(this.store.acquire(late[0]).acquired()).isTrue();
		this.time.advance(Duration.ofSeconds(1));
		assertThat(holderOf("k")).isNull();
	}

	@Test
	void earlierSendThatWasNotAnsweredIsCleanedUpAfterALoss() {
		Claim[] late = new Claim[1];
		this.backend.onAcquire((claim) -> late[0] = claim);
		this.backend.next("acquire", ScriptedBackend.LOST_REQUEST);
		CompletableFuture<LockHandle> acquiring = acquiring(
				waiting("k", Duration.ofSeconds(2)).leaseTime(Duration.ofSeconds(1)));
		this.time.advance(Duration.ofMillis(25));
		LockHandle handle = succeeded(acquiring);
		this.time.advance(Duration.ofSeconds(2));
		assertThat(handle.isHeld()).isFalse();
		handle.close();
		assertThat(this.store.acquire(late[0]).acquired()).isTrue();
		this.time.advance(Duration.ofMillis(500));
		assertThat(holderOf("k")).isNull();
	}

	@Test
	void whatIsLeftToTellTheStoreIsTriedOnceMoreAtTheEnd() {
		LockHandle handle = this.engine.acquire("k");
		this.backend.next("release", ScriptedBackend.LOST_REQUEST);
		handle.close();
		assertThat(holderOf("k")).isNotNull();
		this.engine.close();
		assertThat(holderOf("k")).isNull();
	}

	@Test
	void refusalIsFinalAndLeavesNothingToCleanUp() {
		this.backend.next("acquire", ScriptedBackend.REFUSED);
		assertThatExceptionOfType(LockBackendException.class)
			.isThrownBy(() -> this.engine.acquire(waiting("k", Duration.ofSeconds(1))))
			.withMessage("not allowed");
		this.time.advance(Duration.ofMinutes(1));
		assertThat(this.backend.steps()).containsExactly("acquire k");
	}

	@Test
	void releaseNeverThrowsAndIsRetriedUntilTheStoreAnswers() {
		LockHandle handle = this.engine.acquire("k");
		this.backend.breaks(ScriptedBackend.LOST_REQUEST);
		handle.close();
		assertThat(events(LockEvent.ReleaseDeferred.class)).hasSize(1);
		this.time.advance(Duration.ofSeconds(5));
		assertThat(holderOf("k")).isNotNull();
		this.backend.works();
		this.time.advance(Duration.ofSeconds(1));
		assertThat(holderOf("k")).isNull();
		this.backend.forgetSteps();
		this.time.advance(Duration.ofMinutes(1));
		assertThat(this.backend.steps()).isEmpty();
	}

	@Test
	void releaseIsNotRetriedAfterTheLeaseHasRunOut() {
		LockHandle handle = this.engine.acquire("k");
		this.backend.breaks(ScriptedBackend.LOST_REQUEST);
		handle.close();
		this.time.advance(LEASE.plusSeconds(1));
		this.backend.forgetSteps();
		this.time.advance(Duration.ofMinutes(1));
		assertThat(this.backend.steps()).isEmpty();
	}

	@Test
	void deferredReleaseLetsTheNextOneOfThisJvmAsk() {
		LockHandle handle = this.engine.acquire("k");
		// A key is not handed on to a fenced request.
		CompletableFuture<LockHandle> next = acquiring(waiting("k", Duration.ofSeconds(20)).fenced(true));
		this.backend.next("release", ScriptedBackend.LOST_REQUEST);
		handle.close();
		Awaitility.await().until(() -> this.backend.steps().contains("register k"));
		this.time.advance(Duration.ofSeconds(1));
		assertThat(succeeded(next).isHeld()).isTrue();
	}

	@Test
	void closingAfterTheLossSendsNothing() {
		LockHandle handle = this.engine.acquire(request("k").leaseTime(Duration.ofSeconds(1)));
		this.time.advance(Duration.ofSeconds(2));
		this.backend.forgetSteps();
		handle.close();
		assertThat(this.backend.steps()).isEmpty();
	}

}
