package io.github.distributedlock.engine;

import java.time.Duration;
import java.util.List;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.stream.IntStream;

import io.github.distributedlock.LockHandle;
import io.github.distributedlock.LockRequest;
import io.github.distributedlock.backend.Claim;
import io.github.distributedlock.backend.Waiter;
import org.assertj.core.api.ThrowingConsumer;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Waiting where no wake-ups arrive.
 */
class PollingTests extends EngineFixture {

	private static final Duration LONG = Duration.ofSeconds(20);

	private final List<Duration> polls = new CopyOnWriteArrayList<>();

	@BeforeEach
	void nothingIsHeard() {
		this.backend.deaf(true);
		ownedElsewhere("k", LEASE);
	}

	@Test
	void pausesGrowFromTheShortestToTheLongest() {
		notePolls();
		acquiring(waiting("k", LONG));
		this.time.advance(Duration.ofSeconds(8));
		List<Duration> pauses = pauses();
		assertThat(pauses).hasSizeBetween(18, 21);
		assertThat(pauses.get(0)).satisfies(between(48, 50));
		assertThat(pauses.get(2)).satisfies(between(90, 100));
		assertThat(pauses.get(4)).satisfies(between(340, 400));
		assertThat(pauses.subList(5, pauses.size())).allSatisfy(between(480, 500)).as("jitter").doesNotHaveDuplicates();
	}

	@Test
	void pausesAreThoseOfTheSettings() {
		waitsInOrder(Duration.ofSeconds(1), Duration.ofSeconds(1));
		this.backend.deaf(true);
		notePolls();
		this.time.advance(Duration.ofSeconds(5));
		assertThat(pauses()).hasSizeBetween(3, 5).allSatisfy(between(960, 1_000));
	}

	@Test
	void pausesAreInTimeForAReservationIfThePlaceIsKept() {
		waitsInOrder(Duration.ofSeconds(1), Duration.ofMinutes(1));
		this.time.advance(Duration.ofSeconds(2));
		notePolls();
		this.time.advance(Duration.ofSeconds(5));
		assertThat(pauses()).hasSizeBetween(9, 10).allSatisfy(between(480, this.store.reservation().toMillis()));
	}

	@ParameterizedTest
	@ValueSource(booleans = { false, true })
	void nextWaiterPollsAfterAQuarterOfTheTimeForWhichItIsNext(boolean fair) {
		waitsInOrder(waiting("k", LONG).fair(fair), Duration.ofSeconds(1), Duration.ofSeconds(1));
		notePolls();
		this.time.advance(Duration.ofMillis(400));
		List<Duration> pauses = pauses();
		assertThat(pauses).hasSizeBetween(20, 28);
		Duration waited = Duration.ZERO;
		for (Duration pause : pauses) {
			assertThat(pause).isBetween(waited.dividedBy(5), Duration.ofMillis(2).plus(waited.dividedBy(4)));
			waited = waited.plus(pause);
		}
	}

	@Test
	void waitersBehindTheNextOnePollTheLessOftenTheMoreWaitersComeFirst() {
		registered("b");
		registered("c");
		waitsInOrder(Duration.ofSeconds(1), Duration.ofSeconds(1));
		notePolls();
		this.time.advance(Duration.ofMillis(9));
		assertThat(pauses()).hasSizeBetween(1, 2).allSatisfy(between(2, 3));
	}

	@Test
	void pausesAreShortAgainForTheWaiterThatIsNextNow() {
		registered("b");
		waitsInOrder(Duration.ofSeconds(1), Duration.ofSeconds(1));
		this.time.advance(Duration.ofSeconds(5));
		this.store.withdraw("k", Waiter.exclusive("b"), Set.of());
		notePolls();
		this.time.advance(Duration.ofMillis(510));
		assertThat(pauses()).hasSizeGreaterThan(2).element(0).satisfies(between(0, 1));
	}

	@Test
	void pausesAreShortAgainAfterAWakeUp() {
		acquiring(waiting("k", LONG));
		this.time.advance(Duration.ofSeconds(5));
		notePolls();
		this.backend.listener().onResubscribed();
		Awaitility.await().until(() -> this.polls.size() == 1 && this.time.waiting() == 1);
		this.time.advance(Duration.ofMillis(300));
		assertThat(pauses().get(0)).satisfies(between(48, 50));
		assertThat(pauses().get(2)).satisfies(between(90, 100));
	}

	@Test
	void pausesAreShortAgainForTheNextOneInTheLocalQueue() {
		CompletableFuture<LockHandle> leaving = acquiring(waiting("k", Duration.ofSeconds(5)));
		acquiring(waiting("k", LONG));
		this.time.advance(Duration.ofMillis(4_999));
		notePolls();
		this.time.advance(Duration.ofMillis(1));
		assertThat(leaving).failsWithin(PATIENCE);
		Awaitility.await().until(() -> this.polls.size() == 1 && this.time.waiting() == 1);
		this.time.advance(Duration.ofMillis(100));
		assertThat(pauses().get(0)).satisfies(between(48, 50));
	}

	@Test
	void pausesAreLongWhileWakeUpsArriveAndShortWhenTheyNoLongerDo() {
		acquiring(waiting("k", LONG));
		this.time.advance(Duration.ofSeconds(2));
		this.backend.deaf(false);
		this.time.advance(Duration.ofMillis(500));
		notePolls();
		this.time.advance(Duration.ofSeconds(2));
		assertThat(pauses()).hasSizeBetween(3, 4).allSatisfy(between(400, 500));
		this.backend.deaf(true);
		int before = this.polls.size();
		this.time.advance(Duration.ofMillis(600));
		assertThat(pauses().get(before)).satisfies(between(48, 50));
	}

	@Test
	void lockThatIsGivenBackIsFoundByTheNextPoll() {
		CompletableFuture<LockHandle> waiter = acquiring(waiting("k", LONG));
		this.time.advance(Duration.ofSeconds(5));
		releasedElsewhere("k");
		assertThat(holderOf("k")).as("reserved for nobody").isNull();
		assertThat(waiter).isNotDone();
		this.time.advance(Duration.ofMillis(500));
		assertThat(waiter).succeedsWithin(PATIENCE);
	}

	@Test
	void lastPollIsShortlyBeforeTheEndHoweverLongThePause() {
		LockEngine.Builder settings = LockEngine.builder(this.backend)
			.pollInterval(Duration.ofMinutes(1), Duration.ofMinutes(1));
		LockEngine engine = build(settings);
		CompletableFuture<LockHandle> waiter = inThread(() -> engine.acquire(waiting("k", LONG)));
		untilWaiting(1);
		releasedElsewhere("k");
		this.time.advance(LONG);
		assertThat(waiter).succeedsWithin(PATIENCE);
	}

	@Test
	void hundredWaitersOfThisJvmCostNoMoreThanOne() {
		for (int i = 0; i < 100; i++) {
			inThread(() -> this.engine.acquire(waiting("k", LONG)));
		}
		untilWaiting(100);
		notePolls();
		this.time.advance(Duration.ofSeconds(5));
		assertThat(pauses()).hasSizeBetween(10, 15);
	}

	/**
	 * Another JVM waits in the store.
	 */
	private void registered(String instance) {
		this.store.acquireOrRegister(Claim.of("k", instance + "#1:1", instance, LEASE));
	}

	/**
	 * One of our requests waits in a store that keeps places and notifies nobody.
	 */
	private void waitsInOrder(Duration min, Duration max) {
		waitsInOrder(waiting("k", LONG), min, max);
	}

	private void waitsInOrder(LockRequest request, Duration min, Duration max) {
		this.backend.deaf(false);
		this.backend.silent();
		LockEngine engine = build(LockEngine.builder(this.backend).pollInterval(min, max));
		inThread(() -> engine.acquire(request));
		untilWaiting(1);
	}

	/**
	 * Notes from now on when the store is asked.
	 */
	private void notePolls() {
		this.backend.breaks((step) -> {
			this.polls.add(Duration.ofNanos(this.time.nanoTime()));
			return step.get();
		});
	}

	/**
	 * The pauses between them. A request that finds the lock busy registers at once.
	 */
	private List<Duration> pauses() {
		return IntStream.range(1, this.polls.size())
			.mapToObj((i) -> this.polls.get(i).minus(this.polls.get(i - 1)))
			.filter((pause) -> !pause.isZero())
			.toList();
	}

	private static ThrowingConsumer<Duration> between(long leastMillis, long mostMillis) {
		return (pause) -> assertThat(pause).isBetween(Duration.ofMillis(leastMillis), Duration.ofMillis(mostMillis));
	}

}
