package io.github.distributedlock.engine;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.function.Supplier;

import io.github.distributedlock.LockEvent;
import io.github.distributedlock.LockEvent.Lost.Reason;
import io.github.distributedlock.LockHandle;
import io.github.distributedlock.LockRequest;
import io.github.distributedlock.fixtures.StubHandle;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

import org.springframework.boot.test.system.CapturedOutput;
import org.springframework.boot.test.system.OutputCaptureExtension;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.junit.jupiter.api.Assertions.assertTimeoutPreemptively;

/**
 * {@code release} says whether the lock was held until then.
 */
@ExtendWith(OutputCaptureExtension.class)
class ReleaseTests extends EngineFixture {

	@Test
	void heldUntilNow() {
		LockHandle handle = this.engine.acquire("k");
		assertThat(handle.release()).isTrue();
		assertThat(handle.isClosed()).isTrue();
		assertThat(LockHandle.current()).isEmpty();
		assertThat(holderOf("k")).isNull();
	}

	@Test
	void onlyTheFirstCallSaysSo() {
		LockHandle released = this.engine.acquire("k");
		assertThat(released.release()).isTrue();
		this.backend.forgetSteps();
		assertThat(released.release()).as("a second time").isFalse();
		LockHandle closed = this.engine.acquire("k");
		closed.close();
		this.backend.forgetSteps();
		assertThat(closed.release()).as("after close").isFalse();
		assertThat(this.backend.steps()).isEmpty();
	}

	@Test
	void lostBecauseItsLeaseRanOut() {
		LockHandle handle = this.engine.acquire(request("k").leaseTime(LEASE));
		this.time.advance(LEASE);
		assertThat(handle.release()).isFalse();
	}

	@Test
	void lostSinceTheStoreSaysSo() {
		LockHandle handle = this.engine.acquire("k");
		this.store.release("k", handle.owner());
		assertThat(handle.isHeld()).as("as far as is known here").isTrue();
		assertThat(handle.release()).isFalse();
		assertThat(events(LockEvent.Lost.class)).hasSize(1);
	}

	static List<LockRequest> withALease() {
		return List.of(request("k").leaseTime(LEASE), request("k"));
	}

	@ParameterizedTest
	@MethodSource("withALease")
	void lostSinceItsReleaseTookLongerThanItsLease(LockRequest request, CapturedOutput output) {
		LockHandle handle = this.engine.acquire(request);
		this.backend.next("release", this::afterTheLease);
		assertThat(handle.release()).isFalse();
		assertThat(lossReasons())
			.containsExactly((request.leaseTime() != null) ? Reason.LEASE_EXPIRED : Reason.NOT_RENEWED);
		assertThat(output).contains("its release took longer than what was left of its lease of 30 s")
			.doesNotContain("deleted");
	}

	private Object afterTheLease(Supplier<?> step) {
		this.time.pass(LEASE);
		return step.get();
	}

	@Test
	void heldThoughTheStoreCannotBeTold() {
		LockHandle handle = this.engine.acquire("k");
		this.backend.next("release", ScriptedBackend.LOST_REQUEST);
		assertThat(handle.release()).isTrue();
		assertThat(events(LockEvent.ReleaseDeferred.class)).hasSize(1);
	}

	@Test
	void releasesAtANodeThatIsDownDelayNoneAtAnother() {
		List<LockHandle> handles = new ArrayList<>();
		for (String key : List.of("node-1:a", "node-1:b", "node-1:c", "node-2:d")) {
			handles.add(this.engine.acquire(key));
			this.backend.next("release", ScriptedBackend.LOST_REQUEST);
		}
		handles.forEach(LockHandle::close);
		this.backend.forgetSteps();
		this.backend.next("release", ScriptedBackend.LOST_REQUEST);
		this.time.advance(Duration.ofMillis(1));
		assertThat(this.backend.steps()).containsExactly("release node-1:a", "release node-2:d");
	}

	@Test
	void failureAmongItsOwnCausesIsLeftToTheBackground() {
		LockHandle handle = this.engine.acquire(request("k").detached(true));
		RuntimeException failure = new IllegalStateException("outer", new IllegalStateException("inner"));
		failure.getCause().initCause(failure);
		this.backend.next("release", (step) -> {
			throw failure;
		});
		assertThat(assertTimeoutPreemptively(PATIENCE, handle::release)).isTrue();
		assertThat(events(LockEvent.ReleaseDeferred.class)).hasSize(1);
	}

	@Test
	void handedOnInsideTheJvm() {
		LockHandle handle = this.engine.acquire("k");
		CompletableFuture<LockHandle> next = acquiring(waiting("k", Duration.ofMinutes(1)));
		this.backend.forgetSteps();
		assertThat(handle.release()).isTrue();
		assertThat(this.backend.steps()).doesNotContain("release k");
		assertThat(next.join().release()).isTrue();
	}

	@Test
	void innerHandleSpeaksOfTheLockThatStaysHeld() {
		LockHandle outer = this.engine.acquire("k");
		assertThat(this.engine.acquire("k").release()).isTrue();
		LockHandle inner = this.engine.acquire("k");
		this.store.release("k", outer.owner());
		this.time.advance(LEASE.dividedBy(3));
		assertThat(outer.isHeld()).as("the renewal has noticed").isFalse();
		assertThat(inner.release()).isFalse();
		assertThat(outer.release()).isFalse();
	}

	@Test
	void oneOfSeveralWasLost() {
		LockHandle handle = this.engine.acquire(LockRequest.of("a", "b", "c"));
		this.store.release("b", handle.owner());
		assertThat(handle.release()).isFalse();
		assertThat(holderOf("a")).isNull();
		assertThat(holderOf("c")).isNull();
		assertThat(this.engine.acquire(LockRequest.of("a", "b", "c")).release()).isTrue();
	}

	@Test
	void oneOfSeveralThatAreReleasedInOneStepWasLost() {
		this.backend.releasesTogether(true);
		LockRequest both = LockRequest.of("a", "b");
		LockHandle lost = this.engine.acquire(both);
		this.store.release("b", lost.owner());
		assertThat(lost.release()).isFalse();
		assertThat(events(LockEvent.Lost.class)).extracting(LockEvent::keys).containsExactly(List.of("b"));
		assertThat(this.engine.acquire(both).release()).isTrue();
		assertThat(this.backend.steps()).filteredOn((step) -> step.startsWith("release"))
			.containsExactly("release-all 2", "release-all 2");
	}

	@ParameterizedTest
	@MethodSource("badAnswers")
	void whatIsNotAnsweredForEachKeyIsLeftToTheBackground(ScriptedBackend.Fault fault) {
		this.backend.releasesTogether(true);
		LockHandle handle = this.engine.acquire(LockRequest.of("a", "b"));
		this.backend.next("release-all", fault);
		assertThat(handle.release()).isTrue();
		assertThat(events(LockEvent.ReleaseDeferred.class)).hasSize(2);
		assertThat(this.engine.hasQueues()).isFalse();
		this.time.advance(Duration.ofSeconds(1));
		assertThat(holderOf("a")).isNull();
		assertThat(holderOf("b")).isNull();
	}

	static List<ScriptedBackend.Fault> badAnswers() {
		return List.of(ScriptedBackend.LOST_REQUEST, ScriptedBackend.LOST_REPLY, (step) -> List.of(true),
				(step) -> null);
	}

	@Test
	void keysOfAnotherOwnerOrThatRestAreReleasedByThemselves() {
		this.backend.releasesTogether(true);
		LockHandle outer = this.engine.acquire("a");
		LockHandle inner = this.engine.acquire(LockRequest.of("a", "b"));
		outer.close();
		inner.close();
		LockHandle rests = this.engine.acquire(LockRequest.of("a", "b").minHoldTime(Duration.ofMinutes(1)));
		rests.close();
		assertThat(this.backend.steps()).containsExactly("acquire a", "acquire b", "release b", "release a",
				"acquire a", "acquire b", "expire b", "expire a");
	}

	@Test
	void aStoreThatDoesNotSayHowManyItReleasesAtOnceReleasesAll() {
		this.backend.releasesTogether(true);
		LockHandle handle = this.engine.acquire(LockRequest.of("a", "b"));
		this.backend.failsToSayHowMany();
		assertThatThrownBy(handle::release).isInstanceOf(InternalError.class);
		assertThat(holderOf("a")).isNull();
		assertThat(holderOf("b")).isNull();
		assertThat(this.engine.hasQueues()).isFalse();
	}

	@Test
	void oneOfSeveralStaysHeldByAnOuterHandle() {
		LockHandle outer = this.engine.acquire("a");
		assertThat(this.engine.acquire(LockRequest.of("a", "b")).release()).isTrue();
		LockHandle inner = this.engine.acquire(LockRequest.of("a", "b"));
		this.store.release("a", outer.owner());
		this.time.advance(LEASE.dividedBy(3));
		assertThat(inner.release()).isFalse();
		assertThat(outer.release()).isFalse();
	}

	@Test
	void handleThatIsNotOfThisLibraryInheritsIt() {
		LockHandle handle = new StubHandle(List.of("k"));
		assertThat(handle.release()).isTrue();
		assertThat(handle.isClosed()).isTrue();
		assertThat(handle.release()).isFalse();
	}

}
