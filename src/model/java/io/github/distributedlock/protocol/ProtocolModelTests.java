package io.github.distributedlock.protocol;

import java.util.EnumSet;
import java.util.Set;
import java.util.stream.Stream;

import io.github.distributedlock.fixtures.Exploration;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.MethodSource;

import static io.github.distributedlock.protocol.Fault.CRASH;
import static io.github.distributedlock.protocol.Fault.FLUSH;
import static io.github.distributedlock.protocol.Fault.LATE_COMMAND;
import static io.github.distributedlock.protocol.Fault.LOST_ANSWER;
import static io.github.distributedlock.protocol.Fault.LOST_LEASE;
import static io.github.distributedlock.protocol.Fault.LOST_MESSAGE;
import static io.github.distributedlock.protocol.Fault.REFUSED_COMMAND;
import static io.github.distributedlock.protocol.Fault.SILENCE;
import static io.github.distributedlock.protocol.Fault.TIME_OUT;
import static io.github.distributedlock.protocol.ProtocolProperty.BOUNDED_BYPASS;
import static io.github.distributedlock.protocol.ProtocolProperty.HANDS_OFF;
import static io.github.distributedlock.protocol.ProtocolProperty.MUTUAL_EXCLUSION;
import static io.github.distributedlock.protocol.ProtocolProperty.NO_LOST_WAKE_UP;
import static io.github.distributedlock.protocol.ProtocolProperty.NO_ORPHAN;
import static io.github.distributedlock.protocol.ProtocolProperty.RECOVERY;
import static io.github.distributedlock.protocol.ProtocolProperty.SLICES_END;
import static io.github.distributedlock.protocol.ProtocolProperty.THE_DEAD_ARE_FORGOTTEN;
import static io.github.distributedlock.protocol.ProtocolProperty.TOKENS_ARE_USED_IN_ORDER;
import static io.github.distributedlock.protocol.ProtocolProperty.TOKENS_INCREASE;
import static io.github.distributedlock.protocol.ProtocolProperty.TOKENS_KEEP_TO_THE_TIME;
import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.params.provider.Arguments.arguments;

/**
 * Explores the {@link Protocol} in all orders of steps: each property holds, and each
 * property fails if a rule behind the property is broken.
 */
@Exploration
@Tag("optimized")
class ProtocolModelTests {

	private static final Set<Fault> ANY = EnumSet.range(CRASH, REFUSED_COMMAND);

	private static final Set<Fault> IN_TIME = EnumSet.complementOf(EnumSet.of(FLUSH, SILENCE, LATE_COMMAND));

	@ParameterizedTest
	@MethodSource
	void isSafeAndRecoversWhateverGoesWrong(Setup setup) {
		assertHolds(setup, EnumSet.complementOf(EnumSet.of(NO_LOST_WAKE_UP, BOUNDED_BYPASS, THE_DEAD_ARE_FORGOTTEN)));
	}

	static Stream<Setup> isSafeAndRecoversWhateverGoesWrong() {
		Stream<Setup> larger = Stream.of( //
				Setup.threads(1, 2).handingOn().faults(2, ANY), //
				Setup.threads(1, 3).handingOn().faults(1, ANY), //
				Setup.threads(1, 1, 2).handingOn().faults(1, ANY), //
				Setup.threads(1, 1).withoutLua().faults(2, ANY), //
				Setup.threads(1, 2).withoutLua().faults(1, ANY));
		Stream<Setup> small = Stream.of( //
				Setup.threads(1, 1).faults(3, ANY), //
				Setup.threads(1, 1).withTokens().faults(2, ANY), //
				Setup.threads(1, 1).requests(2).faults(1, ANY), //
				Setup.threads(1, 2).faults(2, ANY), //
				Setup.threads(2, 2).faults(1, ANY), //
				Setup.threads(1, 1, 1).faults(1, ANY), //
				Setup.threads(1, 1, 1).inCluster().faults(2, CRASH, LOST_MESSAGE), //
				Setup.threads(2).handingOn().faults(3, ANY), //
				Setup.threads(1, 2).handingOn().faults(1, ANY), //
				Setup.threads(1, 1).withoutLua().faults(1, ANY), //
				Setup.threads(1, 1).withoutLua().withTokens().faults(1, ANY));
		return Model.LARGE ? Stream.concat(small, larger) : small;
	}

	/**
	 * The properties without anything atomic, as long as no command comes after the end
	 * of the lease in question.
	 */
	@ParameterizedTest
	@MethodSource
	void withBestEffortIsSafeAndRecovers(Setup setup) {
		assertHolds(setup, EnumSet.of(MUTUAL_EXCLUSION, HANDS_OFF, NO_ORPHAN, RECOVERY));
	}

	static Stream<Setup> withBestEffortIsSafeAndRecovers() {
		Stream<Setup> larger = Stream.of( //
				Setup.threads(1, 1, 1).withBestEffort().faults(1, IN_TIME), //
				Setup.threads(1, 1).requests(2).withBestEffort().faults(1, IN_TIME));
		Stream<Setup> small = Stream.of( //
				Setup.threads(1, 1).withBestEffort().faults(2, IN_TIME), //
				Setup.threads(1, 1).requests(2).withBestEffort(), //
				Setup.threads(1, 2).withBestEffort().faults(1, TIME_OUT));
		return Model.LARGE ? Stream.concat(small, larger) : small;
	}

	@Test
	void withBestEffortALateCommandCanTakeTheLockOfAnother() {
		assertBroken(Setup.threads(1, 1).withBestEffort().faults(1, LATE_COMMAND), HANDS_OFF);
	}

	@ParameterizedTest
	@MethodSource
	void whoWaitsIsWokenInTurn(Setup setup) {
		assertHolds(setup, EnumSet.allOf(ProtocolProperty.class));
	}

	static Stream<Setup> whoWaitsIsWokenInTurn() {
		Stream<Setup> larger = Stream.of( //
				Setup.threads(1, 4).handingOn(), //
				Setup.threads(1, 2, 2).handingOn(), //
				Setup.threads(1, 2).handingOn().requests(2).faults(1, TIME_OUT, LOST_ANSWER), //
				Setup.threads(1, 1).requests(2).withoutLua().faults(1, TIME_OUT), //
				Setup.threads(1, 1, 1).withoutLua());
		Stream<Setup> small = Stream.of( //
				Setup.threads(3, 3), //
				Setup.threads(1, 2, 2), //
				Setup.threads(1, 2).requests(2), //
				Setup.threads(1, 1).requests(2).faults(2, TIME_OUT, LOST_ANSWER), //
				Setup.threads(2, 2).faults(1, TIME_OUT, LOST_ANSWER), //
				Setup.threads(1, 1, 1).faults(2, TIME_OUT, LOST_ANSWER), //
				Setup.threads(1, 3).handingOn(), //
				Setup.threads(1, 1, 2).handingOn(), //
				Setup.threads(1, 2).handingOn().faults(1, TIME_OUT, LOST_ANSWER), //
				Setup.threads(1, 1).requests(2).withoutLua(), //
				Setup.threads(1, 1).withoutLua().faults(2, TIME_OUT), //
				Setup.threads(1, 2).withoutLua().faults(1, TIME_OUT), //
				Setup.threads(1, 1).withoutLua().inCluster().faults(2, TIME_OUT));
		return Model.LARGE ? Stream.concat(small, larger) : small;
	}

	/**
	 * The poll is there for these faults:
	 *
	 * <pre>
	 *                   Lua   without
	 * CRASH             yes   yes
	 * LOST_MESSAGE      yes   yes
	 * LOST_LEASE        yes   yes
	 * LATE_COMMAND      yes   yes
	 * REFUSED_COMMAND   yes   yes
	 * LOST_ANSWER       no    yes: who gives back does not know how far it has come, and
	 *                         may leave out to look once more, or to publish
	 * TIME_OUT          no    no
	 * </pre>
	 */
	@ParameterizedTest
	@EnumSource(names = { "CRASH", "LOST_MESSAGE", "LOST_LEASE", "LATE_COMMAND", "REFUSED_COMMAND" })
	void whoWaitsMayHaveToPollAfter(Fault fault) {
		assertBroken(Setup.threads(1, 2).faults(2, TIME_OUT, fault), NO_LOST_WAKE_UP);
	}

	@ParameterizedTest
	@EnumSource(names = { "CRASH", "LOST_MESSAGE", "LOST_LEASE", "LATE_COMMAND", "REFUSED_COMMAND", "LOST_ANSWER" })
	void withoutLuaWhoWaitsMayHaveToPollAfter(Fault fault) {
		assertBroken(Setup.threads(1, 1).withoutLua().faults(1, fault), NO_LOST_WAKE_UP);
	}

	@ParameterizedTest
	@MethodSource
	void theDeadAreForgotten(Setup setup) {
		assertHolds(setup, EnumSet.of(THE_DEAD_ARE_FORGOTTEN));
	}

	static Stream<Setup> theDeadAreForgotten() {
		Stream<Setup> larger = Stream.of( //
				Setup.threads(1, 1).requests(2).withoutLua().faults(1, CRASH), //
				Setup.threads(1, 1, 1).withoutLua().faults(1, CRASH));
		Stream<Setup> small = Stream.of( //
				Setup.threads(1, 1, 1).inCluster().faults(2, CRASH), //
				Setup.threads(1, 1).requests(2).faults(2, CRASH, TIME_OUT), //
				Setup.threads(1, 1).withoutLua().faults(2, CRASH, TIME_OUT), //
				Setup.threads(1, 1).withoutLua().inCluster().faults(2, CRASH, TIME_OUT));
		return Model.LARGE ? Stream.concat(small, larger) : small;
	}

	@Test
	void theBoundOnBypassesIsReached() {
		Setup setup = Setup.threads(1, 2, 2);
		State reached = new Explorer<>(new Protocol(setup)::transitions).find(State.first(setup),
				(state, transitions) -> state.ghost().bypasses() == 2);
		assertThat(reached).isNotNull();
	}

	@Test
	void tokensIncreaseThoughTheServerForgetsThem() {
		assertHolds(Setup.threads(1, 1).withTokens().faults(3, FLUSH, LOST_LEASE, LOST_ANSWER),
				EnumSet.of(TOKENS_INCREASE, RECOVERY));
	}

	@ParameterizedTest
	@MethodSource
	void isRefutedWithOneRuleBroken(Mutant mutant, ProtocolProperty property, Setup setup) {
		assertHolds(setup, EnumSet.of(property));
		assertBroken(setup.with(mutant), property);
	}

	static Stream<Arguments> isRefutedWithOneRuleBroken() {
		return Stream.concat(refutedAtAll(), refutedHandingOn());
	}

	private static Stream<Arguments> refutedHandingOn() {
		Setup own = Setup.threads(2).handingOn();
		Setup two = Setup.threads(1, 2).handingOn();
		return Stream.of( //
				arguments(Mutant.PASSED_ON_WHOEVER_HAS_IT, HANDS_OFF, two.faults(1, LATE_COMMAND)),
				arguments(Mutant.NO_YIELDING, SLICES_END, Setup.threads(3).handingOn()),
				arguments(Mutant.YIELDS_WITHOUT_REGISTERING, NO_LOST_WAKE_UP, Setup.threads(1, 3).handingOn()),
				arguments(Mutant.NOT_RELEASED_AFTER_PASSING_ON_UNHEARD, NO_ORPHAN, own.faults(1, LATE_COMMAND)),
				arguments(Mutant.LEFT_KEY_FORGOTTEN, NO_ORPHAN, own.faults(1, TIME_OUT)),
				arguments(Mutant.CLEAN_UP_WHILE_HANDED_ON, HANDS_OFF, own.faults(1, LOST_ANSWER)),
				arguments(Mutant.LOSS_BETWEEN_HOLDS_UNNOTICED, HANDS_OFF, own.faults(1, LOST_LEASE)),
				arguments(Mutant.NO_CLEAN_UP_BETWEEN_HOLDS, NO_ORPHAN, own.faults(2, LATE_COMMAND, LOST_LEASE)),
				arguments(Mutant.UNHEARD_PASS_BEGINS_A_SLICE, SLICES_END,
						Setup.threads(3).handingOn().faults(1, LOST_ANSWER)));
	}

	private static Stream<Arguments> refutedAtAll() {
		Setup two = Setup.threads(1, 1);
		Setup three = Setup.threads(1, 1, 1);
		Setup plain = two.withoutLua();
		return Stream.of( //
				arguments(Mutant.NO_OWNER_CHECK, HANDS_OFF, two.faults(1, LOST_ANSWER)),
				arguments(Mutant.NO_OWNER_CHECK, MUTUAL_EXCLUSION, three.faults(1, LOST_ANSWER)),
				arguments(Mutant.NO_RETRY_WHEN_REGISTERING, NO_LOST_WAKE_UP, two),
				arguments(Mutant.WITHDRAW_WITHOUT_PASSING_ON, NO_LOST_WAKE_UP, three.faults(1, TIME_OUT)),
				arguments(Mutant.NO_RESERVATION, BOUNDED_BYPASS, Setup.threads(1, 2).requests(2)),
				arguments(Mutant.NO_CLEAN_UP, NO_ORPHAN, two.faults(2, LOST_ANSWER, TIME_OUT)),
				arguments(Mutant.NO_SECOND_RELEASE, NO_ORPHAN, two.faults(1, LATE_COMMAND)),
				arguments(Mutant.OWN_VALUE_NOT_RECOGNISED, NO_LOST_WAKE_UP, two.faults(1, LOST_ANSWER)),
				arguments(Mutant.EARLY_WAKE_UP_FORGOTTEN, NO_LOST_WAKE_UP, two),
				arguments(Mutant.NO_WITHDRAWAL, NO_LOST_WAKE_UP, three.faults(1, TIME_OUT)),
				arguments(Mutant.NO_POLL, RECOVERY, two.faults(1, LOST_MESSAGE)),
				arguments(Mutant.RESERVATION_FOR_EVER, RECOVERY, two.requests(2).faults(1, CRASH)),
				arguments(Mutant.DEADLINE_AFTER_SERVER, MUTUAL_EXCLUSION, two.faults(1, LOST_LEASE)),
				arguments(Mutant.LATE_ANSWER_COUNTS, MUTUAL_EXCLUSION, two.faults(1, LOST_LEASE)),
				arguments(Mutant.LATE_ANSWER_COUNTS, TOKENS_ARE_USED_IN_ORDER, two.withTokens().faults(1, LOST_LEASE)),
				arguments(Mutant.TOKEN_FROM_A_COUNTER_ALONE, TOKENS_INCREASE, two.withTokens().faults(1, FLUSH)),
				arguments(Mutant.TOKEN_FROM_THE_CLOCK_ALONE, TOKENS_INCREASE, two.withTokens()),
				arguments(Mutant.NO_RETRY_WHEN_REGISTERING, NO_LOST_WAKE_UP, plain),
				arguments(Mutant.NO_POLL, RECOVERY, plain.faults(1, LOST_MESSAGE)),
				arguments(Mutant.TOKEN_ADDS_TO_WHAT_WAS_SEEN, TOKENS_KEEP_TO_THE_TIME,
						plain.withTokens().faults(1, LOST_LEASE)),
				arguments(Mutant.LOOKS_ONLY_ONCE, NO_LOST_WAKE_UP, plain),
				arguments(Mutant.WAKE_UP_BEFORE_RESERVING, NO_LOST_WAKE_UP, plain),
				arguments(Mutant.WAITER_POPPED_AT_ONCE, NO_LOST_WAKE_UP, plain),
				arguments(Mutant.WAITER_NOT_FORGOTTEN, THE_DEAD_ARE_FORGOTTEN, plain.faults(1, CRASH)),
				arguments(Mutant.WAITER_TAKEN_FOR_GRANTED, NO_LOST_WAKE_UP, plain.requests(2).faults(1, TIME_OUT)),
				arguments(Mutant.GET_THEN_DELETE, HANDS_OFF, plain.faults(1, LOST_LEASE)),
				arguments(Mutant.RESERVATION_CHANGED_BY_WHO_MADE_IT, HANDS_OFF,
						two.withBestEffort().faults(1, LOST_MESSAGE)),
				arguments(Mutant.REFUSED_MIDWAY_COUNTS_AS_NOT_BEGUN, NO_ORPHAN,
						plain.faults(2, REFUSED_COMMAND, TIME_OUT)));
	}

	@ParameterizedTest
	@EnumSource
	void everyRuleIsBrokenOnce(Mutant mutant) {
		assertThat(isRefutedWithOneRuleBroken().map((row) -> row.get()[0])).contains(mutant);
	}

	@Test
	void showsTheShortestWayToWhatWentWrong() {
		Setup setup = Setup.threads(1, 1).with(Mutant.NO_RETRY_WHEN_REGISTERING);
		assertThat(Verdict.on(new Protocol(setup), EnumSet.of(NO_LOST_WAKE_UP)).toString()).endsWith("""
				NO_LOST_WAKE_UP is broken by
				  J0.t0#0 wants the lock (REQUEST)
				  J0.t0#0 asks: granted
				  J0.t0#0 reads that it has the lock
				  J1.t0#0 wants the lock (REQUEST)
				  J1.t0#0 asks: busy
				  J0.t0#0 releases
				  J0.t0#0 reads the answer to its release
				  J1.t0#0 asks or registers: busy
				  J1.t0#0 reads that the lock is busy""");
	}

	private static void assertHolds(Setup setup, Set<ProtocolProperty> properties) {
		Verdict.assertKept(new Protocol(setup), properties);
	}

	private static void assertBroken(Setup setup, ProtocolProperty property) {
		Verdict.assertBroken(new Protocol(setup), property);
	}

}
