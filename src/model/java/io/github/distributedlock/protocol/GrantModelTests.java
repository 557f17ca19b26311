package io.github.distributedlock.protocol;

import java.util.EnumSet;
import java.util.List;
import java.util.Set;
import java.util.stream.Stream;

import io.github.distributedlock.backend.KeyRule;
import io.github.distributedlock.fixtures.Exploration;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;

import static io.github.distributedlock.protocol.Fault.CLOCK_DRIFT;
import static io.github.distributedlock.protocol.Fault.CRASH;
import static io.github.distributedlock.protocol.Fault.LATE_COMMAND;
import static io.github.distributedlock.protocol.Fault.LOST_MESSAGE;
import static io.github.distributedlock.protocol.Fault.REFUSED_COMMAND;
import static io.github.distributedlock.protocol.Fault.REPEATED_MESSAGE;
import static io.github.distributedlock.protocol.Fault.SILENCE;
import static io.github.distributedlock.protocol.Fault.SUBSCRIBED_ELSEWHERE;
import static io.github.distributedlock.protocol.Fault.TIME_OUT;
import static io.github.distributedlock.protocol.Fault.UNSEEN_CRASH;
import static io.github.distributedlock.protocol.GrantProperty.AT_MOST_A_POLL;
import static io.github.distributedlock.protocol.GrantProperty.BOUNDED_BYPASS;
import static io.github.distributedlock.protocol.GrantProperty.HOLDERS_OWN;
import static io.github.distributedlock.protocol.GrantProperty.MUTUAL_EXCLUSION;
import static io.github.distributedlock.protocol.GrantProperty.NO_LOST_HOLD;
import static io.github.distributedlock.protocol.GrantProperty.NO_LOST_LEASE;
import static io.github.distributedlock.protocol.GrantProperty.NO_LOST_WAKE_UP;
import static io.github.distributedlock.protocol.GrantProperty.RECOVERY;
import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.params.provider.Arguments.arguments;

/**
 * Explores the {@link GrantProtocol}: a grant that is accepted is a hold, whatever was
 * late, lost or repeated; none is forgotten; and each rule is needed for that.
 */
@Exploration
@Tag("optimized")
class GrantModelTests {

	private static final Fault[] ANY = { CRASH, UNSEEN_CRASH, LOST_MESSAGE, REPEATED_MESSAGE, TIME_OUT, LATE_COMMAND,
			REFUSED_COMMAND, SILENCE, SUBSCRIBED_ELSEWHERE };

	private static final Fault[] IN_TIME = { CRASH, LOST_MESSAGE, REPEATED_MESSAGE, TIME_OUT, LATE_COMMAND,
			REFUSED_COMMAND, SILENCE, SUBSCRIBED_ELSEWHERE };

	private static final Set<GrantProperty> SAFE = EnumSet.of(MUTUAL_EXCLUSION, HOLDERS_OWN, RECOVERY);

	private static final GrantSetup TWO = GrantSetup.requests(1, 2);

	private static final GrantSetup STANDS_STILL = GrantSetup.requests(1, 1, 1)
		.inTime()
		.granting(2, 1)
		.faults(1, UNSEEN_CRASH);

	private static final GrantSetup THREE = GrantSetup.requests(1, 1, 1);

	private static final GrantSetup SHORT = TWO.lease(3, 0).granting(2, 1);

	private static final GrantSetup FAIR = TWO.fair(0, 1);

	@ParameterizedTest
	@MethodSource
	void isSafeAndRecoversWhateverGoesWrong(GrantSetup setup) {
		Verdict.assertKept(new GrantProtocol(setup), SAFE);
	}

	static Stream<GrantSetup> isSafeAndRecoversWhateverGoesWrong() {
		GrantSetup drift = GrantSetup.requests(1, 1).lease(3, 1);
		Stream<GrantSetup> small = Stream.of(TWO.faults(1, ANY), FAIR, GrantSetup.requests(1, 1).faults(2, ANY),
				GrantSetup.requests(1, 1).fair(0, 1).faults(2, ANY), drift.faults(1, CLOCK_DRIFT), SHORT.faults(1, ANY),
				SHORT.fair(0, 1), TWO.reserving(1).faults(1, ANY), TWO.fenced(1).faults(1, ANY), THREE);
		Stream<GrantSetup> larger = Stream.of(TWO.faults(2, ANY), FAIR.faults(1, ANY), THREE.faults(1, ANY));
		return Model.LARGE ? Stream.concat(small, larger) : small;
	}

	@ParameterizedTest
	@MethodSource
	void whoWaitsIsWokenInTurn(GrantSetup setup) {
		Verdict.assertKept(new GrantProtocol(setup), EnumSet.allOf(GrantProperty.class));
	}

	static Stream<GrantSetup> whoWaitsIsWokenInTurn() {
		GrantSetup three = GrantSetup.requests(2, 2, 2).inTime();
		return Stream.of(three, three.fair(0, 1, 2), three.reserving(1), three.fenced(1), three.faults(1, TIME_OUT),
				three.granting(2, 3), three.fair(0, 1, 2).granting(2, 3));
	}

	@ParameterizedTest
	@MethodSource
	void whatGoesWrongCostsAPoll(GrantSetup setup) {
		Verdict.assertKept(new GrantProtocol(setup.faults(1, IN_TIME)),
				EnumSet.of(MUTUAL_EXCLUSION, HOLDERS_OWN, AT_MOST_A_POLL, RECOVERY));
		Verdict.assertKept(new GrantProtocol(setup.faults(Model.LARGE ? 3 : 2, IN_TIME)),
				EnumSet.of(MUTUAL_EXCLUSION, HOLDERS_OWN, NO_LOST_LEASE, RECOVERY));
	}

	static Stream<GrantSetup> whatGoesWrongCostsAPoll() {
		GrantSetup two = GrantSetup.requests(2, 2).inTime();
		GrantSetup three = GrantSetup.requests(1, 1, 2).inTime();
		Stream<GrantSetup> small = Stream.of(two, two.fair(0, 1), two.reserving(1), two.fenced(1), three);
		return Model.LARGE ? Stream.concat(small, Stream.of(three.fair(0, 1, 2), three.reserving(1))) : small;
	}

	/**
	 * A JVM that stands still costs as much as a dead one: nobody has noticed yet.
	 */
	@ParameterizedTest
	@ValueSource(booleans = { false, true })
	void aGrantToTheDeadCostsTheShortLease(boolean fair) {
		GrantSetup three = STANDS_STILL.fair(fair ? new Integer[] { 0, 1, 2 } : new Integer[0]);
		Verdict.assertKept(new GrantProtocol(three),
				EnumSet.of(MUTUAL_EXCLUSION, HOLDERS_OWN, NO_LOST_LEASE, RECOVERY));
	}

	/**
	 * A place that was made without a record may meet that of an earlier request.
	 */
	@Test
	void aRecordThatOutlivesItsRequestIsSafe() {
		Verdict.assertKept(new GrantProtocol(TWO.fenced(1).faults(1, ANY).without(KeyRule.RECORD_IS_DROPPED)), SAFE);
	}

	@ParameterizedTest
	@MethodSource
	void isRefutedWithOneRuleBroken(Enum<?> rule, GrantProperty duty, GrantSetup setup) {
		Verdict.assertBroken(new GrantProtocol(setup.without(rule)), duty);
	}

	static Stream<Arguments> isRefutedWithOneRuleBroken() {
		return Stream.concat(twoHolders(), lostLeases());
	}

	private static Stream<Arguments> twoHolders() {
		return Stream.of( //
				arguments(GrantRule.LAST_NUMBER_ONLY, MUTUAL_EXCLUSION, TWO),
				arguments(GrantRule.LAST_NUMBER_ONLY, MUTUAL_EXCLUSION, FAIR),
				arguments(GrantRule.DEADLINE_BEFORE_MESSAGE, MUTUAL_EXCLUSION, TWO),
				arguments(GrantRule.DEADLINE_BEFORE_ANSWER, MUTUAL_EXCLUSION, TWO),
				arguments(KeyRule.CLAIMED_LEASE, MUTUAL_EXCLUSION, TWO),
				arguments(GrantRule.COUNTED_AS_GRANTED, MUTUAL_EXCLUSION, SHORT),
				arguments(KeyRule.TAKEN_IN_FULL, MUTUAL_EXCLUSION, SHORT),
				arguments(KeyRule.FULL_LEASE_AGAIN, MUTUAL_EXCLUSION, TWO),
				arguments(GrantRule.MARGIN_COVERS_DRIFT, MUTUAL_EXCLUSION, TWO.lease(3, 1).faults(1, CLOCK_DRIFT)),
				arguments(KeyRule.SET_BEFORE_PUBLISH, MUTUAL_EXCLUSION, TWO.faults(1, REFUSED_COMMAND)),
				arguments(KeyRule.COUNTED_BEFORE_GRANT, MUTUAL_EXCLUSION, TWO.faults(1, SUBSCRIBED_ELSEWHERE)),
				arguments(GrantRule.NOT_WHILE_WITHDRAWING, MUTUAL_EXCLUSION, TWO.faults(1, TIME_OUT)),
				arguments(GrantRule.CLEAN_UP_AFTER_REQUEST, MUTUAL_EXCLUSION,
						GrantSetup.requests(1, 1).faults(1, LATE_COMMAND)),
				arguments(GrantRule.TIME_OF_THE_TOKEN, HOLDERS_OWN, TWO.faults(1, TIME_OUT)),
				arguments(GrantRule.TOKEN_OF_ITS_OWN, MUTUAL_EXCLUSION, TWO.faults(1, TIME_OUT)),
				arguments(KeyRule.TAKEN_OVER_BY_NAME, MUTUAL_EXCLUSION, GrantSetup.requests(1, 1).inJvms(0, 0).fair(0)),
				arguments(KeyRule.OWNER_IS_COMPARED, MUTUAL_EXCLUSION, TWO.faults(1, LATE_COMMAND)));
	}

	private static Stream<Arguments> lostLeases() {
		GrantSetup two = GrantSetup.requests(2, 2).inTime();
		GrantSetup three = GrantSetup.requests(1, 1, 1).inTime();
		return Stream.of( //
				arguments(GrantRule.PREDECESSOR_IS_NAMED, NO_LOST_LEASE, two.faults(2, TIME_OUT, LOST_MESSAGE)),
				arguments(GrantRule.HEARD_WHILE_ASKING_IS_NAMED, NO_LOST_LEASE,
						two.faults(1, TIME_OUT).without(GrantRule.PREDECESSOR_IS_NAMED)),
				arguments(GrantRule.EARLY_GRANT_IS_KEPT, NO_LOST_WAKE_UP, two),
				arguments(KeyRule.WITHDRAWAL_NAMES_TOKEN, NO_LOST_LEASE, three.faults(1, TIME_OUT)),
				arguments(GrantRule.UNWANTED_GRANT_IS_GIVEN_BACK, NO_LOST_LEASE,
						two.faults(1, LATE_COMMAND).without(KeyRule.LATE_REGISTRATION_IS_REMOVED)),
				arguments(GrantRule.UNANSWERED_REGISTRATION_IS_CLEANED_UP, NO_LOST_LEASE,
						two.faults(2, LATE_COMMAND, TIME_OUT)),
				arguments(GrantRule.UNANSWERED_WITHDRAWAL_IS_CLEANED_UP, NO_LOST_LEASE,
						TWO.inTime().faults(3, LATE_COMMAND, TIME_OUT, LOST_MESSAGE)),
				arguments(KeyRule.LATE_REGISTRATION_IS_REMOVED, NO_LOST_LEASE,
						two.faults(2, LATE_COMMAND, LOST_MESSAGE)),
				arguments(GrantRule.SHORT_AT_FIRST, NO_LOST_LEASE, STANDS_STILL),
				arguments(GrantRule.RENEWED_AS_GRANTED, NO_LOST_HOLD, two.granting(2, 3)),
				arguments(KeyRule.RECORD_IS_DROPPED, NO_LOST_LEASE, two.fenced(1).faults(2, TIME_OUT, LOST_MESSAGE)),
				arguments(KeyRule.THE_DEAF_ARE_PASSED_OVER, NO_LOST_LEASE, three.faults(1, CRASH)),
				arguments(KeyRule.PLACES_STAY, BOUNDED_BYPASS, GrantSetup.requests(1, 3, 3).inTime()),
				arguments(KeyRule.REFUSED_KEEPS_PLACE, BOUNDED_BYPASS,
						GrantSetup.requests(1, 3, 3).inTime().faults(1, REFUSED_COMMAND)));
	}

	/**
	 * Shows that a setup above is refuted by the broken rule alone.
	 */
	@ParameterizedTest
	@MethodSource
	void isKeptWithAllRules(GrantProperty duty, GrantSetup setup) {
		Verdict.assertKept(new GrantProtocol(setup), EnumSet.of(duty));
	}

	static Stream<Arguments> isKeptWithAllRules() {
		return isRefutedWithOneRuleBroken().map((row) -> List.of(row.get()[1], row.get()[2]))
			.distinct()
			.filter((kept) -> !SAFE.contains(kept.get(0))
					|| isSafeAndRecoversWhateverGoesWrong().noneMatch(((GrantSetup) kept.get(1))::isPartOf))
			.map((kept) -> arguments(kept.toArray()));
	}

	@ParameterizedTest
	@EnumSource
	void everyRuleIsBrokenOnce(GrantRule rule) {
		assertThat(isRefutedWithOneRuleBroken().map((row) -> row.get()[0])).contains(rule);
	}

}
