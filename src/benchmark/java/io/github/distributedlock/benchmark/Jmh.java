package io.github.distributedlock.benchmark;

import java.util.Collection;

import org.openjdk.jmh.results.RunResult;
import org.openjdk.jmh.runner.Runner;
import org.openjdk.jmh.runner.RunnerException;
import org.openjdk.jmh.runner.options.ChainedOptionsBuilder;
import org.openjdk.jmh.runner.options.OptionsBuilder;
import org.openjdk.jmh.runner.options.TimeValue;
import org.openjdk.jmh.runner.options.VerboseMode;

/**
 * Runs JMH, each benchmark in a JVM of its own.
 */
final class Jmh {

	private Jmh() {
	}

	static ChainedOptionsBuilder options(Class<?> benchmark, Options options) {
		return new OptionsBuilder().include("\\." + benchmark.getSimpleName() + "\\.")
			.forks(1)
			.warmupIterations(3)
			.measurementIterations(2)
			.warmupTime(TimeValue.milliseconds(options.size(3000, 300)))
			.measurementTime(TimeValue.milliseconds(options.size(800, 300)))
			.jvmArgsAppend("-Xms256m", "-Xmx256m", "-Djmh.ignoreLock=true")
			.shouldFailOnError(true)
			.verbosity(VerboseMode.SILENT);
	}

	static Collection<RunResult> run(ChainedOptionsBuilder options) {
		try {
			return new Runner(options.build()).run();
		}
		catch (RunnerException ex) {
			throw new IllegalStateException(ex);
		}
	}

}
