package io.github.distributedlock.tck;

import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.lang.reflect.Proxy;
import java.time.Duration;

import io.github.distributedlock.backend.LockBackend;

import static org.junit.jupiter.api.Assumptions.assumeTrue;

/**
 * Carries out the steps of one store, one test after another, and tells whether there was
 * a standstill: the pauses between the ends of two steps are added up as far as they are
 * longer than a test means them to be. Safe for any thread.
 */
final class StandstillWatch {

	/**
	 * A poll, and the step itself.
	 */
	private static final long MEANT = Duration.ofMillis(120).toNanos();

	/**
	 * Together with one that is meant, less than the shortest time that counts anywhere.
	 */
	private static final long STANDSTILL = Duration.ofMillis(100).toNanos();

	private final LockBackend backend;

	private final Subject subject = (Subject) Proxy.newProxyInstance(Subject.class.getClassLoader(),
			new Class<?>[] { Subject.class }, (proxy, step, arguments) -> carryOut(step, arguments));

	private long last = System.nanoTime();

	private long lost;

	StandstillWatch(LockBackend backend) {
		this.backend = backend;
	}

	Subject subject() {
		return this.subject;
	}

	private Object carryOut(Method step, Object[] arguments) throws Throwable {
		if (step.getDeclaringClass() == Subject.class) {
			return ((Class<?>) arguments[0]).isInstance(this.backend);
		}
		assumeTrue(step.getDeclaringClass().isInstance(this.backend),
				() -> "Skipped: " + this.backend.getClass().getName() + " does not implement "
						+ step.getDeclaringClass().getSimpleName());
		try {
			return step.invoke(this.backend, arguments);
		}
		catch (InvocationTargetException ex) {
			throw ex.getCause();
		}
		finally {
			stepEnds();
		}
	}

	private synchronized void stepEnds() {
		long now = System.nanoTime();
		this.lost += Math.max(0, now - this.last - MEANT);
		this.last = now;
	}

	/**
	 * Whether there was a standstill until now.
	 */
	boolean stoodStill() {
		stepEnds();
		return this.lost > STANDSTILL;
	}

	/**
	 * What came before does not count.
	 */
	synchronized void begin() {
		this.last = System.nanoTime();
		this.lost = 0;
	}

}
