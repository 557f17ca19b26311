package io.github.distributedlock.engine;

import java.time.Duration;
import java.util.List;

import io.github.distributedlock.LockBackendException;
import io.github.distributedlock.LockEvent;
import io.github.distributedlock.LockHandle;
import io.github.distributedlock.LockRequest;
import io.github.distributedlock.backend.Holder;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

/**
 * Contract 14: several keys, acquired one after the other and given back together.
 */
class SeveralKeysTests extends EngineFixture {

	private static final String A = "a";

	private static final String B = "b";

	private static final LockRequest BOTH = LockRequest.of(B, A);

	@BeforeEach
	void releasesTogether() {
		this.backend.releasesTogether(true);
	}

	@Test
	void areAcquiredInOrderAndGivenBackInOneStep() {
		LockHandle handle = this.engine.acquire(BOTH);
		assertThat(handle.isHeld()).isTrue();
		assertThat(List.of(holderOf(A), holderOf(B))).containsOnly(Holder.owner(handle.owner()));
		handle.close();
		assertThat(this.backend.steps()).containsExactly("acquire " + A, "acquire " + B, "release-all 2");
		assertThat(holderOf(A)).isNull();
		assertThat(holderOf(B)).isNull();
		assertThat(events(LockEvent.Acquired.class)).hasSize(1);
		assertThat(events(LockEvent.Released.class)).hasSize(2);
		assertThat(this.engine.hasQueues()).isFalse();
	}

	@Test
	void areNotAskedForIfOneIsHeldHere() {
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
	void keyThatIsGoneAtTheReleaseIsReportedAsLost() {
		LockHandle handle = this.engine.acquire(BOTH);
		this.store.release(A, handle.owner());
		handle.close();
		assertThat(events(LockEvent.Lost.class)).singleElement().extracting(LockEvent.Lost::key).isEqualTo(A);
		assertThat(events(LockEvent.Released.class)).singleElement().extracting(LockEvent.Released::key).isEqualTo(B);
	}

	@Test
	void engineThatIsStoppedMeanwhileKeepsNone() {
		this.backend.after("acquire", () -> this.engine.stop());
		assertThatExceptionOfType(LockBackendException.class).isThrownBy(() -> this.engine.acquire(BOTH));
		this.time.advance(Duration.ofSeconds(1));
		assertThat(holderOf(A)).isNull();
		assertThat(holderOf(B)).isNull();
	}

}
