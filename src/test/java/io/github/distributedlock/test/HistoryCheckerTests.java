package io.github.distributedlock.test;

import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.OptionalLong;
import java.util.Random;

import io.github.distributedlock.test.History.Hold;
import io.github.distributedlock.test.HistoryChecker.Overlap;
import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

class HistoryCheckerTests {

	@Test
	void nothingIsExclusive() {
		HistoryChecker.assertExclusive(List.of());
	}

	@Test
	void oneAfterTheOtherIsExclusive() {
		HistoryChecker.assertExclusive(List.of(hold("k", "b", 20, 30), hold("k", "a", 10, 20), hold("k", "a", 31, 40)));
	}

	@Test
	void differentKeysMayOverlap() {
		HistoryChecker.assertExclusive(List.of(hold("k", "a", 10, 20), hold("l", "b", 10, 20)));
	}

	@Test
	void oneNanosecondIsAnOverlap() {
		Hold first = hold("k", "a", 10, 20);
		Hold second = hold("k", "b", 19, 30);
		assertThat(HistoryChecker.overlaps(List.of(second, first))).containsExactly(new Overlap(first, second));
	}

	@Test
	void theSameOwnerTwiceIsAnOverlap() {
		assertThat(HistoryChecker.overlaps(List.of(hold("k", "a", 10, 20), hold("k", "a", 15, 18)))).hasSize(1);
	}

	@Test
	void holdsThatBeginTogetherOverlap() {
		assertThat(HistoryChecker.overlaps(List.of(hold("k", "a", 10, 20), hold("k", "b", 10, 11)))).hasSize(1);
	}

	@Test
	void aLongHoldOverlapsAlsoTheSecondThatBeginsWithinIt() {
		Hold whole = hold("k", "a", 0, 100);
		Hold first = hold("k", "b", 10, 20);
		Hold second = hold("k", "c", 30, 40);
		assertThat(HistoryChecker.overlaps(List.of(whole, first, second))).containsExactly(new Overlap(whole, first),
				new Overlap(whole, second));
	}

	@Test
	void oneOverlapAmongManyHoldsIsFound() {
		List<Hold> holds = new ArrayList<>();
		for (int i = 0; i < 10_000; i++) {
			holds.add(hold("k" + i % 5, "a", i * 10L, i * 10L + 50));
		}
		Collections.shuffle(holds, new Random(1));
		HistoryChecker.assertExclusive(holds);
		holds.add(hold("k3", "b", 50_049, 50_051));
		assertThat(HistoryChecker.overlaps(holds)).isNotEmpty()
			.allMatch((overlap) -> overlap.first().owner().equals("b") || overlap.second().owner().equals("b"));
	}

	@Test
	void readersMayOverlapEachOther() {
		HistoryChecker.assertApart(List.of(hold("k", "a", 10, 20), hold("k", "b", 15, 25)),
				List.of(hold("k", "c", 25, 30), hold("l", "c", 10, 30), hold("k", "d", 5, 10)));
	}

	@Test
	void readerAndWriterMayNotOverlapWhicheverComesFirst() {
		Hold reader = hold("k", "a", 10, 20);
		List<Hold> readers = List.of(hold("k", "z", 0, 3), reader, hold("k", "y", 11, 12));
		for (Hold writer : List.of(hold("k", "b", 19, 30), hold("k", "b", 5, 11), hold("k", "b", 13, 14))) {
			assertThatExceptionOfType(AssertionError.class)
				.isThrownBy(() -> HistoryChecker.assertApart(readers, List.of(writer)))
				.withMessageStartingWith("1 of 4 holds overlap an earlier one");
		}
	}

	@Test
	void tokensThatGrowAreInOrder() {
		assertThat(HistoryChecker.regressions(List.of(fenced("k", 20, 8), fenced("k", 10, 7), hold("k", "a", 15, 16),
				fenced("l", 30, 1), fenced("l", 40, 2))))
			.isEmpty();
	}

	@Test
	void theSameTokenTwiceIsNotInOrder() {
		Hold first = fenced("k", 10, 7);
		Hold second = fenced("k", 20, 7);
		assertThat(HistoryChecker.regressions(List.of(second, first))).containsExactly(new Overlap(first, second));
	}

	@Test
	void aTokenIsComparedWithTheHighestBefore() {
		Hold highest = fenced("k", 10, 7);
		Hold lower = fenced("k", 20, 5);
		Hold between = fenced("k", 30, 6);
		assertThat(HistoryChecker.regressions(List.of(highest, lower, between)))
			.containsExactly(new Overlap(highest, lower), new Overlap(highest, between));
	}

	@Test
	void theMessageShowsBothHolds() {
		Hold first = new Hold("stock:1", "shop@h/1#x:1", 5_000_000, 8_500_000, false);
		Hold second = hold("stock:1", "shop@h/2#y:7", 8_000_000, 9_000_000);
		assertThatExceptionOfType(AssertionError.class)
			.isThrownBy(() -> HistoryChecker.assertExclusive(List.of(first, second)))
			.withMessage("""
					1 of 2 holds overlap an earlier one
					key 'stock:1' was held twice for 0.500 ms:
					  from        0.000 ms  to        3.500 ms (its deadline)  by shop@h/1#x:1
					  from        3.000 ms  to        4.000 ms (given back)  by shop@h/2#y:7""");
	}

	private static Hold fenced(String key, long from, long token) {
		return new Hold(key, "a", from, from + 1, true, OptionalLong.of(token));
	}

	private static Hold hold(String key, String owner, long from, long until) {
		return new Hold(key, owner, from, until, true);
	}

}
