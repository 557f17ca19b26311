package io.github.distributedlock.backend;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.locks.LockSupport;
import java.util.function.BiFunction;

import io.github.distributedlock.LockBackendException;
import io.github.distributedlock.LockException;
import io.github.distributedlock.LockStatus;

/**
 * A store on top of anything that can read a value, and write the value if nobody has
 * changed the value since: a table, a document store, a coordination service. This class
 * offers all features of locks, and has all rules of who gets a key next. A subclass
 * {@linkplain #read reads}, {@linkplain #write writes if unchanged}, and
 * {@linkplain #send notifies} if the store can.
 * <p>
 * Each step reads the state of a key, decides on the next state, and writes that state;
 * if another step came between, the step begins anew.
 *
 * @since 1.0
 */
public abstract class OptimisticLockBackend implements LockBackend {

	/**
	 * How often a step is tried at most, while other steps change the key between the
	 * read and the write.
	 */
	private static final int MOST_ATTEMPTS = 100;

	/**
	 * The longest first pause after a conflict, in nanoseconds. The pause is random,
	 * since many waiters may have been woken together.
	 */
	private static final long CONFLICT_NANOS = 200_000;

	/**
	 * The features of each store of this kind. A subclass may add more.
	 */
	public static final Set<LockFeature> FEATURES = Set.of(LockFeature.SHARED, LockFeature.PERMITS, LockFeature.FAIR,
			LockFeature.FENCING, LockFeature.INSPECTION, LockFeature.PLACES, LockFeature.HAND_OVER,
			LockFeature.DOWNGRADE);

	private final KeyStep.Settings settings;

	private final Duration reservation;

	/**
	 * Creates a store.
	 * @param reservation how often a waiter asks at least; see {@link #reservation()}
	 * @param silence after how long a waiter that has not asked has died, several times
	 * as long as the reservation; zero if only an instance that {@linkplain #hears does
	 * not hear} counts as dead
	 */
	protected OptimisticLockBackend(Duration reservation, Duration silence) {
		this(reservation, silence, Duration.ZERO);
	}

	/**
	 * Creates a store in which not every question of a waiter is written.
	 * @param reservation how often a waiter asks at least; see {@link #reservation()}
	 * @param silence after how long a waiter that has not asked has died, longer than the
	 * reservation and the pulse together; zero if only an instance that
	 * {@linkplain #hears does not hear} counts as dead
	 * @param pulse for how long a waiter that asks for the same again is not written
	 */
	protected OptimisticLockBackend(Duration reservation, Duration silence, Duration pulse) {
		this.reservation = reservation;
		this.settings = new KeyStep.Settings(KeyStep.micros(reservation), KeyStep.micros(silence),
				KeyStep.micros(pulse), this::hears);
	}

	/**
	 * The result of a read.
	 *
	 * @param state the state of the key, {@link KeyState#FREE} if the store keeps nothing
	 * of the key
	 * @param now the time by the clock of the store, in microseconds since 1970
	 * @param version the version by which {@link #write} knows that nobody has changed
	 * the key since
	 */
	public record Read(KeyState state, long now, Object version) {
	}

	/**
	 * Reads the state of a key.
	 * @param key the user's key
	 * @return the state, the time and the version, as of one moment
	 * @throws IllegalArgumentException if the store holds something that is no
	 * {@linkplain KeyState#of state}
	 */
	protected abstract Read read(String key);

	/**
	 * Writes the new state of a key, unless somebody has changed the key since the read.
	 * @param key the user's key
	 * @param before the result of the read
	 * @param after the state to write
	 * @return {@code false} if the key has changed since, and nothing was written
	 */
	protected abstract boolean write(String key, Read before, KeyState after);

	/**
	 * Notifies an instance: {@linkplain ReleaseListener#onNotification passes} the
	 * notification to the listener of the waiter's or the owner's instance. Called after
	 * the state that the notification tells of was written. Never throws: an instance
	 * that hears nothing asks again. Does nothing unless the store
	 * {@linkplain LockFeature#NOTIFICATIONS notifies}.
	 * @param notification the notification
	 */
	protected void send(ReleaseNotification notification) {
	}

	/**
	 * Returns whether an instance may hear notifications. Does no I/O.
	 * @param instance the instance
	 * @return {@code false} if the instance is known to hear no notifications
	 */
	protected boolean hears(String instance) {
		return true;
	}

	@Override
	public Set<LockFeature> features() {
		return FEATURES;
	}

	@Override
	public Duration reservation() {
		return this.reservation;
	}

	@Override
	public AcquireResult acquire(Claim claim) {
		return step(claim.key(), claim, (step, same) -> step.acquire(same, false));
	}

	@Override
	public AcquireResult acquireOrRegister(Claim claim) {
		return step(claim.key(), claim, (step, same) -> step.acquire(same, true));
	}

	@Override
	public HandOverResult pass(String owner, Claim next, boolean yields) {
		return step(next.key(), next, (step, same) -> step.pass(owner, same, yields));
	}

	@Override
	public boolean release(String key, String owner) {
		return step(key, owner, KeyStep::release);
	}

	@Override
	public boolean leaveToExpire(String key, String owner, Duration rest) {
		return step(key, owner, (step, same) -> step.leaveToExpire(same, rest));
	}

	@Override
	public List<Boolean> renew(List<Renewal> renewals) {
		List<Boolean> owned = new ArrayList<>(renewals.size());
		for (Renewal renewal : renewals) {
			try {
				owned.add(step(renewal.key(), renewal, (step, each) -> step.renew(each.owner(), each.lease())));
			}
			catch (LockBackendException ex) {
				throw owned.isEmpty() ? ex
						: LockBackendException.of(String.valueOf(ex.getMessage()))
							.retryable(ex.isRetryable())
							.cause(ex)
							.build(); // The earlier renewals were carried out.
			}
		}
		return owned;
	}

	@Override
	public boolean downgrade(String key, String owner) {
		return step(key, owner, KeyStep::downgrade);
	}

	@Override
	public void withdraw(String key, Waiter waiter, Set<String> owners) {
		step(key, waiter, (step, same) -> {
			step.withdraw(same, owners);
			return true;
		});
	}

	@Override
	public void forget(Claim claim) {
		step(claim.key(), claim, (step, same) -> {
			step.forget(same);
			return true;
		});
	}

	@Override
	public LockStatus inspect(String key) {
		Read read = readState(key);
		return read.state.describe(key, read.now);
	}

	/**
	 * Creates a step. Models of the protocol override this method to break one rule of
	 * the step.
	 */
	KeyStep begin(String key, KeyState state, KeyStep.Settings settings, long now) {
		return new KeyStep(key, state, settings, now);
	}

	/**
	 * Carries out a step, and repeats the step if another step came between.
	 * @param argument the argument of the step, so that the action need not be an object
	 * of its own
	 */
	private <A, T> T step(String key, A argument, BiFunction<KeyStep, A, T> action) {
		boolean interrupted = false;
		try {
			for (int attempt = 1; attempt <= MOST_ATTEMPTS; attempt++) {
				Read before = readState(key);
				KeyStep step = begin(key, before.state, this.settings, before.now);
				T answer = action.apply(step, argument);
				KeyState after = step.state();
				if (after == before.state || write(key, before, after)) {
					List<ReleaseNotification> notifications = step.notifications();
					if (!notifications.isEmpty()) { // Else not even an iterator is made.
						notifications.forEach(this::send);
					}
					return answer;
				}
				// An interrupted thread would not pause.
				interrupted |= Thread.interrupted();
				LockSupport.parkNanos(ThreadLocalRandom.current().nextLong(attempt * CONFLICT_NANOS));
			}
		}
		finally {
			if (interrupted) {
				Thread.currentThread().interrupt();
			}
		}
		throw LockBackendException
			.of("Lock '" + LockException.printable(key) + "' was changed by others " + MOST_ATTEMPTS
					+ " times between a read and a write")
			.retryable(true)
			.withoutEffect(true)
			.build();
	}

	/**
	 * Reads a key. Fails on a state that cannot be read, since such a state may say that
	 * somebody has the key.
	 */
	private Read readState(String key) {
		try {
			return read(key);
		}
		catch (IllegalArgumentException ex) {
			throw LockBackendException
				.of("What the store keeps of lock '" + LockException.printable(key) + "' cannot be read: "
						+ LockException.printable(String.valueOf(ex.getMessage())))
				.remedy("use the same version of the library everywhere; if the state was changed by hand, delete what"
						+ " is kept of the key when nobody has the lock")
				.withoutEffect(true)
				.cause(ex)
				.build();
		}
	}

}
