package io.github.distributedlock.benchmark;

import java.time.LocalDate;
import java.time.ZoneOffset;
import java.util.Map;

/**
 * The subject and the machine of the measurement.
 */
final class Setting {

	private static final String HEAD = """
			# Performance

			Written by `./mvnw -q -Pbenchmark%s` on %s: %d processors, JDK %s, %s on loopback.
			Absolute figures do not travel; ratios within a run do. The values are in [results.csv](results.csv).

			- An operation is a lock and an unlock. Every figure is the median of its rounds.
			- All contestants take turns on one server, and each runs in JVMs of its own. Between them Redis is emptied, and
			  PostgreSQL, with `fsync` on, vacuums and takes a checkpoint. MariaDB writes its log at each commit.
			  What one thread does alone, and 16 with a key each or one for all, is measured by JMH, too.
			- JVMs that share a key work until their compilers rest, eight rounds at most, and are measured then.
			- On Redis, a JVM of ours that waits publishes a message to itself each second, to notice that nothing reaches it. A
			  hand-over first asks whether the next JVM listens. Both are among the requests and commands of ours.
			- The holder of a lock adds one to a count in memory that all JVMs share. A count that is too low shows that a lock
			  let two in. With ours, the run would end with an error.
			- *Server commands* are those that the server counts (`total_commands_processed`): commands inside of scripts, too.
			- *Requests* are how often the server read from a client (`total_reads_processed`). Clients that send several commands
			  together, as Lettuce and Redisson do under load, get by with fewer. A statement of a database
			  (`pg_stat_statements`, `Questions`) counts as a command and as a request, a COMMIT of its own, too.
			- An operation's *p50* and *p99* count the wait and the way back; those of a *wait* end when the lock is there.
			- *Attempts* ask the server for a lock that the JVM does not have. Passing on a lock that it has is none.
			- Waiters are threads of one JVM while another JVM holds the lock. They are drained when all of them have had the
			  lock, counted from just before the other JVM releases it.
			- Renewal is measured for ours and Redisson, with a lease of 30 s: processor time in 10 s, after a minute and a half
			  in which their compilers come to rest. Lock4j, whose annotation renews by default, too, is not measured.

			""";

	private static final Map<String, String> COMMANDS = Map.of("redis", " spring-boot:test-run", "postgresql",
			" spring-boot:test-run -Dbenchmark.store=postgresql", "mariadb",
			",thorough spring-boot:test-run -Dbenchmark.store=mariadb");

	private Setting() {
	}

	static String describe(Store store, Options options) {
		StringBuilder text = new StringBuilder();
		text.append(String.format(HEAD, COMMANDS.get(options.store()), LocalDate.now(ZoneOffset.UTC),
				Runtime.getRuntime().availableProcessors(), Runtime.version(), store.version()));
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
