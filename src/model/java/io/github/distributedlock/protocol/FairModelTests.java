package io.github.distributedlock.protocol;

import java.util.EnumSet;
import java.util.stream.Stream;

import io.github.distributedlock.backend.KeyRule;
import io.github.distributedlock.fixtures.Exploration;
import io.github.distributedlock.protocol.FairProtocol.Rule;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.MethodSource;

import static io.github.distributedlock.protocol.Fault.CLOCK_SET_BACK;
import static io.github.distributedlock.protocol.Fault.CRASH;
import static io.github.distributedlock.protocol.Fault.LATE_COMMAND;
import static io.github.distributedlock.protocol.Fault.LOST_ANSWER;
import static io.github.distributedlock.protocol.Fault.LOST_LEASE;
import static io.github.distributedlock.protocol.Fault.LOST_MESSAGE;
import static io.github.distributedlock.protocol.Fault.SILENCE;
import static io.github.distributedlock.protocol.Fault.TIME_OUT;
import static io.github.distributedlock.protocol.SmallModelProperty.NO_LOST_WAKE_UP;
import static io.github.distributedlock.protocol.SmallModelProperty.ORDER;
import static io.github.distributedlock.protocol.SmallModelProperty.RECOVERY;
import static io.github.distributedlock.protocol.SmallModelProperty.SAFETY;
import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.params.provider.Arguments.arguments;

/**
 * Explores the {@link FairProtocol}: fair requests get the lock in the order of their
 * tickets, nobody that has ended stands in the way, and each rule is needed for that.
 */
@Exploration
@Tag("optimized")
class FairModelTests {

	private static final Fault[] ANY = { CRASH, LOST_MESSAGE, TIME_OUT, LOST_LEASE, LOST_ANSWER, LATE_COMMAND, SILENCE,
			CLOCK_SET_BACK };

	private static final FairProtocol THREE = FairProtocol.jvms(0, 0, 1);

	private static final FairProtocol FOUR = FairProtocol.jvms(0, 0, 1, 1);

	private static final FairProtocol MIXED = FairProtocol.jvms(0, 1, 1).unfair(2);

	@ParameterizedTest
	@MethodSource
	void isSafeAndRecoversWhateverGoesWrong(FairProtocol protocol) {
		Verdict.assertKept(protocol, EnumSet.of(SAFETY, RECOVERY));
	}

	static Stream<FairProtocol> isSafeAndRecoversWhateverGoesWrong() {
		Stream<FairProtocol> larger = Stream.of(THREE.faults(3, ANY), FOUR.faults(2, ANY));
		Stream<FairProtocol> small = Stream.of(THREE.faults(2, ANY), THREE.deaf().faults(1, ANY), MIXED.faults(1, ANY),
				THREE.briefly().faults(1, ANY), MIXED.briefly().faults(1, ANY));
		return Model.LARGE ? Stream.concat(small, larger) : small;
	}

	/**
	 * Not if a ticket gets lost: whose registration is not carried out, or whose JVM
	 * stands still, has to register anew.
	 */
	@ParameterizedTest
	@MethodSource
	void keepsTheOrder(FairProtocol protocol) {
		Verdict.assertKept(protocol, EnumSet.of(SAFETY, ORDER, RECOVERY));
	}

	static Stream<FairProtocol> keepsTheOrder() {
		Fault[] faults = { CRASH, LOST_MESSAGE, TIME_OUT, LOST_ANSWER };
		Stream<FairProtocol> larger = Stream.of(FOUR.faults(2, faults), FOUR.faults(3, TIME_OUT, CRASH));
		Stream<FairProtocol> small = Stream.of(THREE.faults(2, faults), THREE.deaf().faults(2, faults),
				FairProtocol.jvms(0, 1, 2).faults(2, faults), MIXED.faults(2, faults),
				THREE.faults(2, LOST_LEASE, TIME_OUT, LOST_MESSAGE), THREE.faults(2, CLOCK_SET_BACK, TIME_OUT));
		return Model.LARGE ? Stream.concat(small, larger) : small;
	}

	@ParameterizedTest
	@MethodSource
	void whoWaitsIsWoken(FairProtocol protocol) {
		Verdict.assertKept(protocol, EnumSet.allOf(SmallModelProperty.class));
	}

	static Stream<FairProtocol> whoWaitsIsWoken() {
		return Stream.of(THREE.faults(3, TIME_OUT), FOUR.faults(2, TIME_OUT), MIXED.faults(2, TIME_OUT));
	}

	@ParameterizedTest
	@MethodSource
	void isRefutedWithOneRuleBroken(Enum<?> rule, SmallModelProperty duty, FairProtocol protocol) {
		Verdict.assertKept(protocol, EnumSet.of(duty));
		Verdict.assertBroken(protocol.without(rule), duty);
	}

	static Stream<Arguments> isRefutedWithOneRuleBroken() {
		return Stream.of( //
				arguments(Rule.REGISTERS_FIRST, ORDER, THREE), //
				arguments(KeyRule.NOBODY_BARGES, ORDER, THREE.faults(1, CRASH)),
				arguments(KeyRule.TICKETS_STAY, ORDER, THREE.faults(1, LOST_MESSAGE)),
				arguments(KeyRule.RESERVED_ANEW, RECOVERY, THREE.faults(2, LATE_COMMAND, LOST_MESSAGE)),
				arguments(KeyRule.RESERVED_ANEW_FOR_THE_UNFAIR, RECOVERY, MIXED.faults(2, LATE_COMMAND, CRASH)),
				arguments(KeyRule.PASSED_ON, NO_LOST_WAKE_UP, THREE.faults(1, TIME_OUT)),
				arguments(Rule.WAKE_UPS_ARE_PERSONAL, RECOVERY, THREE.faults(1, LATE_COMMAND)),
				arguments(Rule.ANSWERS_WAKE, RECOVERY, THREE.deaf().faults(1, LATE_COMMAND)),
				arguments(Rule.ORPHANS_ARE_WITHDRAWN, RECOVERY, THREE.faults(1, LATE_COMMAND)),
				arguments(KeyRule.THE_SILENT_ARE_DEAD, RECOVERY, THREE.faults(1, CRASH)),
				arguments(KeyRule.PARDONED_ONCE, RECOVERY, FairProtocol.jvms(0, 1, 2).briefly().faults(1, CRASH)),
				arguments(KeyRule.TIME_BEGINS_ANEW, RECOVERY, THREE.faults(2, CLOCK_SET_BACK, CRASH)),
				arguments(KeyRule.THE_FUTURE_IS_NO_SILENCE, ORDER, THREE.faults(1, CLOCK_SET_BACK)),
				arguments(KeyRule.WHO_SPEAKS_LIVES, ORDER, FairProtocol.jvms(0, 0, 0, 0).faults(2, SILENCE)),
				arguments(Rule.THE_NEXT_ONE_POLLS, ORDER, THREE.faults(1, LOST_LEASE)));
	}

	@ParameterizedTest
	@EnumSource
	void everyRuleIsBrokenOnce(Rule rule) {
		assertThat(isRefutedWithOneRuleBroken().map((row) -> row.get()[0])).contains(rule);
	}

}
