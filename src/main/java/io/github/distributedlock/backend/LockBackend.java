package io.github.distributedlock.backend;

import java.time.Duration;
import java.util.List;

import io.github.distributedlock.LockBackendException;
import io.github.distributedlock.LockException;
import io.github.distributedlock.LockMode;

/**
 * A store of locks: each operation is one atomic step on one key.
 * <p>
 * A key is free or has a value with a time to live: an owner token, {@code reserved:}
 * with the instance for which it is kept, or {@code parked:} with the owner that left it
 * to run out. Beside it the store keeps which instances wait for it, oldest first. An
 * instance that has died vanishes from there by itself.
 * <p>
 * Operations are called by many threads, may block for as long as the store's command
 * timeout, and throw {@link LockBackendException} for a store that failed or refused,
 * never for a key that is busy. Unless it says that the step was
 * {@linkplain LockBackendException#isNotCarriedOut() not carried out}, it may have been;
 * the engine finds out. Nothing is retried here.
 */
public interface LockBackend extends AutoCloseable {

	/**
	 * How many keys at most are given to a step of several at once: a step may hold up
	 * the store for as long as it takes.
	 */
	int MOST_AT_ONCE = 200;

	/**
	 * For how long a released key is kept for the instance that was woken.
	 */
	Duration RESERVATION = Duration.ofMillis(500);

	/**
	 * What the value of a reserved key begins with.
	 */
	String RESERVED = "reserved:";

	/**
	 * What the value of a parked key begins with.
	 */
	String PARKED = "parked:";

	/**
	 * Refuses what this store cannot do. Called before anything is sent for a claim that
	 * is shared or fair.
	 * @param key the user's key
	 * @param mode who is to own it together
	 * @param fair whether in strict order of arrival
	 * @throws LockBackendException if this store cannot do it; not retryable, and the
	 * message says what can be done about that
	 */
	default void require(String key, LockMode mode, boolean fair) {
		if (fair || mode != LockMode.EXCLUSIVE) {
			throw LockBackendException
				.of("Lock '" + LockException.printable(key) + "' was requested as " + (fair ? "fair" : mode)
						+ ", which " + getClass().getName() + " does not support")
				.remedy("request it without")
				.notCarriedOut(true)
				.build();
		}
	}

	/**
	 * Makes the claim's owner the owner of a key that is free. The fast path of a request
	 * that does not know of any other; need not recognise a reservation.
	 * @param claim the claim
	 * @return whether it is the owner now
	 */
	Attempt acquire(Claim claim);

	/**
	 * Makes the claim's owner the owner of a key that is free, reserved for its instance,
	 * or its own already, with a full lease, and ends the instance's registration as a
	 * waiter. Otherwise, in the same step, registers the instance as a waiter; one that
	 * is registered keeps its place. Does not register before the instance
	 * {@linkplain #listen listens} for certain, where the store can say so. One that does
	 * not {@linkplain Listening#hears() hear} is not registered at all.
	 * @param claim the claim
	 * @return whether it is the owner now; if not, and if the store knows, also in how
	 * long the key is free unless its lease is renewed: nobody is woken then, so who
	 * waits asks again
	 */
	Attempt acquireOrRegister(Claim claim);

	/**
	 * Passes a key on inside its JVM: what {@link #release} and then
	 * {@link #acquireOrRegister} would do, but another owner of the same instance may get
	 * the key although others wait, if it does not have to yield to them. A store that
	 * can do this in one step does.
	 * @param owner the owner token of who has the key
	 * @param next the claim of who is to have it, exclusive and not fair
	 * @param yields whether waiters of other JVMs come first
	 * @return whether the owner owned the key, and whether the next one does now
	 */
	default Passing pass(String owner, Claim next, boolean yields) {
		boolean owned = release(next.key(), owner);
		return new Passing(owned, acquireOrRegister(next));
	}

	/**
	 * Ends a registration as a waiter. If the key is free or reserved for this waiter,
	 * the wake-up is passed on: the key is reserved for the next waiter, or becomes free.
	 * @param key the user's key
	 * @param waiter who gives up, as it was {@linkplain Claim#waiter() registered}
	 */
	void withdraw(String key, String waiter);

	/**
	 * Renews leases of keys that their owners still own, so that each lasts at least the
	 * claim's lease from now. Never shortens one.
	 * @param claims the claims, all of the same {@linkplain #node(String) node}, at most
	 * {@value #MOST_AT_ONCE}
	 * @return for each claim, in order, whether its owner owns the key
	 */
	List<Boolean> renew(List<Claim> claims);

	/**
	 * Gives a key back. If the owner owns it, or the key is gone, the oldest waiter that
	 * can hear is woken, exactly one, and the key is {@linkplain #RESERVATION reserved}
	 * for it; without waiters the key is free.
	 * @param key the user's key
	 * @param owner the owner token
	 * @return whether the owner owned the key
	 */
	boolean release(String key, String owner);

	/**
	 * Leaves a key to run out under a changed value, so that no late renewal revives it.
	 * @param key the user's key
	 * @param owner the owner token
	 * @param rest for how much longer the key blocks everybody
	 * @return whether the owner owned the key
	 */
	boolean park(String key, String owner, Duration rest);

	/**
	 * Whether several keys can be acquired and given back in one step. If not, that is
	 * done one by one. Does no I/O.
	 * @param keys the user's keys, at most {@value #MOST_AT_ONCE}
	 * @return {@code false} unless said otherwise
	 */
	default boolean isOneStep(List<String> keys) {
		return false;
	}

	/**
	 * Makes the owner of exclusive claims the owner of all their keys, if all are free,
	 * or else of none. As {@link #acquire}, the fast path of a request that does not know
	 * of any other. Called only for keys for which it {@linkplain #isOneStep is} one
	 * step.
	 * @param claims the claims of one owner, neither fair nor fenced
	 * @return whether it is the owner now; {@code false} only if a key is busy
	 * @throws LockBackendException if the store failed. After a refusal that may pass the
	 * keys are asked for one by one.
	 */
	default boolean acquireAll(List<Claim> claims) {
		throw new UnsupportedOperationException();
	}

	/**
	 * Gives several keys back, each as {@link #release} does. Called only for keys for
	 * which it {@linkplain #isOneStep is} one step.
	 * @param keys the user's keys
	 * @param owner the owner token
	 * @return for each key, in order, whether the owner owned it
	 */
	default List<Boolean> releaseAll(List<String> keys, String owner) {
		throw new UnsupportedOperationException();
	}

	/**
	 * Tells a listener of the wake-ups for an instance. Does no I/O before the first
	 * registration.
	 * @param instance the instance
	 * @param listener the listener
	 * @return ends the listening when closed
	 */
	Listening listen(String instance, WakeListener listener);

	/**
	 * The node of the store that answers for a key. Leases are renewed node by node, so
	 * that one that stalls delays only its own.
	 * @param key the user's key
	 * @return an object equal for keys of the same node
	 */
	default Object node(String key) {
		return LockBackend.class;
	}

	/**
	 * Closes the connections of this backend. Owned keys are left as they are.
	 */
	@Override
	void close();

	/**
	 * A listener that is listening.
	 */
	interface Listening extends AutoCloseable {

		/**
		 * Whether wake-ups arrive, as far as it is known after a registration. Who waits
		 * while they do not asks more often. When they arrive again, the listener is
		 * {@linkplain WakeListener#onResubscribed() told}. Does not block.
		 * @return {@code true} if nothing else is known
		 */
		default boolean hears() {
			return true;
		}

		/**
		 * Whether it is certain that wake-ups do not arrive. Nobody is registered then,
		 * so that others have to find a key free. Does not block.
		 * @return {@code false} if nothing else is known
		 */
		default boolean isDeaf() {
			return false;
		}

		/**
		 * Stops listening.
		 */
		@Override
		void close();

	}

}
