package io.github.distributedlock.benchmark;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;

/**
 * Measures this library and peers in one run, and writes the results.
 *
 * <pre>
 * ./mvnw -q -Pbenchmark spring-boot:test-run
 * </pre>
 *
 * {@code -Dbenchmark.quick=true} takes a minute or two and writes below {@code target};
 * {@code -Dbenchmark.cases=threads,jvms} and
 * {@code -Dbenchmark.contestants=ours,redisson} select;
 * {@code -Dbenchmark.store=postgresql} and {@code =mariadb} measure those that have their
 * locks in a table; {@code -Dlock.redis.servers=NAME=EXECUTABLE} measures on the first of
 * those servers.
 */
public final class Benchmarks {

	private static final List<Case> CASES = List.of(Case.OWN_KEYS, Case.ONE_KEY,
			new Case("threads", new ThreadsCase()::run), new Case("threads-own-keys", new ThreadsOwnKeysCase()::run),
			new Case("jvms", new JvmsCase()::run), new Case("permits", new PermitsCase()::run), Case.WAITERS,
			new Case("renewal", new RenewalCase()::run), new Case("annotated", new AnnotatedCase()::run));

	private static final List<Case> CASES_ON_DATABASES = List.of(Case.OWN_KEYS, Case.ONE_KEY,
			new Case("jvms-of-one", new JvmsOfOneThread()::run), Case.WAITERS);

	private Benchmarks() {
	}

	public static void main(String[] args) throws IOException {
		Options options = new Options();
		Results results = new Results();
		List<String> failed = new ArrayList<>();
		try (Store store = options.startStore()) {
			Path parent = Files.createDirectories(Path.of("target", "benchmark"));
			Bench bench = new Bench(options, store, Files.createTempDirectory(parent, "boards"), results);
			(options.onDatabase() ? CASES_ON_DATABASES : CASES).stream()
				.filter((each) -> options.selects(each.name()))
				.forEach((each) -> run(each, bench, failed));
			new Report(results, Setting.describe(store, options), options.store()).write(options.output());
		}
		failed.forEach((message) -> System.err.println("FAILED: " + message));
		System.exit(failed.isEmpty() ? 0 : 1);
	}

	// A case that fails leaves the results of the others.
	private static void run(Case each, Bench bench, List<String> failed) {
		long begin = System.nanoTime();
		try {
			each.way().accept(bench);
		}
		catch (RuntimeException | AssertionError ex) {
			ex.printStackTrace();
			failed.add(each.name() + ": " + ex.getMessage());
		}
		System.out.printf("%s took %d s%n", each.name(), TimeUnit.NANOSECONDS.toSeconds(System.nanoTime() - begin));
	}

}
