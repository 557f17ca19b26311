package io.github.distributedlock.protocol;

import java.util.EnumSet;
import java.util.stream.Stream;

import io.github.distributedlock.backend.KeyRule;
import io.github.distributedlock.fixtures.Exploration;
import io.github.distributedlock.protocol.SilenceProtocol.Rule;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.MethodSource;

import static io.github.distributedlock.protocol.SmallModelProperty.ORDER;
import static io.github.distributedlock.protocol.SmallModelProperty.RECOVERY;
import static io.github.distributedlock.protocol.SmallModelProperty.SAFETY;
import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.params.provider.Arguments.arguments;

/**
 * Explores the {@link SilenceProtocol}: though not all is written each time, the living
 * keep their places, nobody is woken that has been silent for too long, the dead are
 * forgotten, and each rule is needed for that.
 */
@Exploration
@Tag("optimized")
class SilenceModelTests {

	private static final int WAITERS = 3;

	@Test
	void theLivingStayAndTheDeadAreForgotten() {
		Verdict.assertKept(new SilenceProtocol(WAITERS, null), EnumSet.of(SAFETY, ORDER, RECOVERY));
	}

	@ParameterizedTest
	@MethodSource
	void isRefutedWithOneRuleBroken(Enum<?> rule, SmallModelProperty duty) {
		Verdict.assertBroken(new SilenceProtocol(WAITERS, rule), duty);
	}

	static Stream<Arguments> isRefutedWithOneRuleBroken() {
		return Stream.of(arguments(Rule.NEW_QUEUES_END, RECOVERY), arguments(Rule.RENEWED_EACH_SECOND, SAFETY),
				arguments(KeyRule.POLLS_ARE_HEARD, SAFETY), arguments(Rule.HEARD_BEFORE_SILENCE, SAFETY),
				arguments(KeyRule.THE_SILENT_ARE_DEAD, ORDER), arguments(KeyRule.OLDEST_IS_JUDGED, ORDER));
	}

	@ParameterizedTest
	@EnumSource
	void everyRuleIsBrokenOnce(Rule rule) {
		assertThat(isRefutedWithOneRuleBroken().map((row) -> row.get()[0])).contains(rule);
	}

}
