package io.github.distributedlock.engine;

import org.jetbrains.lincheck.datastructures.ManagedStrategyGuaranteeKt;
import org.jetbrains.lincheck.datastructures.ModelCheckingOptions;

/**
 * How Lincheck explores what several threads may do: it makes up scenarios of a class's
 * operations, and for each tries the interleavings of its threads one by one.
 * {@code -Dlock.lincheck.iterations=1000} tries more scenarios.
 */
final class Interleavings {

	private static final int ITERATIONS = Integer.getInteger("lock.lincheck.iterations", 5);

	/**
	 * What happens inside of these is the JDK's business, but not in what they call.
	 */
	private static final String[] ATOMIC = { "java.util.concurrent.ConcurrentLinkedQueue",
			"java.util.concurrent.CopyOnWriteArrayList", "java.util.ArrayList", "java.util.HashMap" };

	private Interleavings() {
	}

	static ModelCheckingOptions of(int threads, int operations) {
		return new ModelCheckingOptions().iterations(ITERATIONS)
			.invocationsPerIteration(100)
			.threads(threads)
			.actorsPerThread(operations)
			.actorsBefore(0)
			.actorsAfter(0)
			.addGuarantee(ManagedStrategyGuaranteeKt.forClasses(ATOMIC)
				.methods((method) -> !method.equals("forEach"))
				.treatAsAtomic());
	}

	/**
	 * Fails an interleaving. AssertJ cannot be watched by Lincheck, which compares all
	 * objects that it sees.
	 */
	static void require(boolean condition, String otherwise) {
		if (!condition) {
			throw new IllegalStateException(otherwise);
		}
	}

}
