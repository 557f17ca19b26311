package io.github.distributedlock.protocol;

import io.github.distributedlock.fixtures.Exploration;
import io.github.distributedlock.protocol.RenewalProtocol.Rule;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Explores the {@link RenewalProtocol}: without Lua, too, a holder never believes in a
 * longer lease than the server has, and each rule is needed for that.
 */
@Exploration
@Tag("optimized")
class RenewalModelTests {

	@Test
	void aHolderBelievesInNoMoreThanTheServerHas() {
		assertThat(broken(null)).isNull();
	}

	@ParameterizedTest
	@EnumSource
	void isRefutedWithOneRuleBroken(Rule rule) {
		assertThat(broken(rule)).isNotNull();
	}

	private static @Nullable Renewals broken(@Nullable Rule rule) {
		Explorer<Renewals> explorer = new Explorer<>(new RenewalProtocol(rule)::transitions);
		Renewals found = explorer.find(Renewals.acquired(RenewalProtocol.LEASE),
				(state, transitions) -> state.believed() > state.left());
		System.out.println("Renewals with " + ((rule != null) ? rule + " broken" : "all rules") + ": " + explorer.size()
				+ " states" + ((found != null) ? explorer.wayTo(found) : ""));
		return found;
	}

}
