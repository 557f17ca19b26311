package io.github.distributedlock.backend;

import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Set;

import io.github.distributedlock.LockBackendException;
import io.github.distributedlock.LockException;
import io.github.distributedlock.LockRequest;

/**
 * A store of locks. Each operation is one atomic step on one key, and compares the owner
 * before it changes anything.
 *
 * <h2>A backend in an afternoon</h2>
 *
 * Four methods are enough. Keep for each key an owner token and the time at which its
 * lease ends, by <b>the store's clock</b>; a key whose time is over is free.
 * <ol>
 * <li>{@link #acquire}: if the key is free or has this owner, it gets this owner, and a
 * lease that ends no earlier than before.</li>
 * <li>{@link #renew}: where the owner still owns the key, the end of the lease moves to a
 * later time, never to an earlier one.</li>
 * <li>{@link #release}: if the owner owns the key, it is free.</li>
 * <li>{@link #leaveToExpire}: if the owner owns the key, it stays busy for a given time,
 * and no longer has that owner.</li>
 * </ol>
 * A table with a unique key and conditional updates does. The engine adds the rest:
 * waiting by polling, reentrancy, hand-over between the threads of a JVM, the watchdog
 * that renews, retries and clean-up after lost answers, fixed leases, minimum and maximum
 * times, and locks of several keys.
 * <p>
 * A store that can do more implements more. The engine looks for that once, when it is
 * built. Only {@link Inspectable} is looked for at each
 * {@link io.github.distributedlock.DistributedLock#inspect inspect}, and
 * {@link #features()} at each shared, fair or fenced request:
 * <table>
 * <caption>What a store may add</caption>
 * <tr>
 * <td>{@link ReleaseNotifications}</td>
 * <td>waiters are notified instead of polling</td>
 * </tr>
 * <tr>
 * <td>{@link WaiterQueue}</td>
 * <td>instances take turns, and none is starved that is notified</td>
 * </tr>
 * <tr>
 * <td>{@link GrantingQueue}</td>
 * <td>a waiter gets the key with its notification</td>
 * </tr>
 * <tr>
 * <td>{@link OneStepHandOver}</td>
 * <td>a JVM passes a key to its next thread in one step</td>
 * </tr>
 * <tr>
 * <td>{@link MultiKeyLocks}</td>
 * <td>many keys take one step</td>
 * </tr>
 * <tr>
 * <td>{@link DowngradableLocks}</td>
 * <td>an exclusive owner goes on as one of many that share the key</td>
 * </tr>
 * <tr>
 * <td>{@link Inspectable}</td>
 * <td>users see who holds a key, and who waits for it</td>
 * </tr>
 * <tr>
 * <td>{@link #features()}</td>
 * <td>shared and fair locks, and fencing tokens; without them the engine refuses such
 * requests before it asks for anything</td>
 * </tr>
 * </table>
 * A backend that wraps another one has to implement what that one adds, or the engine
 * does without it.
 * <p>
 * The contract test in the {@code tck} jar shows whether a backend is right: extend its
 * classes, and say how a backend is made.
 *
 * <h2>Threads and failures</h2>
 *
 * Operations are called by many threads, may block for as long as the store's command
 * timeout, and throw {@link LockBackendException} for a store that failed or refused,
 * never for a key that is busy. Other runtime exceptions count as a failure that may
 * pass. Unless an exception says that the step was
 * {@linkplain LockBackendException#isNotCarriedOut() not carried out}, it may have been;
 * the engine finds out, and repeats or undoes it. Nothing is retried here.
 */
public interface LockBackend extends AutoCloseable {

	/**
	 * The most keys that are given to a step of several at once, since such a step may
	 * hold up the store for as long as it takes.
	 */
	int MAX_BATCH_SIZE = 200;

	/**
	 * Makes the claim's owner the owner of a key that is free, or its own already: what
	 * was acquired by an attempt whose answer got lost counts as acquired. The lease then
	 * lasts at least the claim's lease from now. The first question of most requests (not
	 * of fair ones), and every further one if the store has no {@link WaiterQueue}; with
	 * one it need not recognise a reservation.
	 * @param claim the claim
	 * @return whether it is the owner now, and what is known of the one that is
	 */
	AcquireResult acquire(Claim claim);

	/**
	 * Renews leases of keys that their owners still own, so that each lasts at least the
	 * claim's lease from now. Never shortens one. A claim has the mode of the hold: an
	 * exclusive owner that has become shared is renewed as shared, also if the store was
	 * not told of that yet, or could not be.
	 * @param claims the claims, all of the same {@linkplain #node(String) node}, at most
	 * {@value #MAX_BATCH_SIZE}
	 * @return for each claim, in order, whether its owner owns the key
	 */
	List<Boolean> renew(List<Claim> claims);

	/**
	 * Gives a key back. In a {@link WaiterQueue}, if the owner owns it, or the key is
	 * gone, it is {@linkplain WaiterQueue#reservation() reserved} for the oldest waiter
	 * that is alive, and that one, or all readers that are next, are notified.
	 * @param key the user's key
	 * @param owner the owner token
	 * @return whether the owner owned the key
	 */
	boolean release(String key, String owner);

	/**
	 * Takes a key from its owner and leaves it busy for some time, so that no late
	 * renewal revives it.
	 * @param key the user's key
	 * @param owner the owner token
	 * @param rest for how much longer the key is busy, in whole milliseconds from 1
	 * @return whether the owner owned the key
	 */
	boolean leaveToExpire(String key, String owner, Duration rest);

	/**
	 * The kinds of locks that this store offers besides plain exclusive ones. Always the
	 * same; does no I/O.
	 * @return none, unless said otherwise
	 */
	default Set<LockFeature> features() {
		return Set.of();
	}

	/**
	 * Refuses a request that takes a feature which this store does not offer. Called
	 * before anything is sent for such a request, and at start-up for those of annotated
	 * methods. A store whose features depend on its server asks the server here, and
	 * remembers the answer.
	 * @param request the request
	 * @throws LockBackendException if the store cannot serve the request; not retryable,
	 * and the message says what can be done about that. One that is retryable says that
	 * the store could not be asked: a request that may wait goes on, and
	 * {@link #acquire(Claim)} refuses what is not possible
	 */
	default void checkSupport(LockRequest request) {
		Set<LockFeature> offered = features();
		for (LockFeature feature : LockFeature.of(request)) {
			if (!offered.contains(feature)) {
				throw LockBackendException
					.of("Lock " + LockException.printable(request.keys()) + " was requested as " + feature.asked()
							+ ", which " + getClass().getName() + " does not offer")
					.remedy("request it without")
					.notCarriedOut(true)
					.build();
			}
		}
	}

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
	 * What there is to tell of this store to people, by name. Does no I/O: what is not
	 * known yet is left out.
	 * @return the {@code type}: the simple name of the class unless said otherwise
	 */
	default Map<String, String> details() {
		return Map.of("type", getClass().getSimpleName());
	}

	/**
	 * Closes the connections of this backend. Owned keys are left as they are. Nothing is
	 * to be closed unless said otherwise.
	 */
	@Override
	default void close() {
	}

}
