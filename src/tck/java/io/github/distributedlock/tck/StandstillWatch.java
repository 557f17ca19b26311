package io.github.distributedlock.tck;

import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.lang.reflect.Proxy;
import java.time.Duration;
import java.util.Map;

import io.github.distributedlock.backend.LockBackend;
import io.github.distributedlock.backend.LockFeature;

import static org.junit.jupiter.api.Assumptions.assumeTrue;

/**
 * Carries out the steps of one store, one test after another, and tells whether there was
 * a standstill: the pauses between the ends of two steps are added up as far as they are
 * longer than a test means them to be. Safe for any thread.
 */
final class StandstillWatch {

	/**
	 * The time of a poll, and of the step.
	 */
	private static final long MEANT = Duration.ofMillis(120).toNanos();

	/**
	 * Together with one that is meant, less than the shortest time that counts anywhere.
	 */
	private static final long STANDSTILL = Duration.ofMillis(100).toNanos();

	private final LockBackend backend;

	/**
	 * Methods that a store need not override, with the feature that the engine does
	 * without then.
	 */
	private static final Map<String, LockFeature> OPTIONAL = Map.of("acquireOrRegister", LockFeature.PLACES, "withdraw",
			LockFeature.PLACES, "keepsPlacesOf", LockFeature.PLACES, "forget", LockFeature.GRANTS, "grantsTo",
			LockFeature.GRANTS, "listen", LockFeature.NOTIFICATIONS, "pass", LockFeature.HAND_OVER, "downgrade",
			LockFeature.DOWNGRADE, "inspect", LockFeature.INSPECTION);

	private final LockBackend subject = (LockBackend) Proxy.newProxyInstance(LockBackend.class.getClassLoader(),
			new Class<?>[] { LockBackend.class }, (proxy, step, arguments) -> carryOut(step, arguments));

	private long last = System.nanoTime();

	private long lost;

	StandstillWatch(LockBackend backend) {
		this.backend = backend;
	}

	LockBackend subject() {
		return this.subject;
	}

	private Object carryOut(Method step, Object[] arguments) throws Throwable {
		LockFeature feature = OPTIONAL.get(step.getName());
		assumeTrue(feature == null || this.backend.features().contains(feature),
				() -> "Skipped: the store does not offer " + feature);
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

	private void stepEnds() {
		pauseEnds(MEANT);
	}

	private synchronized void pauseEnds(long meant) {
		long now = System.nanoTime();
		this.lost += Math.max(0, now - this.last - meant);
		this.last = now;
	}

	/**
	 * Returns whether there was a standstill until now.
	 * @param waiting for how long no step was to end until now
	 */
	synchronized boolean stoodStill(Duration waiting) {
		pauseEnds(MEANT + waiting.toNanos());
		return this.lost > STANDSTILL;
	}

	/**
	 * Earlier events do not count.
	 */
	synchronized void begin() {
		this.last = System.nanoTime();
		this.lost = 0;
	}

}
