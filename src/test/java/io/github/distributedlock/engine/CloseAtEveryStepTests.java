package io.github.distributedlock.engine;

import io.github.distributedlock.backend.LockFeature;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.Semaphore;

import io.github.distributedlock.LockBackendException;
import io.github.distributedlock.LockHandle;
import io.github.distributedlock.LockRequest;
import io.github.distributedlock.backend.AcquireResult;
import io.github.distributedlock.backend.Claim;
import io.github.distributedlock.backend.LockBackend;
import io.github.distributedlock.backend.ReleaseListener;
import io.github.distributedlock.backend.ReleaseNotification;
import io.github.distributedlock.backend.Waiter;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * A request that waits and gives up, while another JVM gives the key back, the message of
 * the grant comes or is lost, and the engine is closed. Each of these happens at any step
 * of the request. A step is each question to the store or the clock.
 * <p>
 * At the end the key is held by the request that was served, or was given back: no key is
 * left to run out if no caller has had it.
 */
class CloseAtEveryStepTests {

	private static final String OTHER = "other:1";

	private static final int NEVER = Integer.MAX_VALUE;

	@ParameterizedTest
	@ValueSource(booleans = { false, true })
	void whatNoCallerHasIsGivenBack(boolean workersAreLate) {
		int steps = new Run(NEVER, NEVER, NEVER, workersAreLate).steps();
		int served = 0;
		int refused = 0;
		// An event at the step after the last one does not happen.
		for (int released = 0; released <= steps; released++) {
			for (int heard = released; heard <= steps; heard++) {
				for (int closed = 0; closed <= steps; closed++) {
					Run run = new Run(released, heard, closed, workersAreLate);
					run.check();
					served += run.isServed() ? 1 : 0;
					refused += run.isServed() ? 0 : 1;
				}
			}
		}
		assertThat(served).as("served").isPositive();
		assertThat(refused).as("refused").isPositive();
	}

	/**
	 * The request, with what happens at which step.
	 */
	private static final class Run {

		private final int released;

		private final int heard;

		private final int closed;

		private final boolean workersAreLate;

		private final Clock clock = new Clock();

		private final OneKey store = new OneKey();

		private final LockEngine engine = new LockEngine(LockEngine.builder(this.store), this.clock, this.clock.workers,
				this.clock::end);

		private final Optional<LockHandle> handle;

		private @Nullable ReleaseNotification message;

		private int steps;

		/** True while the request is under way, so that the steps count. */
		private boolean requesting;

		Run(int released, int heard, int closed, boolean workersAreLate) {
			this.released = released;
			this.heard = heard;
			this.closed = closed;
			this.workersAreLate = workersAreLate;
			this.requesting = true;
			this.handle = request();
			this.requesting = false;
		}

		private Optional<LockHandle> request() {
			try {
				return this.engine.tryAcquire(LockRequest.of("k").waitTime(Duration.ofMillis(100)));
			}
			catch (LockBackendException ex) {
				return Optional.empty(); // The engine is closed.
			}
		}

		int steps() {
			return this.steps;
		}

		boolean isServed() {
			return this.handle.isPresent();
		}

		void check() {
			finishWork();
			if (this.handle.isPresent() && this.handle.get().isHeld()) {
				assertThat(this.store.owner).as("owner, %s", this).isEqualTo(this.handle.get().owner());
			}
			this.engine.close();
			finishWork();
			if (this.handle.isEmpty() || !this.handle.get().owner().equals(this.store.owner)) {
				assertThat(this.store.owner).as("left to run out, %s", this).isIn(OTHER, null);
			}
			this.handle.ifPresent(LockHandle::close);
			finishWork();
			assertThat(this.store.claim).as("registration, %s", this).isNull();
			assertThat(this.engine.hasQueues()).as("queues, %s", this).isFalse();
		}

		private void step() {
			if (!this.requesting) {
				return;
			}
			int step = this.steps++;
			if (step == this.released) {
				this.message = this.store.releasedByOther();
			}
			if (step == this.heard && this.message != null && this.store.listener != null) {
				this.store.listener.onRelease(this.message);
			}
			if (step == this.closed) {
				this.engine.close();
			}
			if (!this.workersAreLate) {
				finishWork();
			}
		}

		private void finishWork() {
			StillTime workers = this.clock.workers;
			while (workers.tasks() > 0 || (workers.firstAlarm() == 0 && !this.clock.ended)) {
				if (workers.tasks() == 0) {
					workers.ring();
				}
				workers.work();
			}
		}

		@Override
		public String toString() {
			return "released at step " + this.released + ", heard at " + this.heard + ", closed at " + this.closed;
		}

		/**
		 * Time that only waiting takes, and takes at once. Nothing rings after the end.
		 */
		private final class Clock implements EngineTime {

			private final StillTime workers = new StillTime();

			private long now;

			private boolean ended;

			@Override
			public long nanoTime() {
				step();
				return this.now;
			}

			@Override
			public long wallNanos() {
				return this.now;
			}

			@Override
			public boolean await(Semaphore signal, long nanos) {
				step();
				boolean signalled = signal.tryAcquire();
				this.now += signalled ? 0 : nanos;
				return signalled;
			}

			@Override
			public Runnable schedule(Runnable task, long delayNanos) {
				step();
				return this.ended ? () -> {
				} : this.workers.schedule(task, delayNanos);
			}

			void end() {
				this.ended = true;
			}

		}

		/**
		 * A store of one key, of which another JVM is the owner to begin with.
		 */
		private final class OneKey implements LockBackend {

			private @Nullable String owner = OTHER;

			/** The claim that is granted next. */
			private @Nullable Claim claim;

			private @Nullable ReleaseListener listener;

			@Nullable ReleaseNotification releasedByOther() {
				Claim next = this.claim;
				this.owner = (next != null) ? next.owner() : null;
				this.claim = null;
				return (next != null) ? ReleaseNotification.granted("k", next.waiter(), next.owner(), next.number())
						: null;
			}

			@Override
			public AcquireResult acquire(Claim claim) {
				step();
				if (this.owner == null) {
					this.owner = claim.owner();
				}
				return answer(claim);
			}

			@Override
			public AcquireResult acquireOrRegister(Claim claim) {
				step();
				if (this.owner == null || claim.replaced().contains(this.owner)) {
					this.owner = claim.owner();
				}
				this.claim = claim.owner().equals(this.owner) ? null : claim;
				return answer(claim);
			}

			private AcquireResult answer(Claim claim) {
				boolean acquired = claim.owner().equals(this.owner);
				step();
				return acquired ? AcquireResult.ACQUIRED : AcquireResult.BUSY;
			}

			@Override
			public boolean release(String key, String owner) {
				boolean owned = owner.equals(this.owner);
				this.owner = owned ? null : this.owner;
				return owned;
			}

			@Override
			public void withdraw(String key, Waiter waiter, Set<String> owners) {
				this.claim = null;
				this.owner = owners.contains(this.owner) ? null : this.owner;
			}

			@Override
			public void forget(Claim claim) {
				Claim next = this.claim;
				this.claim = (next != null && next.owner().equals(claim.owner())) ? null : next;
				release(claim.key(), claim.owner());
			}

			@Override
			public Set<LockFeature> features() {
				return Set.of(LockFeature.PLACES, LockFeature.GRANTS, LockFeature.NOTIFICATIONS);
			}

			@Override
			public Listening listen(String instance, ReleaseListener listener) {
				this.listener = listener;
				return () -> this.listener = null;
			}

			@Override
			public List<Boolean> renew(List<Renewal> renewals) {
				throw new UnsupportedOperationException();
			}

			@Override
			public boolean leaveToExpire(String key, String owner, Duration rest) {
				throw new UnsupportedOperationException();
			}

		}

	}

}
