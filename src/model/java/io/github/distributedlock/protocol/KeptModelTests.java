package io.github.distributedlock.protocol;

import java.util.EnumSet;
import java.util.stream.Stream;

import io.github.distributedlock.backend.KeyRule;
import io.github.distributedlock.fixtures.Exploration;
import io.github.distributedlock.protocol.KeptProtocol.Duty;
import io.github.distributedlock.protocol.KeptProtocol.Rule;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.MethodSource;

import static io.github.distributedlock.protocol.Fault.CRASH;
import static io.github.distributedlock.protocol.Fault.LOST_MESSAGE;
import static io.github.distributedlock.protocol.Fault.REPEATED_MESSAGE;
import static io.github.distributedlock.protocol.KeptProtocol.Duty.AT_MOST_A_POLL;
import static io.github.distributedlock.protocol.KeptProtocol.Duty.AT_MOST_A_SHORT_LEASE;
import static io.github.distributedlock.protocol.KeptProtocol.Duty.AT_MOST_TWICE_THE_KEEP_TIME;
import static io.github.distributedlock.protocol.KeptProtocol.Duty.NOT_IN_VAIN;
import static io.github.distributedlock.protocol.KeptProtocol.Duty.NO_LOST_WAKE_UP;
import static io.github.distributedlock.protocol.KeptProtocol.Duty.RECOVERY;
import static io.github.distributedlock.protocol.KeptProtocol.Duty.USERS_OWN;
import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.params.provider.Arguments.arguments;

/**
 * Explores the {@link KeptProtocol}: a key that stays with a JVM is used by the owner
 * alone, others get the key when they ask, and no rule is superfluous for that.
 */
@Exploration
@Tag("optimized")
class KeptModelTests {

	private static final KeptProtocol TWO = KeptProtocol.requests(2, 2);

	private static final KeptProtocol THREE = KeptProtocol.requests(2, 1, 1);

	private static final KeptProtocol EARLIER = KeptProtocol.requests(4, 1).earlier(1);

	private static final KeptProtocol LATE = TWO.atAnyTime().faults(1, CRASH, LOST_MESSAGE, REPEATED_MESSAGE);

	@ParameterizedTest
	@MethodSource
	void isSafeAndRecoversWhateverGoesWrong(KeptProtocol setup) {
		Verdict.assertKept(setup, EnumSet.of(USERS_OWN, NOT_IN_VAIN, RECOVERY));
	}

	static Stream<KeptProtocol> isSafeAndRecoversWhateverGoesWrong() {
		return Stream.of(LATE, LATE.earlier(1), THREE.atAnyTime().faults(1, LOST_MESSAGE));
	}

	@Test
	void whoAsksHasAKeptKeyAtOnce() {
		Verdict.assertKept(TWO, EnumSet.allOf(Duty.class));
		Verdict.assertKept(THREE, EnumSet.allOf(Duty.class));
	}

	@Test
	void whatGoesWrongCostsAPollOrAShortLease() {
		Verdict.assertKept(TWO.faults(1, LOST_MESSAGE), EnumSet.of(USERS_OWN, AT_MOST_A_POLL, RECOVERY));
		Verdict.assertKept(TWO.faults(2, CRASH, LOST_MESSAGE), EnumSet.of(USERS_OWN, AT_MOST_A_SHORT_LEASE, RECOVERY));
		Verdict.assertKept(EARLIER, EnumSet.of(USERS_OWN, AT_MOST_TWICE_THE_KEEP_TIME, RECOVERY));
	}

	@ParameterizedTest
	@MethodSource
	void isRefutedWithOneRuleBroken(Enum<?> rule, Duty duty, KeptProtocol setup) {
		Verdict.assertKept(setup, EnumSet.of(duty));
		Verdict.assertBroken(setup.without(rule), duty);
	}

	static Stream<Arguments> isRefutedWithOneRuleBroken() {
		return Stream.of(arguments(KeyRule.BUSY_KEYS_ARE_RECALLED, NO_LOST_WAKE_UP, TWO),
				arguments(KeyRule.EACH_ATTEMPT_RECALLS, AT_MOST_A_POLL, TWO.faults(1, LOST_MESSAGE)),
				arguments(Rule.RECALLED_IS_RELEASED, NO_LOST_WAKE_UP, TWO),
				arguments(Rule.NOT_WHILE_USED, USERS_OWN, TWO),
				arguments(Rule.REMEMBERED_WHILE_USED, NO_LOST_WAKE_UP, TWO),
				arguments(Rule.WHO_WAITED_IS_RECALLED, NO_LOST_WAKE_UP, THREE),
				arguments(Rule.CONSTANT_USE_ENDS, AT_MOST_TWICE_THE_KEEP_TIME, EARLIER),
				arguments(Rule.NAMES_THE_OWNER, NOT_IN_VAIN, LATE), arguments(Rule.NOT_WHEN_OVER, USERS_OWN, LATE),
				arguments(Rule.WHAT_IS_LEFT, USERS_OWN, LATE),
				arguments(Rule.SHORT_WHILE_KEPT, AT_MOST_A_SHORT_LEASE, TWO.faults(1, CRASH)),
				arguments(Rule.KEEP_TIME_ENDS, AT_MOST_TWICE_THE_KEEP_TIME, EARLIER),
				arguments(Rule.STOP_RELEASES, NO_LOST_WAKE_UP, TWO));
	}

	@ParameterizedTest
	@EnumSource
	void everyRuleIsBrokenOnce(Rule rule) {
		assertThat(isRefutedWithOneRuleBroken().map((row) -> row.get()[0])).contains(rule);
	}

}
