package io.github.distributedlock.aop;

import java.lang.reflect.Method;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.stream.Stream;

import io.github.distributedlock.LockBackendException;
import io.github.distributedlock.reactive.ReactiveType;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The runs of scheduled methods that did not take place because the store could not be
 * asked for their locks. Spring's scheduler would log each with a stack trace of some 75
 * lines, and there is no other caller: one line says as much, and another one when the
 * store answers again.
 * <p>
 * Safe for use by many threads. While nothing is missed, a call costs one look at an
 * empty map.
 */
final class MissedRuns {

	private static final Logger logger = LoggerFactory.getLogger(LockInterceptor.class);

	/**
	 * What calls a scheduled method, or subscribes to its result.
	 */
	private static final Set<String> SCHEDULERS = Set.of(
			"org.springframework.scheduling.support.ScheduledMethodRunnable",
			"org.springframework.scheduling.annotation.ScheduledAnnotationReactiveSupport",
			"org.springframework.scheduling.annotation.ScheduledAnnotationReactiveSupport$SubscribingRunnable");

	private final Map<Method, Integer> missed = new ConcurrentHashMap<>();

	/**
	 * Takes note of a run that fails for a store that may be back later, or for a stop.
	 * To be asked only if the {@linkplain #isScheduled scheduler} itself has called the
	 * method, and no caller would hear of it.
	 * @return whether to end the run without an exception
	 */
	boolean add(LockDefinition definition, LockBackendException failure) {
		if (!(failure.isRetryable() || failure.isStopped()) || !mayHaveNoValue(definition)) {
			return false;
		}
		this.missed.merge(definition.annotated().method(), 1, Integer::sum);
		logger.error("Scheduled method {} did not run: {}", definition.annotated().shortName(), failure.getMessage());
		logger.debug("Why {} did not run", definition.annotated().shortName(), failure);
		return true;
	}

	private static boolean mayHaveNoValue(LockDefinition definition) {
		ReactiveType reactive = definition.reactive();
		Class<?> result = definition.annotated().resultType();
		return (reactive != null) ? reactive.supportsEmpty() : !result.isPrimitive() || result == void.class;
	}

	/**
	 * Takes note that a run has its lock. Busy is not enough: another thread of this JVM
	 * may be asking the store in vain.
	 */
	void end(LockDefinition definition) {
		if (!this.missed.isEmpty()) {
			Integer runs = this.missed.remove(definition.annotated().method());
			if (runs != null) {
				logger.info("The lock of scheduled method {} can be asked for again, after {} missed runs",
						definition.annotated().shortName(), runs);
			}
		}
	}

	/**
	 * Whether nothing but proxies and their advice is between here and the scheduler. A
	 * caller in between would take a result for the method's own.
	 */
	static boolean isScheduled() {
		return StackWalker.getInstance()
			.walk((frames) -> frames.map(StackWalker.StackFrame::getClassName)
				.dropWhile(MissedRuns::isOfProxies)
				.findFirst())
			.filter(SCHEDULERS::contains)
			.isPresent();
	}

	private static boolean isOfProxies(String className) {
		return className.contains("$$SpringCGLIB$$") || (!SCHEDULERS.contains(className) && Stream
			.of("io.github.distributedlock.aop.", "org.springframework.", "java.", "jdk.", "sun.",
					"io.micrometer.observation.", "reactor.", "kotlin.", "kotlinx.coroutines.")
			.anyMatch(className::startsWith));
	}

}
