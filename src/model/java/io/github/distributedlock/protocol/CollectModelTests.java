package io.github.distributedlock.protocol;

import java.util.EnumSet;
import java.util.stream.Stream;

import io.github.distributedlock.fixtures.Exploration;
import io.github.distributedlock.protocol.CollectProtocol.Rule;
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
 * Explores the {@link CollectProtocol}: who goes on has all keys, whatever was lost
 * meanwhile, no lease runs out that can be renewed, all come to an end, and each rule is
 * needed for that.
 */
@Exploration
@Tag("optimized")
class CollectModelTests {

	@Test
	void whoGoesOnHasAllKeys() {
		Verdict.assertKept(new CollectProtocol(null), EnumSet.of(SAFETY, ORDER, RECOVERY));
	}

	@ParameterizedTest
	@MethodSource
	void isRefutedWithOneRuleBroken(Rule rule, SmallModelProperty duty) {
		Verdict.assertBroken(new CollectProtocol(rule), duty);
	}

	static Stream<Arguments> isRefutedWithOneRuleBroken() {
		return Stream.of(arguments(Rule.COUNTS_WHAT_IS_HELD, SAFETY), arguments(Rule.RENEWED_AT_THE_END, SAFETY),
				arguments(Rule.RENEWED_MEANWHILE, ORDER), arguments(Rule.NEW_OWNER, SAFETY),
				arguments(Rule.LATER_KEYS_ARE_GIVEN_BACK, RECOVERY));
	}

	@ParameterizedTest
	@EnumSource
	void everyRuleIsBrokenOnce(Rule rule) {
		assertThat(isRefutedWithOneRuleBroken().map((row) -> row.get()[0])).contains(rule);
	}

}
