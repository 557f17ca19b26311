package io.github.distributedlock.faults;

import java.time.Duration;
import java.util.List;
import java.util.OptionalLong;

import io.github.distributedlock.tck.History.Hold;
import io.github.distributedlock.tck.HistoryChecker.Overlap;
import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * The assertions of a row. Times are written into the table, and no more.
 */
class PromiseTests {

	private static final Duration NONE = Duration.ZERO;

	private static final Duration NOISE = Duration.ofMillis(10);

	private static final Hold HOLD = new Hold("k", "o", 1, 2, true, OptionalLong.of(1));

	private static final List<Overlap> ONE = List.of(new Overlap(HOLD, HOLD));

	private static final Outcome PERFECT = new Outcome(1, 1, List.of(), List.of(), NONE, NONE, "", 0, null, null, 0, 0,
			NOISE);

	@Test
	void nothingWrongKeepsIt() {
		assertThat(Promise.NOTHING_LOST.brokenBy(PERFECT)).isEmpty();
	}

	@Test
	void anOverlapBreaksItUnlessTheServerForgets() {
		Outcome overlap = new Outcome(1, 2, ONE, List.of(), NONE, NONE, "", 0, null, null, 0, 0, NOISE);
		assertThat(Promise.WHOLE.brokenBy(overlap)).singleElement().asString().contains("held twice", "key=k");
		assertThat(Promise.SERVER_FORGETS.brokenBy(overlap)).isEmpty();
	}

	@Test
	void aTokenThatDoesNotGrowBreaksIt() {
		Outcome regression = new Outcome(1, 2, List.of(), ONE, NONE, NONE, "", 0, null, null, 0, 0, NOISE);
		assertThat(Promise.SERVER_FORGETS.brokenBy(regression)).singleElement().asString().contains("fencing token");
	}

	@Test
	void aLossBreaksThePromiseOfNone() {
		assertThat(Promise.NOTHING_LOST.brokenBy(told(NONE, null))).singleElement().asString().contains("1 locks lost");
	}

	@Test
	void aLossOnAMachineThatIsTooLateItselfSaysNothing() {
		Outcome loss = new Outcome(1, 1, List.of(), List.of(), NONE, NONE, "", 1, NONE, null, 0, 0,
				Trial.LEASE.dividedBy(3));
		assertThat(Promise.NOTHING_LOST.brokenBy(loss)).isEmpty();
	}

	@Test
	void nothingIsLeftOver() {
		Outcome left = new Outcome(1, 1, List.of(), List.of(), NONE, NONE, "", 0, null, null, 2, 3, NOISE);
		assertThat(Promise.WHOLE.brokenBy(left)).hasSize(2)
			.anyMatch((one) -> one.startsWith("2 keys"))
			.anyMatch((one) -> one.startsWith("3 threads"));
	}

	@Test
	void theWorstOfTwoTrialsCounts() {
		Outcome early = told(Duration.ofMillis(5), Duration.ofMillis(100));
		Outcome late = told(Duration.ofMillis(-5), Duration.ofMillis(50));
		Outcome both = PERFECT.and(early).and(late);
		assertThat(both.trials()).isEqualTo(3);
		assertThat(both.losses()).isEqualTo(2);
		assertThat(both.toldBefore()).isEqualTo(Duration.ofMillis(-5));
		assertThat(both.toldAfter()).isEqualTo(Duration.ofMillis(100));
	}

	private static Outcome told(Duration before, Duration after) {
		return new Outcome(1, 1, List.of(), List.of(), NONE, NONE, "", 1, before, after, 0, 0, NOISE);
	}

}
