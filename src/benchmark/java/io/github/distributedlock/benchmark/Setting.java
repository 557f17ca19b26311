package io.github.distributedlock.benchmark;

import java.time.LocalDate;
import java.time.ZoneOffset;

import redis.clients.jedis.Jedis;

/**
 * What was measured, on what.
 */
final class Setting {

	private static final String HEAD = """
			# Performance

			Written by `./mvnw -q -Pbenchmark spring-boot:test-run` on %s: %d processors, JDK %s, %s on loopback.
			Absolute figures do not travel; ratios within a run do. The values are in [results.csv](results.csv).

			- An operation is a lock and an unlock. Every figure is the median of its rounds.
			- All contestants take turns on one server, which is emptied between them, and each runs in JVMs of its own.
			  What one thread does alone, and 16 with a key each or one for all, is measured by JMH, too.
			- JVMs that share a key work until their compilers rest, eight rounds at most, and are measured then.
			- Whoever holds the lock counts in memory that all JVMs share. A count that is too low is a lock that let two
			  in; ours would end the run with an error.
			- *Server commands* are those that the server counts (`total_commands_processed`): commands inside of scripts, too.
			- *Requests* are how often it read from a client (`total_reads_processed`). Clients that send several commands
			  together, as Lettuce and Redisson do under load, get by with fewer.
			- An operation's *p50* and *p99* count the wait and the way back; those of a *wait* end when the lock is there.
			- *Attempts* ask the server for a lock that the JVM does not have. To pass on one that it has is none.
			- Waiters are threads of one JVM while another JVM holds the lock. They are drained when all of them have had it,
			  counted from just before it is given back.
			- Renewal is measured for the two that renew every lock unasked, with a lease of 30 s: processor time in 10 s,
			  after a minute and a half in which their compilers come to rest.

			""";

	private Setting() {
	}

	static String describe(Jedis server, Options options) {
		String redis = server.info("server")
			.lines()
			.filter((line) -> line.matches("(redis|valkey)_version:.*"))
			.reduce((first, second) -> second)
			.orElse("");
		StringBuilder text = new StringBuilder();
		text.append(String.format(HEAD, LocalDate.now(ZoneOffset.UTC), Runtime.getRuntime().availableProcessors(),
				Runtime.version(), redis.replace(':', ' ').replace("_version", "")));
		if (options.quick()) {
			text.append("**A quick run, for trying it: its figures mean little.**\n\n");
		}
		text.append("| contestant | version | settings |\n|---|---|---|\n");
		for (Contestant contestant : options.contestants()) {
			text.append(String.format("| %s | %s | %s |%n", contestant.label(), contestant.version(),
					contestant.settings()));
		}
		return text.append('\n').toString();
	}

}
