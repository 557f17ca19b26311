package io.github.distributedlock.multijvm;

import java.nio.file.Path;
import java.time.Duration;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.stream.Collectors;
import java.util.stream.Stream;

import io.github.distributedlock.backend.redis.Atomicity;
import io.github.distributedlock.fixtures.AtomicityCase;
import io.github.distributedlock.fixtures.Driver;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * JVMs that exclude each other: for {@code -Dlock.exclusion.seconds}, 10 by default, as
 * most applications have it, and for a tenth of that on each server by each candidate.
 */
class MutualExclusionTests {

	private static final Duration LONG = Duration.ofSeconds(Integer.getInteger("lock.exclusion.seconds", 10));

	private static final Duration SHORT = LONG.dividedBy(10);

	@TempDir
	private static Path directory;

	private static Contest contest;

	@BeforeAll
	static void startProcesses() {
		contest = new Contest(directory);
	}

	@AfterAll
	static void endProcesses() {
		contest.close();
	}

	static Stream<AtomicityCase> cases() {
		return AtomicityCase.onAllServers();
	}

	@Tag("thorough")
	@Test
	void noUpdateIsLostAndNoTwoHoldsOverlap() {
		assertThat(contest.run(LONG, List.of(cases().findFirst().orElseThrow()))).as("increments by JVM")
			.allMatch((count) -> count > 0);
	}

	/**
	 * In every other JVM requests wait without a thread.
	 */
	@Tag("thorough")
	@Test
	void asyncRequestsExcludeAndAreExcluded(@TempDir Path histories) {
		try (Contest mixed = new Contest(histories, (number) -> (number % 2 == 0) ? Map.of() : Driver.ASYNC)) {
			assertThat(mixed.run(LONG, List.of(cases().findFirst().orElseThrow()))).as("increments by JVM")
				.allMatch((count) -> count > 0);
		}
	}

	/**
	 * With one JVM the keys stay, and the others recall them.
	 */
	@Test
	void jvmsThatKeepLocksExcludeAndAreExcluded(@TempDir Path histories) {
		try (Contest mixed = new Contest(histories, (number) -> (number == 0) ? Map.of("lock.keep", "20") : Map.of())) {
			assertThat(mixed.run(SHORT.multipliedBy(3), List.of(cases().findFirst().orElseThrow())))
				.as("increments by JVM")
				.allMatch((count) -> count > 0);
		}
	}

	@Tag("thorough")
	@ParameterizedTest
	@MethodSource("cases")
	void eachCandidateExcludes(AtomicityCase one) {
		assertThat(contest.run(SHORT, List.of(one))).as("increments by JVM").allMatch((count) -> count > 0);
	}

	@Test
	void candidatesExcludeEachOther() {
		List<AtomicityCase> all = cases().filter((one) -> one.atomicity() != Atomicity.BEST_EFFORT)
			.collect(Collectors.groupingBy(AtomicityCase::server))
			.values()
			.stream()
			.max(Comparator.comparing(List::size))
			.orElseThrow();
		assertThat(contest.run(SHORT.multipliedBy(2), all)).as("increments by JVM").allMatch((count) -> count > 0);
	}

}
