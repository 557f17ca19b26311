package io.github.distributedlock.demo;

import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.stream.IntStream;
import java.util.stream.Stream;

import io.github.distributedlock.tck.History.Hold;
import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;

class ReportTests {

	private static final long MILLI = 1_000_000;

	private static final Hold LAST = new Hold("k", "jvm-1", 1000 * MILLI, 3000 * MILLI, false);

	@Test
	void exactRoundsAreASuccess() {
		Report report = report(round(10, 0), round(10, 0), 3100, 20);
		assertThat(report.isExact()).isTrue();
		assertThat(report.result())
			.isEqualTo("RESULT unlocked_oversold=32 locked_sold=10 locked_oversold=0 takeover_ms=2000 violations=0");
		assertThat(report.toString()).endsWith(report.result() + "\n").doesNotContain("WRONG");
	}

	@Test
	void soldTooMuchIsAViolation() {
		Report report = report(round(12, 0), round(10, 0), 3100, 22);
		assertThat(report.isExact()).isFalse();
		assertThat(report.result()).endsWith("locked_sold=12 locked_oversold=2 takeover_ms=2000 violations=2");
		assertThat(report.toString()).contains("WRONG: 12 units sold, 0 left of 10.");
	}

	@Test
	void soldTooLittleIsNotExact() {
		assertThat(report(round(9, 1), round(10, 0), 3100, 20).isExact()).isFalse();
		assertThat(report(round(10, 0), round(9, 0), 3100, 20).isExact()).isFalse();
	}

	@Test
	void soldOutsideOfTheLockIsAViolation() {
		assertThat(report(round(10, 0), round(10, 0), 3100, 17).violations()).isEqualTo(3);
	}

	@Test
	void takenBeforeTheLeaseWasOverIsAViolation() {
		Report report = report(round(10, 0), round(10, 0), 2999, 20);
		assertThat(report.violations()).isEqualTo(1);
		assertThat(report.isExact()).isFalse();
		assertThat(report.toString()).contains("TOO EARLY").contains("ALSO BY TWO AT A TIME");
	}

	@Test
	void takenByNobodyIsNotExact() {
		Report report = new Report(round(42, 0), round(10, 0), round(10, 0), Optional.empty(), holds(2999, 20));
		assertThat(report.isExact()).isFalse();
		assertThat(report.result()).contains("takeover_ms=-1");
	}

	private static Report report(Round locked, Round killed, long takenAt, int holds) {
		List<Hold> all = holds(takenAt, holds);
		return new Report(round(42, 0), locked, killed, Takeover.find(1100 * MILLI, List.of(LAST), all), all);
	}

	private static List<Hold> holds(long takenAt, int count) {
		Hold next = new Hold("k", "jvm-2", takenAt * MILLI, (takenAt + 1) * MILLI, true);
		Stream<Hold> others = IntStream.range(2, count)
			.mapToObj((number) -> new Hold("k", "jvm-2", number * MILLI, (number + 1) * MILLI, true));
		return Stream.concat(Stream.of(LAST, next), others).toList();
	}

	private static Round round(int sold, int left) {
		return new Round(10, List.of(sold), left, Duration.ofSeconds(1));
	}

}
