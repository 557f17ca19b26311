package io.github.distributedlock.internal.observability;

import java.util.Locale;

import io.github.distributedlock.LockRequest;
import io.github.distributedlock.WaitObserver;
import io.github.distributedlock.internal.Requests;
import io.micrometer.observation.Observation;
import io.micrometer.observation.ObservationRegistry;
import org.jspecify.annotations.Nullable;

/**
 * Observations of waits, {@code distributed.lock.wait}: each lasts from the request for a
 * lock to its outcome. An observation is a child of the observation that is current on
 * the thread that asks, also if no thread waits; the observation itself is never current.
 * <ul>
 * <li>Low cardinality: {@code name} and {@code mode} of the request, and {@code outcome}:
 * {@code acquired}, {@code busy} or {@code failed}.</li>
 * <li>High cardinality: {@code key}, several of them joined by commas and cut after 250
 * characters; and {@code holder}, the owner token of the holder that was waited for last,
 * or for which a key was busy, where that holder is known.</li>
 * </ul>
 * A registry that is a no-op costs no objects, and a registry that has observations of
 * this name switched off costs a context. Safe for use by many threads.
 */
final class LockObservations implements WaitObserver {

	private static final String NAME = "distributed.lock.wait";

	private final ObservationRegistry registry;

	/**
	 * Creates the observer.
	 * @param registry is told of the observations
	 */
	LockObservations(ObservationRegistry registry) {
		this.registry = registry;
	}

	@Override
	public @Nullable Observed begins(LockRequest request) {
		if (this.registry.isNoop()) {
			return null;
		}
		Observation observation = Observation.createNotStarted(NAME, Observation.Context::new, this.registry);
		if (observation.isNoop()) {
			return null;
		}
		observation.contextualName("lock " + request.name())
			.lowCardinalityKeyValue("name", request.name())
			.lowCardinalityKeyValue("mode", request.mode().name().toLowerCase(Locale.ROOT))
			.highCardinalityKeyValue("key", Requests.shownKeys(request));
		try {
			observation.start();
		}
		catch (Throwable ex) {
			// Some handlers have begun, which would wait for ever.
			observation.lowCardinalityKeyValue("outcome", "failed").stop();
			throw ex;
		}
		return new ObservedWait(observation);
	}

	private record ObservedWait(Observation observation) implements Observed {

		@Override
		public void acquired(@Nullable String holder) {
			end("acquired", holder);
		}

		@Override
		public void busy(@Nullable String holder) {
			end("busy", holder);
		}

		@Override
		public void failed(Throwable failure) {
			try {
				this.observation.error(failure);
			}
			finally {
				end("failed", null);
			}
		}

		private void end(String outcome, @Nullable String holder) {
			if (holder != null) {
				this.observation.highCardinalityKeyValue("holder", holder);
			}
			this.observation.lowCardinalityKeyValue("outcome", outcome).stop();
		}

	}

}
