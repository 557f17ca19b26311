package io.github.distributedlock.backend;

import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;

import io.github.distributedlock.LockBackendException;
import io.github.distributedlock.LockException;
import io.github.distributedlock.LockMode;
import io.github.distributedlock.LockRequest;
import io.github.distributedlock.LockStatus;

/**
 * A store of locks. Each operation is one atomic step on one key, and compares the owner
 * before it changes anything.
 *
 * <h2>A backend in an afternoon</h2>
 *
 * Four methods are enough. Keep for each key an owner token and the time at which its
 * lease ends, by <b>the store's clock</b>; a key whose time is over is free.
 * <ol>
 * <li>{@link #acquire}: if the key is free or has this owner, the key gets this owner,
 * and a lease that ends no earlier than before.</li>
 * <li>{@link #renew}: where the owner still owns the key, the end of the lease moves to a
 * later time, never to an earlier one.</li>
 * <li>{@link #release}: if the owner owns the key, the key becomes free.</li>
 * <li>{@link #leaveToExpire}: if the owner owns the key, the key stays busy for a given
 * time, and no longer has that owner.</li>
 * </ol>
 * A table with a unique key and conditional updates is enough. The engine adds the rest:
 * waiting by polling, reentrancy, hand-over between the threads of a JVM, the watchdog
 * that renews, retries and clean-up after lost answers, fixed leases, minimum and maximum
 * times, and locks of several keys.
 * <p>
 * A store that can do more overrides more methods, and names these features in
 * {@link #features()}. The engine does without the methods that a store does not
 * override. A backend that wraps another one extends {@link ForwardingLockBackend}, so
 * that no method is forgotten.
 * <p>
 * The contract test in the {@code tck} jar shows whether a backend is right: extend the
 * classes of that test, and say how a backend is made.
 *
 * <h2>Threads and failures</h2>
 *
 * Many threads call the operations. An operation may block for as long as the store's
 * command timeout. An operation throws {@link LockBackendException} if the store failed
 * or refused, never for a key that is busy. Other runtime exceptions count as a failure
 * that may pass. A step that ended with an exception may have been carried out, unless
 * the exception says that the step was {@linkplain LockBackendException#isWithoutEffect()
 * without effect}. The engine finds out, and repeats or undoes the step. A backend
 * retries nothing.
 *
 * @since 1.0
 */
public interface LockBackend extends AutoCloseable {

	/**
	 * Makes the claim's owner the owner of a key that is free, or that this owner has
	 * already: a key counts as acquired if an earlier attempt, whose answer got lost,
	 * acquired the key. The lease then lasts at least the claim's lease from now. The
	 * engine calls this method for the first attempt of most requests, but not of fair
	 * ones, and for every further attempt if the store keeps no
	 * {@linkplain LockFeature#PLACES places}. If the store keeps places, this method need
	 * not recognise a reservation.
	 * @param claim the claim
	 * @return whether the claim's owner is the owner now, and what is known of the owner
	 * otherwise
	 */
	AcquireResult acquire(Claim claim);

	/**
	 * Renews leases of keys that their owners still own, so that each lease lasts at
	 * least as long from now as asked for. Never shortens a lease.
	 * @param renewals the leases to renew, all of the same {@linkplain #node(String)
	 * node}, at most {@link #largestBatch()}
	 * @return for each renewal, in order, whether the owner owns the key
	 */
	List<Boolean> renew(List<Renewal> renewals);

	/**
	 * Releases a key. If the store keeps {@linkplain LockFeature#PLACES places}, and the
	 * owner owns the key or nobody does, the step {@linkplain #reservation() reserves}
	 * the key for the oldest waiter that is alive, and notifies that waiter, or all
	 * readers that are next.
	 * @param key the user's key
	 * @param owner the owner token
	 * @return whether the owner owned the key
	 */
	boolean release(String key, String owner);

	/**
	 * Takes a key from its owner and leaves the key busy for some time, so that no late
	 * renewal revives the lock.
	 * @param key the user's key
	 * @param owner the owner token
	 * @param rest for how much longer the key is busy, in whole milliseconds from 1
	 * @return whether the owner owned the key
	 */
	boolean leaveToExpire(String key, String owner, Duration rest);

	/**
	 * Returns what this store does besides plain exclusive locks. Does no I/O. The answer
	 * is always the same, but {@link LockFeature#NOTIFICATIONS} and
	 * {@link LockFeature#GRANTS} may be missing until the store knows its server: the
	 * engine asks a {@link Listening} and {@link #grantsTo} at the moment of need.
	 * @return the features, by default none
	 */
	default Set<LockFeature> features() {
		return Set.of();
	}

	/**
	 * Returns the shortest lease that this store can keep. The answer is always the same.
	 * Does no I/O.
	 * @return the lease, by default 100 milliseconds
	 */
	default Duration shortestLease() {
		return Duration.ofMillis(100);
	}

	/**
	 * Refuses a key that this store can never keep. Called before each request. Does no
	 * I/O. Refuses no key by default.
	 * @param key the user's key, not empty
	 * @throws IllegalArgumentException if the store cannot keep the key; the message
	 * gives the reason
	 */
	default void checkKey(String key) {
	}

	/**
	 * Returns how many keys one step for several keys gets at most. Such a step may hold
	 * up the store until the step ends. Does no I/O. A store may answer 1 from the time
	 * on when its server refuses such a step.
	 * @return the number, by default 200
	 */
	default int largestBatch() {
		return 200;
	}

	/**
	 * Prepares this store. Each engine calls this method once, before its first request.
	 * Does no I/O that may fail.
	 */
	default void start() {
	}

	/**
	 * Finds out whether the store allows what locks need, before the first lock would
	 * find out. Called when an application starts.
	 * @throws LockBackendException if the store does not allow that; the message gives
	 * the remedy. An exception that is retryable, or whose step may have been carried
	 * out, says that the store could not be asked
	 */
	default void check() {
	}

	/**
	 * Refuses a request that takes a feature which this store does not offer. Called
	 * before anything is sent for such a request, and at start-up for the requests of
	 * annotated methods. A store whose features depend on its server asks the server
	 * here, and remembers the answer.
	 * @param request the request
	 * @throws LockBackendException if the store cannot serve the request; not retryable,
	 * and the message says what can be done about that. A retryable exception says that
	 * the store could not be asked: a request that may wait goes on, and
	 * {@link #acquire(Claim)} refuses what is not possible
	 */
	default void checkSupport(LockRequest request) {
		Set<LockFeature> offered = features();
		for (LockFeature feature : LockFeature.of(request)) {
			if (!offered.contains(feature)) {
				throw LockBackendException
					.of("Lock " + LockException.printable(request.keys()) + " was requested as " + feature.word()
							+ ", which " + getClass().getName() + " does not offer")
					.remedy("request it without")
					.withoutEffect(true)
					.build();
			}
		}
	}

	/**
	 * Makes the claim's owner the owner of a key, with a full lease, and ends the
	 * registration of the claim's waiter, if the key is free, or reserved for the claim's
	 * {@linkplain Claim#waiter() waiter}, or owned by the claim's owner already.
	 * Otherwise, in the same step, registers the waiter. A waiter that is registered
	 * already keeps its place. If the store notifies, and can say whether the instance
	 * {@linkplain #listen listens}, this step registers no waiter before the instance
	 * listens for certain.
	 * <p>
	 * Without being asked, the store removes the places of an instance that has died. A
	 * reservation that nobody takes runs out.
	 * @param claim the claim
	 * @return whether the claim's owner is the owner now; if not, and if the store knows,
	 * also after how long the key is free unless the lease is renewed, and how many
	 * waiters come first. No notification tells of the end of a lease, so the engine asks
	 * again then. Without notifications, the waiter that is next asks more often than
	 * those behind it. By default, the answer of {@link #acquire}
	 */
	default AcquireResult acquireOrRegister(Claim claim) {
		return acquire(claim);
	}

	/**
	 * Ends a registration. If the key is free or reserved for this waiter, or was granted
	 * to one of these owners, the key passes to the next waiter: the key is then reserved
	 * for, or granted to, the next waiter, or becomes free. Does nothing by default, as
	 * fits a store without {@linkplain LockFeature#PLACES places}.
	 * @param key the user's key
	 * @param waiter the waiter, as it was {@linkplain Claim#waiter() registered}
	 * @param owners owner tokens of the same instance, none of which is in use; mostly
	 * empty
	 */
	default void withdraw(String key, Waiter waiter, Set<String> owners) {
	}

	/**
	 * Returns how long a released key is kept for the waiter whose turn has come. A
	 * waiter that hears notifications still polls once in each such time. A waiter that
	 * the key would be granted to polls after a third of the waiter's lease, or after 600
	 * milliseconds if that is less, unless this time is longer.
	 * @return the time, from 20 milliseconds; always the same, by default 500
	 * milliseconds
	 */
	default Duration reservation() {
		return Duration.ofMillis(500);
	}

	/**
	 * Returns whether the store registers the waiters of an instance, other than fair
	 * requests. A store may refuse to register the waiters of an instance that is known
	 * to get no notifications, so that no key is reserved in vain. Then a key that is
	 * released is free for a moment. Does no I/O.
	 * @param instance the instance
	 * @return {@code false} if the store is known not to register them; by default
	 * whether the store keeps {@linkplain LockFeature#PLACES places}
	 */
	default boolean keepsPlacesOf(String instance) {
		return features().contains(LockFeature.PLACES);
	}

	/**
	 * Returns whether the store may grant keys to the claims of an instance, as far as
	 * that is known. Does no I/O. <b>Incubating</b>, as {@link LockFeature#GRANTS} is.
	 * @param instance the instance
	 * @return {@code false} if the store grants this instance nothing, so that the
	 * numbers of its claims are useless; by default whether the store
	 * {@linkplain LockFeature#GRANTS grants}
	 */
	default boolean grantsTo(String instance) {
		return features().contains(LockFeature.GRANTS);
	}

	/**
	 * Returns for how long a key is granted to a claim whose lease is longer. The new
	 * owner has to hear of the grant, and to renew the lease after a third of that time.
	 * A waiter that is paused, or has died, keeps a granted key from others for as long.
	 * <b>Incubating</b>, as {@link LockFeature#GRANTS} is.
	 * @return the time, in whole milliseconds; by default 3 s, longer for a store that is
	 * slower than that
	 */
	default Duration grantLease() {
		return Duration.ofSeconds(3);
	}

	/**
	 * Undoes a claim that may have been carried out: releases the key if the claim's
	 * owner owns the key. A store that {@linkplain LockFeature#GRANTS grants} also ends
	 * the registration of the claim's waiter if no other owner has registered that waiter
	 * since.
	 * @param claim the claim
	 */
	default void forget(Claim claim) {
		release(claim.key(), claim.owner());
	}

	/**
	 * Passes a key on inside its instance. By default, calls {@link #release} and then
	 * {@link #acquireOrRegister}. A store that passes a key on in
	 * {@linkplain LockFeature#HAND_OVER one step} may give the key to the next owner
	 * although others wait, unless the next owner has to yield.
	 * @param owner the token of the present owner
	 * @param next the claim of the next owner, exclusive and not fair
	 * @param yields whether waiters of other instances come first
	 * @return whether the present owner owned the key, and whether the next owner owns
	 * the key now
	 */
	default HandOverResult pass(String owner, Claim next, boolean yields) {
		boolean owned = release(next.key(), owner);
		return HandOverResult.of(owned, acquireOrRegister(next));
	}

	/**
	 * Returns how many keys of a {@linkplain #node(String) node} {@link #releaseAll}
	 * releases in one step.
	 * @return the number, by default 1
	 */
	default int largestRelease() {
		return 1;
	}

	/**
	 * Releases several keys, each as {@link #release} does it, in any order.
	 * @param keys the user's keys, all of the same {@linkplain #node(String) node}, at
	 * most {@link #largestRelease()}
	 * @param owner the owner token
	 * @return for each key, in order, whether the owner owned that key
	 */
	default List<Boolean> releaseAll(List<String> keys, String owner) {
		return keys.stream().map((key) -> release(key, owner)).toList();
	}

	/**
	 * Shares a key with others from now on. The owner keeps the present lease. From then
	 * on, {@code renew}, {@code release} and {@code leaveToExpire} by this owner concern
	 * this owner's share. If the store keeps {@linkplain LockFeature#PLACES places},
	 * readers that wait before the first writer come in and are notified. Changes nothing
	 * if the owner shares the key already. Changes nothing either if the store does not
	 * {@linkplain LockFeature#DOWNGRADE downgrade}: then the key stays exclusive until
	 * the release.
	 * @param key the user's key
	 * @param owner the owner token
	 * @return whether the owner owns the key; by default {@code true}, without asking the
	 * store
	 */
	default boolean downgrade(String key, String owner) {
		return true;
	}

	/**
	 * Passes the notifications for an instance to a listener from now on. If the store
	 * needs a subscription first, notifications begin with the first registration of the
	 * instance, or soon after its first claim with a
	 * {@linkplain Claim#isRecallable(String) recallable} owner. Does no I/O.
	 * @param instance the instance
	 * @param listener the listener
	 * @return an object whose {@code close()} ends the listening; {@link Listening#DEAF}
	 * unless the store {@linkplain LockFeature#NOTIFICATIONS notifies}
	 */
	default Listening listen(String instance, ReleaseListener listener) {
		return Listening.DEAF;
	}

	/**
	 * Reads who has a key, and who waits for the key. Changes nothing.
	 * @param key the user's key
	 * @return the status, as of one moment where the store can do that; not yet
	 * {@linkplain LockStatus#heldHere() held here}
	 * @throws UnsupportedOperationException unless the store offers
	 * {@link LockFeature#INSPECTION}
	 */
	default LockStatus inspect(String key) {
		throw new UnsupportedOperationException(
				getClass().getName() + " cannot name the holders of a lock: it does not offer INSPECTION");
	}

	/**
	 * Returns the node of the store that answers for a key. The engine renews leases node
	 * by node, so that a node that stalls delays only its own leases.
	 * @param key the user's key
	 * @return an object equal for keys of the same node
	 */
	default Object node(String key) {
		return LockBackend.class;
	}

	/**
	 * Describes this store to people, by names and values. Does no I/O: the answer leaves
	 * out what is not known yet.
	 * @return the details, by default {@code type} with the simple name of the class
	 */
	default Map<String, String> details() {
		return Map.of("type", getClass().getSimpleName());
	}

	/**
	 * Closes the connections of this backend. Leaves owned keys as they are. Does nothing
	 * by default.
	 */
	@Override
	default void close() {
	}

	/**
	 * Closes all connections that nobody uses at the moment. Called, for example, before
	 * a snapshot of the process is taken: a process that is resumed has no connections.
	 * The next step opens connections again. The engine calls this method while it serves
	 * no request. Steps may still follow before the engine starts again: a lock that is
	 * still held is renewed and released, and releases and withdrawals that the store has
	 * not answered are repeated until the store answers. Listeners stay, and hear again
	 * from the next registration on.
	 */
	default void disconnect() {
	}

	/**
	 * A request to a store to let a lease last longer.
	 *
	 * @param key the user's key
	 * @param owner the owner token
	 * @param lease for how long the key is claimed at least, in whole milliseconds,
	 * counted by the store from the moment of the renewal
	 * @param mode the mode of the hold: an exclusive owner that has become shared is
	 * renewed as shared, even if the store was not told of the change yet, or could not
	 * be told
	 */
	record Renewal(String key, String owner, Duration lease, LockMode mode) {

		/**
		 * Creates the renewal of the lease that a claim has acquired.
		 * @param claim the claim
		 * @return the renewal, for the claim's lease
		 */
		public static Renewal of(Claim claim) {
			return new Renewal(claim.key(), claim.owner(), claim.lease(), claim.mode());
		}

	}

	/**
	 * The store's answer to a key that was to be {@linkplain LockBackend#pass passed on}.
	 *
	 * @param owned whether the owner that passed the key on had the key
	 * @param next the store's answer to the claim that the key was passed on to
	 */
	record HandOverResult(boolean owned, AcquireResult next) {

		/**
		 * Checks that {@code next} is not {@code null}.
		 */
		public HandOverResult {
			Objects.requireNonNull(next, "next");
		}

		/**
		 * Creates an answer.
		 * @param owned whether the owner that passed the key on had the key
		 * @param next the store's answer to the claim that the key was passed on to
		 * @return the answer
		 */
		public static HandOverResult of(boolean owned, AcquireResult next) {
			return new HandOverResult(owned, next);
		}

	}

	/**
	 * The registration of a listener, which ends with {@link #close()}.
	 */
	interface Listening extends AutoCloseable {

		/**
		 * The registration of a listener that certainly gets no notifications.
		 */
		Listening DEAF = new Listening() {

			@Override
			public boolean hears() {
				return false;
			}

			@Override
			public void close() {
			}

		};

		/**
		 * Returns whether notifications arrive, as far as the store knows after a
		 * registration. While notifications do not arrive, the engine polls more often.
		 * When notifications arrive again, the store
		 * {@linkplain ReleaseListener#onResubscribed() tells} the listener. Does not
		 * block.
		 * @return {@code false} if notifications are known not to arrive; by default
		 * {@code true}
		 */
		default boolean hears() {
			return true;
		}

		/**
		 * Returns whether the store knows if notifications arrive. Does not block.
		 * @return {@code false} until the first registration has found out, if the store
		 * needs a registration for that; by default {@code true}
		 */
		default boolean isKnown() {
			return true;
		}

		/**
		 * Ends the registration of the listener.
		 */
		@Override
		void close();

	}

}
