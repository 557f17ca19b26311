package io.github.distributedlock.protocol;

import java.util.EnumSet;
import java.util.Set;
import java.util.stream.Stream;

import io.github.distributedlock.backend.KeyRule;
import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * The rules of the server that models break. {@code ProtocolModelTests} has one test for
 * each mutant.
 */
class KeyRuleTests {

	@Test
	void everyRuleIsBrokenInAModelThatRefutesIt() {
		Set<KeyRule> faults = EnumSet.of(KeyRule.ENOUGH_MEMORY, KeyRule.CLAIMS_ARE_RECENT,
				KeyRule.SUBSCRIBERS_ARE_COUNTED, KeyRule.KNOWS_GRANTS);
		Set<KeyRule> ofMutants = Set.copyOf(Scripts.RULES.values());
		Set<KeyRule> others = EnumSet.allOf(KeyRule.class);
		others.removeAll(faults);
		others.removeAll(ofMutants);
		assertThat(Stream
			.of(GrantModelTests.isRefutedWithOneRuleBroken(), SharedModelTests.isRefutedWithOneRuleBroken(),
					FairModelTests.isRefutedWithOneRuleBroken(), SilenceModelTests.isRefutedWithOneRuleBroken(),
					KeptModelTests.isRefutedWithOneRuleBroken())
			.flatMap((rows) -> rows)
			.map((row) -> row.get()[0])).containsAll(others);
	}

}
