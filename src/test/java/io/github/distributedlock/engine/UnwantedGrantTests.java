package io.github.distributedlock.engine;

import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.stream.IntStream;

import io.github.distributedlock.LockHandle;
import io.github.distributedlock.backend.Claim;
import io.github.distributedlock.backend.Holder;
import io.github.distributedlock.backend.ReleaseNotification;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Tests for a key that the store has granted to an owner that does not want the key any
 * more, or that must not have the key.
 */
class UnwantedGrantTests extends EngineFixture {

	private static final Duration LONG = Duration.ofSeconds(60);

	private final List<Claim> registered = new CopyOnWriteArrayList<>();

	@BeforeEach
	void lostGrants() {
		this.backend.granting();
		this.backend.onGrant((grant) -> {
		});
		this.backend.onRegister(this.registered::add);
		ownedElsewhere("k", LONG);
	}

	/**
	 * Lets a request be granted the key after the last attempt, 40 ms before the end of
	 * the wait time.
	 */
	private CompletableFuture<LockHandle> grantedUnheard() {
		CompletableFuture<LockHandle> waiter = acquiring(waiting("k", Duration.ofMillis(100)));
		this.time.advance(Duration.ofMillis(60)); // After the last question.
		releasedElsewhere("k");
		assertThat(holderOf("k")).isEqualTo(Holder.owner(last().owner()));
		return waiter;
	}

	@Test
	void isCleanedUpIfNoThreadCanBeHadForItsWithdrawal() {
		CompletableFuture<LockHandle> waiter = grantedUnheard();
		this.time.lackAThread("worker");
		this.time.advance(Duration.ofMillis(40));
		assertThat(waiter).failsWithin(PATIENCE);
		this.time.advance(Duration.ZERO);
		assertThat(holderOf("k")).isNull();
		assertThat(this.backend.steps()).contains("forget k").doesNotContain("withdraw k");
		assertThat(hasQueues()).isFalse();
	}

	@Test
	void isCleanedUpIfItsWithdrawalEndsWithAnError() {
		CompletableFuture<LockHandle> waiter = grantedUnheard();
		this.backend.next("withdraw", (step) -> {
			throw new StackOverflowError("test");
		});
		this.time.advance(Duration.ofMillis(40));
		assertThat(waiter).failsWithin(PATIENCE);
		this.time.advance(Duration.ZERO);
		assertThat(holderOf("k")).isNull();
		assertThat(this.backend.steps()).contains("withdraw k", "forget k");
		assertThat(hasQueues()).isFalse();
	}

	/** The key may still be owned by the one that was to pass the key on. */
	@Test
	void isTakenFromTheOwnerBeforeAfterAPassThatWasNotAnswered() {
		LockHandle held = this.engine.acquire("l");
		CompletableFuture<LockHandle> next = acquiring(waiting("l", LONG));
		this.time.pass(Duration.ofMillis(10)); // The slice.
		this.backend.next("yield", ScriptedBackend.LOST_REQUEST);
		this.backend.next("release", ScriptedBackend.LOST_REQUEST);
		held.close();
		untilWaiting(1);
		assertThat(holderOf("l")).isEqualTo(Holder.owner(held.owner()));
		this.time.advance(Duration.ofMillis(50));
		assertThat(last().replaced()).containsExactly(held.owner());
		assertThat(holderOf("l")).isEqualTo(Holder.owner(succeeded(next).owner()));
	}

	/** By a registration that came late, after the one whose answer is under way. */
	@Test
	void isNamedAgainIfTheGrantIsHeardDuringACommandThatNamesTheToken() {
		CompletableFuture<LockHandle> first = acquiring(waiting("k", Duration.ofMillis(100)));
		CompletableFuture<LockHandle> second = acquiring(waiting("k", LONG));
		this.time.advance(Duration.ofMillis(60)); // After the last question.
		Claim late = last();
		this.backend.after("register", () -> {
			assertThat(this.store.pass("other#1:1", late, false).owned()).isTrue();
			hears(late);
		});
		this.backend.forgetSteps();
		this.time.advance(Duration.ofMillis(40));
		assertThat(first).failsWithin(PATIENCE);
		assertThat(this.registered.get(this.registered.size() - 2).replaced()).containsExactly(late.owner());
		assertThat(last().replaced()).containsExactly(late.owner());
		assertThat(second).succeedsWithin(PATIENCE);
		assertThat(this.backend.steps()).containsExactly("register k", "register k");
	}

	@Test
	void isNotHeldIfTheLastQuestionMustNotBeGranted() {
		CompletableFuture<LockHandle> waiter = acquiring(waiting("k", LONG));
		assertThat(last().number()).isEqualTo(1);
		this.backend.deaf(true);
		this.time.advance(Duration.ofMillis(600));
		assertThat(last().number()).isZero();
		int questions = this.registered.size();
		hears(last().number(questions));
		untilWaiting(1);
		assertThat(this.registered).hasSize(questions + 1);
		assertThat(waiter).isNotDone();
	}

	/** One request after the other asks in vain, and gives up. */
	@Test
	void ownersAreNotCountedWithoutBoundWhileTheStoreIsDown() {
		Duration wait = Duration.ofHours(1);
		List<CompletableFuture<LockHandle>> all = IntStream.rangeClosed(0, 300)
			.mapToObj((i) -> this.engine.acquireAsync(waiting("k", wait)))
			.toList();
		this.backend.breaks(ScriptedBackend.LOST_REQUEST);
		for (CompletableFuture<LockHandle> each : all.subList(0, 300)) {
			this.time.advance(Duration.ofSeconds(1));
			each.cancel(true);
		}
		this.time.advance(Duration.ofSeconds(1));
		assertThat(this.registered).hasSizeGreaterThan(300);
		assertThat(last().replaced()).hasSizeLessThan(200);
		this.backend.works();
		this.time.advance(Duration.ofSeconds(1));
		assertThat(all.get(300)).isCompleted();
	}

	private void hears(Claim claim) {
		this.backend.listener()
			.onRelease(ReleaseNotification.granted(claim.key(), claim.waiter(), claim.owner(), claim.number()));
	}

	private Claim last() {
		return this.registered.get(this.registered.size() - 1);
	}

}
