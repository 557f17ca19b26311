package io.github.distributedlock.benchmark;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;

import io.github.distributedlock.test.RedisServers;
import redis.clients.jedis.Jedis;

/**
 * Measures this library and its peers in one run, and writes what came out.
 *
 * <pre>
 * ./mvnw -q -Pbenchmark spring-boot:test-run
 * </pre>
 *
 * {@code -Dbenchmark.quick=true} takes a minute or two and writes below {@code target};
 * {@code -Dbenchmark.cases=threads,jvms} and
 * {@code -Dbenchmark.contestants=ours,redisson} select;
 * {@code -Dlock.redis.servers=NAME=EXECUTABLE} measures on the first of those servers.
 */
public final class Benchmarks {

	private static final List<Case> CASES = List.of(new OwnKeysCase(), new OneKeyCase(), new ThreadsCase(),
			new JvmsCase(), new WaitersCase(), new RenewalCase(), new AnnotatedCase());

	private Benchmarks() {
	}

	public static void main(String[] args) throws IOException {
		Options options = new Options();
		Results results = new Results();
		Path directory = Files.createTempDirectory("benchmark");
		String name = RedisServers.names().reduce((first, second) -> second).orElseThrow();
		try (RedisServers.Server server = RedisServers.start(name); Jedis admin = server.admin()) {
			Bench bench = new Bench(options, name, server, admin, directory, results);
			for (Case each : CASES) {
				if (options.selects(each.name())) {
					long begin = System.nanoTime();
					each.run(bench);
					System.out.printf("%s took %d s%n", each.name(), (System.nanoTime() - begin) / 1_000_000_000);
				}
			}
			new Report(results, Setting.describe(admin, options)).write(options.output());
		}
		System.exit(0);
	}

}
