package io.github.distributedlock.protocol;

import io.github.distributedlock.fixtures.Exploration;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Explores the {@link Places} of those who wait: who comes back has to wait behind who is
 * registered by then, so that each other JVM gets the lock at most once before.
 */
@Exploration
@Tag("optimized")
class PlaceModelTests {

	@Test
	void staleAndEqualPlacesDoNotLetAnybodyInTwice() {
		assertThat(bypasses(3, 3, 1, 2)).isNull();
		assertThat(bypasses(4, 2, 1, 3)).isNull();
	}

	@Test
	void theBoundIsReached() {
		assertThat(bypasses(3, 3, 1, 1)).isNotNull();
	}

	@ParameterizedTest
	@ValueSource(ints = { 0, -1 })
	void isRefutedIfWhoComesBackDoesNotTakeALaterPlace(int step) {
		assertThat(bypasses(3, 3, step, 2)).isNotNull();
	}

	private static @Nullable Places bypasses(int jvms, int requests, int step, int most) {
		Explorer<Places> explorer = new Explorer<>((state) -> state.transitions(step));
		Places found = explorer.find(Places.of(jvms, requests), (state, transitions) -> state.bypasses() > most);
		System.out.println(jvms + " JVMs x " + requests + " requests, places in steps of " + step + ": "
				+ explorer.size() + " states, more than " + most + " bypasses: "
				+ ((found != null) ? explorer.wayTo(found) : "none"));
		return found;
	}

}
