package io.github.distributedlock.backend.redis;

import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Servers that are too old for any remedy but a newer one.
 */
class ServerVersionTests {

	@ParameterizedTest
	@CsvSource(textBlock = """
			Redis 2.8.24, true
			Redis 6.0.16, true
			Redis 6.2.11, false
			Redis 7.0.15, false
			Redis 10.0.1, false
			Valkey 7.2.5, false
			Redis (of unknown version), false
			""")
	void redisBefore62IsTooOld(String server, boolean tooOld) {
		assertThat(AtomicityProbe.isTooOld(server)).isEqualTo(tooOld);
	}

}
