package io.github.distributedlock.protocol;

import java.util.EnumSet;
import java.util.stream.Stream;

import io.github.distributedlock.backend.KeyRule;
import io.github.distributedlock.fixtures.Exploration;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.MethodSource;

import static io.github.distributedlock.protocol.Fault.CRASH;
import static io.github.distributedlock.protocol.Fault.LATE_COMMAND;
import static io.github.distributedlock.protocol.Fault.LOST_ANSWER;
import static io.github.distributedlock.protocol.Fault.LOST_LEASE;
import static io.github.distributedlock.protocol.Fault.LOST_MESSAGE;
import static io.github.distributedlock.protocol.Fault.TIME_OUT;
import static io.github.distributedlock.protocol.SmallModelProperty.NO_LOST_WAKE_UP;
import static io.github.distributedlock.protocol.SmallModelProperty.ORDER;
import static io.github.distributedlock.protocol.SmallModelProperty.RECOVERY;
import static io.github.distributedlock.protocol.SmallModelProperty.SAFETY;
import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.params.provider.Arguments.arguments;

/**
 * Explores the {@link SharedProtocol}: readers read together, writers write alone, no
 * more have permits than there are, none starves, nobody that has ended stands in the
 * way, and each rule is needed for that.
 */
@Exploration
@Tag("optimized")
class SharedModelTests {

	private static final Fault[] ANY = { CRASH, LOST_MESSAGE, TIME_OUT, LOST_LEASE, LOST_ANSWER, LATE_COMMAND };

	@ParameterizedTest
	@MethodSource
	void isSafeAndRecoversWhateverGoesWrong(SharedProtocol protocol) {
		Verdict.assertKept(protocol, EnumSet.of(SAFETY, RECOVERY));
	}

	static Stream<SharedProtocol> isSafeAndRecoversWhateverGoesWrong() {
		Stream<SharedProtocol> larger = Stream.of(threads("R0", "R1", "W2").faults(2, ANY),
				threads("R0", "R0", "W0", "W1").faults(1, ANY), threads("R0", "R1", "W0", "W1").faults(1, ANY),
				threads("D0", "R0", "R1", "W1").faults(1, ANY), threads("D0", "D1", "R1").faults(2, ANY));
		Stream<SharedProtocol> small = Stream.of(threads("R0", "W1").faults(2, ANY),
				threads("R0", "R1", "W1").faults(1, ANY), threads("R0", "R0", "W1").faults(1, ANY),
				threads("R0", "W0", "W1").faults(1, ANY), threads("R0", "R1", "W1").forEver(0).faults(1, ANY),
				threads("D0", "R1").faults(2, ANY), threads("D0", "R0", "W1").faults(1, ANY),
				threads("D0", "D0", "R1").faults(1, ANY));
		return Model.LARGE ? Stream.concat(small, larger) : small;
	}

	@ParameterizedTest
	@MethodSource
	void noMoreHaveItThanThereArePermits(SharedProtocol protocol) {
		Verdict.assertKept(protocol, EnumSet.of(SAFETY, RECOVERY));
	}

	static Stream<SharedProtocol> noMoreHaveItThanThereArePermits() {
		Stream<SharedProtocol> larger = Stream.of(threads("P02", "P12", "P22").faults(2, ANY),
				threads("P02", "P02", "P12", "P22").faults(1, ANY), threads("P02", "P13", "P23", "W2").faults(1, ANY));
		Stream<SharedProtocol> small = Stream.of(threads("P02", "P12", "P22").faults(1, ANY),
				threads("P02", "P02", "P12").faults(1, ANY), threads("P02", "P13", "P23").faults(1, ANY),
				threads("P02", "P12", "W2").faults(1, ANY), threads("P02", "P02", "W0").faults(1, ANY),
				threads("P02", "R1", "P12").faults(1, ANY), threads("P02", "P12", "P22").forEver(0).faults(1, ANY),
				threads("P02", "W1").faults(2, ANY));
		return Model.LARGE ? Stream.concat(small, larger) : small;
	}

	@ParameterizedTest
	@MethodSource
	void nobodyStarvesOrWaitsInVain(SharedProtocol protocol) {
		Verdict.assertKept(protocol, EnumSet.allOf(SmallModelProperty.class));
	}

	static Stream<SharedProtocol> nobodyStarvesOrWaitsInVain() {
		Stream<SharedProtocol> larger = Stream.of(threads("W0", "R1", "R2", "W3").rounds(2, 2, 2, 2),
				threads("R0", "R1", "W1", "W2").rounds(2, 2, 2, 2),
				threads("R0", "R1", "R2", "W3", "W3").faults(1, TIME_OUT));
		Stream<SharedProtocol> small = Stream.of(threads("W0", "R1", "R2").rounds(1, 2, 2),
				threads("R0", "W0", "W0").rounds(1, 2, 2), threads("R0", "R1", "W1", "W2"),
				threads("W0", "R0", "R1", "R1"), threads("R0", "R1", "W2").rounds(1, 2, 2).faults(1, TIME_OUT),
				threads("R0", "R1", "W2", "W3").faults(1, TIME_OUT, LOST_ANSWER),
				threads("R0", "D1", "D2").rounds(1, 2, 2), threads("D0", "R1", "D2").rounds(1, 2, 2),
				threads("W0", "D1", "R2", "R1"), threads("P02", "P12", "P22").rounds(1, 2, 2),
				threads("P02", "P13", "P23").rounds(1, 2, 2), threads("W0", "P12", "P22").rounds(1, 2, 2),
				threads("P02", "P02", "P12", "P22"), threads("P02", "R1", "W2").rounds(1, 2, 2),
				threads("P02", "P12", "W2").rounds(1, 2, 2).faults(1, TIME_OUT));
		return Model.LARGE ? Stream.concat(small, larger) : small;
	}

	@ParameterizedTest
	@MethodSource
	void isRefutedWithOneRuleBroken(Enum<?> rule, SmallModelProperty duty, SharedProtocol protocol) {
		Verdict.assertKept(protocol, EnumSet.of(duty));
		Verdict.assertBroken(protocol.without(rule), duty);
	}

	static Stream<Arguments> isRefutedWithOneRuleBroken() {
		SharedProtocol three = threads("R0", "R1", "W2");
		return Stream.of( //
				arguments(KeyRule.READERS_DEFER_TO_WRITERS, ORDER, threads("W0", "R1", "R2").rounds(1, 2, 2)),
				arguments(KeyRule.KEPT_PLACES_COUNT, NO_LOST_WAKE_UP, three),
				arguments(KeyRule.READERS_WAKE_TOGETHER, NO_LOST_WAKE_UP, three),
				arguments(KeyRule.LAST_READER_WAKES, NO_LOST_WAKE_UP, three),
				arguments(KeyRule.RELEASE_ENDS_KEPT_PLACE, NO_LOST_WAKE_UP, threads("R0", "W1", "W2")),
				arguments(KeyRule.ONLY_OWNERS_END_KEPT_PLACES, ORDER,
						threads("R0", "R0", "W1", "W2").rounds(1, 1, 2, 1).faults(1, LOST_ANSWER)),
				arguments(KeyRule.WITHDRAWAL_ENDS_KEPT_PLACE, NO_LOST_WAKE_UP,
						threads("R0", "W1", "W2").faults(1, TIME_OUT)),
				arguments(KeyRule.WITHDRAWING_WRITERS_LET_READERS_IN, NO_LOST_WAKE_UP, three.faults(1, TIME_OUT)),
				arguments(KeyRule.DOWNGRADES_LET_READERS_IN, NO_LOST_WAKE_UP, threads("R0", "D1")),
				arguments(KeyRule.ONLY_OWNERS_DOWNGRADE, SAFETY, threads("D0", "W1").faults(1, LATE_COMMAND)),
				arguments(SharedRule.DOWNGRADED_BEFORE_IT_IS_SENT, SAFETY, threads("D0", "R1").faults(1, LOST_ANSWER)),
				arguments(KeyRule.DOWNGRADED_KEYS_ARE_NOT_PASSED_ON, SAFETY, threads("D0", "W0", "R1")),
				arguments(KeyRule.YIELDS_TO_OWN_READERS, ORDER, threads("R0", "W0", "W0").rounds(1, 2, 2)),
				arguments(KeyRule.LIVENESS_OF_EACH_KIND, RECOVERY,
						threads("R0", "R1", "W1").forEver(0).faults(1, LATE_COMMAND)),
				arguments(KeyRule.THE_SILENT_ARE_DEAD, RECOVERY, three.forEver(0).faults(1, CRASH)),
				arguments(KeyRule.PERMITS_AND_READERS_ARE_APART, SAFETY, threads("P02", "R1")),
				arguments(KeyRule.KEPT_PERMITS_COUNT, SAFETY, threads("P02", "P12", "P22", "W0")),
				arguments(KeyRule.EACH_BY_ITS_OWN_PERMITS, NO_LOST_WAKE_UP, threads("P02", "P13", "P23")),
				arguments(KeyRule.PERMITS_DEFER_TO_ALL_WAITERS, ORDER, threads("W0", "P12", "P22").rounds(1, 3, 3)),
				arguments(KeyRule.READERS_WAKE_TOGETHER, NO_LOST_WAKE_UP, threads("P02", "P12", "W2")),
				arguments(KeyRule.EACH_PERMIT_WAKES, NO_LOST_WAKE_UP, threads("P02", "P12", "P22")),
				arguments(SharedRule.NEXT_ASKS_AT_ONCE, NO_LOST_WAKE_UP, threads("P02", "P02")));
	}

	@ParameterizedTest
	@EnumSource
	void everyRuleIsBrokenOnce(SharedRule rule) {
		assertThat(isRefutedWithOneRuleBroken().map((row) -> row.get()[0])).contains(rule);
	}

	private static SharedProtocol threads(String... threads) {
		return SharedProtocol.threads(threads);
	}

}
