package io.github.distributedlock.engine;

import java.util.List;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;

import io.github.distributedlock.LockException;
import io.github.distributedlock.engine.lease.Failures;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Warns, once for each name of a request, of one that blocks a thread which must not
 * block, since it serves many: those of Reactor, and of Netty, on which Lettuce runs.
 * Safe for use by many threads.
 */
final class EventLoops {

	private static final Logger logger = LoggerFactory.getLogger(EventLoops.class);

	/**
	 * By name, since their libraries need not be there.
	 */
	private static final Set<String> NON_BLOCKING = Set.of("reactor.core.scheduler.NonBlocking",
			"io.netty.util.concurrent.FastThreadLocalThread");

	private static final ClassValue<Boolean> IS_NON_BLOCKING = new ClassValue<>() {

		@Override
		protected Boolean computeValue(Class<?> type) {
			return isNonBlocking(type);
		}

	};

	private final Set<String> warned = ConcurrentHashMap.newKeySet();

	private static boolean isNonBlocking(Class<?> type) {
		if (NON_BLOCKING.contains(type.getName())) {
			return true;
		}
		for (Class<?> each : type.getInterfaces()) {
			if (isNonBlocking(each)) {
				return true;
			}
		}
		return type.getSuperclass() != null && isNonBlocking(type.getSuperclass());
	}

	/**
	 * The calling thread is going to block.
	 * @param name that of the request
	 * @param keys what it asks for
	 */
	void check(String name, List<String> keys) {
		Thread thread = Thread.currentThread();
		if (IS_NON_BLOCKING.get(thread.getClass()) && this.warned.add(name)) {
			// The lock is yet to be acquired, even if the log throws.
			Failures.run(() -> warn(thread, name, keys), () -> "The warning of a thread that must not block");
		}
	}

	private static void warn(Thread thread, String name, List<String> keys) {
		logger.warn(
				"Lock {} is asked for on thread {}, which serves many and must not block: what else it serves waits as"
						+ " well. Let the annotated method return what is reactive, or use acquireAsync. This is logged"
						+ " once for requests of name '{}'",
				LockException.printable(keys), thread.getName(), name);
	}

}
