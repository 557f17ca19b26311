package io.github.distributedlock.test;

import java.util.Collection;
import java.util.List;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.CyclicBarrier;
import java.util.concurrent.Executor;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.ForkJoinPool;
import java.util.concurrent.Future;
import java.util.concurrent.Semaphore;
import java.util.concurrent.locks.Condition;
import java.util.function.Predicate;
import java.util.stream.BaseStream;

import com.tngtech.archunit.base.DescribedPredicate;
import com.tngtech.archunit.core.domain.AccessTarget.CodeUnitAccessTarget;
import com.tngtech.archunit.core.domain.JavaAccess;
import com.tngtech.archunit.core.domain.JavaClasses;
import com.tngtech.archunit.core.importer.ClassFileImporter;
import io.github.distributedlock.DistributedLock;
import org.junit.jupiter.api.Test;

import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.noClasses;

/**
 * What no test does, since it would hang, or fail, on a machine that is busy or small.
 */
class TestRulesTests {

	private static final JavaClasses TESTS = new ClassFileImporter()
		.importUrl(TestRulesTests.class.getProtectionDomain().getCodeSource().getLocation());

	private static final JavaClasses LIBRARY = new ClassFileImporter()
		.importUrl(DistributedLock.class.getProtectionDomain().getCodeSource().getLocation());

	/** What waits for as long as it takes, if no time-out is given. */
	private static final List<Wait> WAITS = List.of(new Wait(Future.class, "get"), new Wait(Future.class, "join"),
			new Wait(Thread.class, "join"), new Wait(Process.class, "waitFor"), new Wait(CountDownLatch.class, "await"),
			new Wait(CyclicBarrier.class, "await"), new Wait(Condition.class, "await"),
			new Wait(Semaphore.class, "acquire"), new Wait(BlockingQueue.class, "take"),
			new Wait(Object.class, "wait"));

	/**
	 * Whose only thread may be blocked by another task: it has as few as the machine has
	 * cores, less one.
	 */
	@Test
	void nothingRunsOnTheCommonPool() {
		for (JavaClasses classes : List.of(TESTS, LIBRARY)) {
			noClasses().should()
				.accessTargetWhere(thatCalls("the common pool", TestRulesTests::isOnCommonPool))
				.because("it may have one thread only: give an executor, in tests OwnThreads")
				.check(classes);
		}
	}

	/**
	 * But for programs, which end with the JVM of their test, and for engine tests, whose
	 * futures end by themselves and whose clock waits as the engine wants it to.
	 */
	@Test
	void everyWaitHasAnEnd() {
		noClasses()
			.that(DescribedPredicate.not(DescribedPredicate.describe("programs or engine tests",
					(type) -> type.getMethods().stream().anyMatch((method) -> method.getName().equals("main"))
							|| type.isAssignableTo("io.github.distributedlock.engine.EngineFixture")
							|| type.getName().equals("io.github.distributedlock.engine.FakeTime"))))
			.should()
			.accessTargetWhere(thatCalls("a wait without an end",
					(target) -> target.getRawParameterTypes().isEmpty()
							&& WAITS.stream().anyMatch((wait) -> wait.is(target))
							|| isCallOf(target, ExecutorService.class, "invokeAll")
									&& target.getRawParameterTypes().size() == 1))
			.because("a test that hangs says nothing: wait with a time-out, as Patience does")
			.check(TESTS);
	}

	private static boolean isOnCommonPool(CodeUnitAccessTarget target) {
		boolean withoutExecutor = target.getRawParameterTypes()
			.stream()
			.noneMatch((type) -> type.isAssignableTo(Executor.class));
		boolean async = target.getName().endsWith("Async") || target.getName().equals("delayedExecutor");
		return async && withoutExecutor && target.getOwner().isAssignableTo(CompletionStage.class)
				|| isCallOf(target, Collection.class, "parallelStream")
				|| isCallOf(target, BaseStream.class, "parallel") || isCallOf(target, ForkJoinPool.class, "commonPool");
	}

	private static boolean isCallOf(CodeUnitAccessTarget target, Class<?> owner, String name) {
		return target.getName().equals(name) && target.getOwner().isAssignableTo(owner);
	}

	private static DescribedPredicate<JavaAccess<?>> thatCalls(String description,
			Predicate<CodeUnitAccessTarget> calls) {
		return DescribedPredicate.describe(description,
				(access) -> access.getTarget() instanceof CodeUnitAccessTarget target && calls.test(target));
	}

	private record Wait(Class<?> owner, String name) {

		boolean is(CodeUnitAccessTarget target) {
			return isCallOf(target, this.owner, this.name);
		}

	}

}
