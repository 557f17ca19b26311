package io.github.distributedlock.benchmark;

import java.time.LocalDate;
import java.time.ZoneOffset;

import redis.clients.jedis.Jedis;

/**
 * What was measured, on what.
 */
final class Setting {

	private Setting() {
	}

	static String describe(Jedis server, Options options) {
		String redis = server.info("server")
			.lines()
			.filter((line) -> line.matches("(redis|valkey)_version:.*"))
			.reduce((first, second) -> second)
			.orElse("");
		StringBuilder text = new StringBuilder();
		text.append("# Performance\n\n");
		text.append(String.format("""
				Written by `./mvnw -q -Pbenchmark spring-boot:test-run` on %s: %d processors, JDK %s, %s, \
				on loopback. Absolute figures do not travel; ratios within a run do. All contestants took turns \
				on one server, and each figure is the median of its rounds. An operation is a lock and an unlock.
				%s
				| contestant | version | settings |
				|---|---|---|
				""", LocalDate.now(ZoneOffset.UTC), Runtime.getRuntime().availableProcessors(), Runtime.version(),
				redis.replace(':', ' ').replace('_', ' '),
				options.quick() ? "**A quick run, for trying it: the figures mean little.**\n" : ""));
		for (Contestant contestant : options.contestants()) {
			text.append(String.format("| %s | %s | %s |%n", contestant.label(), contestant.version(),
					contestant.settings()));
		}
		return text.append('\n').toString();
	}

}
