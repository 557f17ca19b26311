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
 * A store that can do more overrides more methods, and names what it does in
 * {@link #features()}. What is not overridden is done without. A backend that wraps
 * another one extends {@link ForwardingLockBackend}, so that nothing is forgotten.
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
 *
 * @since 1.0
 */
public interface LockBackend extends AutoCloseable {

	/**
	 * Makes the claim's owner the owner of a key that is free, or its own already: what
	 * was acquired by an attempt whose answer got lost counts as acquired. The lease then
	 * lasts at least the claim's lease from now. This is the first attempt of most
	 * requests, but not of fair ones. It is every further attempt if the store keeps no
	 * {@linkplain LockFeature#PLACES places}. If the store keeps places, this need not
	 * recognise a reservation.
	 * @param claim the claim
	 * @return whether it is the owner now, and what is known of the one that is
	 */
	AcquireResult acquire(Claim claim);

	/**
	 * Renews leases of keys that their owners still own, so that each lasts at least as
	 * long from now as asked for. Never shortens one.
	 * @param renewals what to renew, all of the same {@linkplain #node(String) node}, at
	 * most {@link #largestBatch()}
	 * @return for each, in order, whether its owner owns the key
	 */
	List<Boolean> renew(List<Renewal> renewals);

	/**
	 * Releases a key. With {@linkplain LockFeature#PLACES places}, if the owner owns it,
	 * or the key is gone, it is {@linkplain #reservation() reserved} for the oldest
	 * waiter that is alive, and that one, or all readers that are next, are notified.
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
	 * What this store does besides plain exclusive locks. Does no I/O. Always the same,
	 * but that {@link LockFeature#NOTIFICATIONS} and {@link LockFeature#GRANTS} may be
	 * missing until the store knows its server: the engine asks a {@link Listening} and
	 * {@link #grantsTo} when it needs to know.
	 * @return nothing, unless said otherwise
	 */
	default Set<LockFeature> features() {
		return Set.of();
	}

	/**
	 * The shortest lease that this store can keep. Always the same; does no I/O.
	 * @return 100 milliseconds unless said otherwise
	 */
	default Duration shortestLease() {
		return Duration.ofMillis(100);
	}

	/**
	 * Refuses a key that this store cannot keep, whatever else is true. Called before
	 * each request; does no I/O. Refuses none unless said otherwise.
	 * @param key the user's key, not empty
	 * @throws IllegalArgumentException if it cannot be kept, with the reason
	 */
	default void checkKey(String key) {
	}

	/**
	 * The most keys that are given to a step of several at once, since such a step may
	 * hold up the store for as long as it takes. Does no I/O. A store may answer 1 from
	 * the time on when its server refuses such a step.
	 * @return 200 unless said otherwise
	 */
	default int largestBatch() {
		return 200;
	}

	/**
	 * Called once by each engine before it uses this store. Does no I/O that may fail.
	 */
	default void start() {
	}

	/**
	 * Finds out whether the store allows what locks need, before the first lock does.
	 * Called when an application starts.
	 * @throws LockBackendException if it does not, with the remedy; one that is retryable
	 * or may have been carried out says that the store could not be asked
	 */
	default void check() {
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
					.of("Lock " + LockException.printable(request.keys()) + " was requested as " + feature.word()
							+ ", which " + getClass().getName() + " does not offer")
					.remedy("request it without")
					.notCarriedOut(true)
					.build();
			}
		}
	}

	/**
	 * Makes the claim's owner the owner of a key that is free, reserved for its
	 * {@linkplain Claim#waiter() waiter}, or its own already, with a full lease, and ends
	 * the registration of its waiter. Otherwise, in the same step, registers the waiter;
	 * one that is registered keeps its place. Does not register before the instance
	 * {@linkplain #listen listens} for certain, if the store notifies and can say so.
	 * <p>
	 * An instance that has died vanishes from the places by itself. A reservation that
	 * nobody takes runs out.
	 * @param claim the claim
	 * @return whether it is the owner now; if not, and if the store knows, also after how
	 * long the key is free unless its lease is renewed: there is no notification then, so
	 * the engine asks again. Unless the store keeps {@linkplain LockFeature#PLACES
	 * places}, this is the answer of {@link #acquire}
	 */
	default AcquireResult acquireOrRegister(Claim claim) {
		return acquire(claim);
	}

	/**
	 * Ends a registration. If the key is free or reserved for this waiter, or was granted
	 * to one of these owners, it passes to the next one: it is reserved for it or granted
	 * to it, or becomes free. Does nothing unless the store keeps
	 * {@linkplain LockFeature#PLACES places}.
	 * @param key the user's key
	 * @param waiter the waiter, as it was {@linkplain Claim#waiter() registered}
	 * @param owners owner tokens of the same instance, none of which is in use; mostly
	 * none
	 */
	default void withdraw(String key, Waiter waiter, Set<String> owners) {
	}

	/**
	 * How long a released key is kept for the waiter whose turn it is. A waiter that
	 * hears notifications polls as often as that all the same. Where the key would be
	 * granted to it instead, it polls after a third of its lease, or after 600
	 * milliseconds if that is less, unless this time is longer.
	 * @return the time, from 20 milliseconds; always the same, 500 milliseconds unless
	 * said otherwise
	 */
	default Duration reservation() {
		return Duration.ofMillis(500);
	}

	/**
	 * Whether the waiters of an instance, but for fair requests, are registered. A store
	 * may refuse that to an instance to which notifications are known not to arrive, so
	 * that no key is reserved in vain. Then a key that is released is free for a moment.
	 * Does no I/O.
	 * @param instance the instance
	 * @return {@code true} unless it is known that they are not; whether the store keeps
	 * {@linkplain LockFeature#PLACES places} unless said otherwise
	 */
	default boolean keepsPlacesOf(String instance) {
		return features().contains(LockFeature.PLACES);
	}

	/**
	 * Whether the claims of an instance may be granted, as far as that is known. Does no
	 * I/O. <b>Incubating</b>, as {@link LockFeature#GRANTS} is.
	 * @param instance the instance
	 * @return {@code false} if they are not, so that numbers are useless; whether the
	 * store {@linkplain LockFeature#GRANTS grants} unless said otherwise
	 */
	default boolean grantsTo(String instance) {
		return features().contains(LockFeature.GRANTS);
	}

	/**
	 * For how long a key is granted whose lease is longer: its owner has to hear of the
	 * grant, and to renew the lease after a third of that time. A waiter that stands
	 * still, or has died, keeps a granted key from others for as long. <b>Incubating</b>,
	 * as {@link LockFeature#GRANTS} is.
	 * @return the time, in whole milliseconds; 3 s unless the store is slower than that
	 */
	default Duration grantLease() {
		return Duration.ofSeconds(3);
	}

	/**
	 * Undoes a claim that may have been carried out: releases the key if the claim's
	 * owner owns it. A store that {@linkplain LockFeature#GRANTS grants} also ends the
	 * registration of the claim's waiter if no other owner has registered since.
	 * @param claim the claim
	 */
	default void forget(Claim claim) {
		release(claim.key(), claim.owner());
	}

	/**
	 * Passes a key on inside its instance: what {@link #release} and then
	 * {@link #acquireOrRegister} do, but a store that does it in
	 * {@linkplain LockFeature#HAND_OVER one step} may give the key to the next owner
	 * although others wait, if it does not have to yield to them.
	 * @param owner the token of the owner so far
	 * @param next the claim of the next owner, exclusive and not fair
	 * @param yields whether waiters of other instances come first
	 * @return whether the owner owned the key, and whether the next one does now
	 */
	default HandOverResult pass(String owner, Claim next, boolean yields) {
		boolean owned = release(next.key(), owner);
		return HandOverResult.of(owned, acquireOrRegister(next));
	}

	/**
	 * How many keys of a {@linkplain #node(String) node} {@link #releaseAll} releases in
	 * one step.
	 * @return the number, 1 unless said otherwise
	 */
	default int largestRelease() {
		return 1;
	}

	/**
	 * Releases several keys, each as {@link #release} does it, in any order.
	 * @param keys the user's keys, all of the same {@linkplain #node(String) node}, at
	 * most {@link #largestRelease()}
	 * @param owner the owner token
	 * @return for each key, in order, whether the owner owned it
	 */
	default List<Boolean> releaseAll(List<String> keys, String owner) {
		return keys.stream().map((key) -> release(key, owner)).toList();
	}

	/**
	 * Shares a key with others from now on. Its owner keeps its lease as it is, and
	 * whatever concerns the owner from then on concerns its share: {@code renew},
	 * {@code release} and {@code leaveToExpire}. With {@linkplain LockFeature#PLACES
	 * places}, readers that wait before the first writer come in and are notified.
	 * Changes nothing if the owner shares the key already, or if the store does not
	 * {@linkplain LockFeature#DOWNGRADE downgrade}: then the key stays exclusive until it
	 * is released.
	 * @param key the user's key
	 * @param owner the owner token
	 * @return whether the owner owns the key, as far as the store was asked
	 */
	default boolean downgrade(String key, String owner) {
		return true;
	}

	/**
	 * Passes the notifications for an instance to a listener, from now on or, if that
	 * takes a subscription, from the first registration of the instance on, or soon after
	 * its first claim with a {@linkplain Claim#isRecallable(String) recallable} owner.
	 * Does no I/O.
	 * @param instance the instance
	 * @param listener the listener
	 * @return ends the listening when closed; {@link Listening#DEAF} unless the store
	 * {@linkplain LockFeature#NOTIFICATIONS notifies}
	 */
	default Listening listen(String instance, ReleaseListener listener) {
		return Listening.DEAF;
	}

	/**
	 * Reads who has a key, and who waits for it. Changes nothing.
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

	/**
	 * Closes all connections that nobody uses at the moment, as before a snapshot of the
	 * process is taken: a process that is resumed has no connections. The next step opens
	 * them again. Called while no request is served, yet a step may follow before the
	 * engine starts again: a lock that is still held is renewed and released, and what
	 * the store has not answered is released or withdrawn again until it answers.
	 * Listeners stay, and hear again at the next registration.
	 */
	default void disconnect() {
	}

	/**
	 * A lease that is to last longer.
	 *
	 * @param key the user's key
	 * @param owner the owner token
	 * @param lease for how long at least, counted by the store from the moment at which
	 * it carries the renewal out; whole milliseconds
	 * @param mode that of the hold: an exclusive owner that has become shared is renewed
	 * as shared, also if the store was not told of that yet, or could not be
	 */
	record Renewal(String key, String owner, Duration lease, LockMode mode) {

		/**
		 * Renews what a claim has acquired.
		 * @param claim the claim
		 * @return its renewal, for the same lease
		 */
		public static Renewal of(Claim claim) {
			return new Renewal(claim.key(), claim.owner(), claim.lease(), claim.mode());
		}

	}

	/**
	 * The store's answer to a key that was to be {@linkplain LockBackend#pass passed on}.
	 *
	 * @param owned whether the owner that passed the key on had it
	 * @param next the store's answer to the claim that it was passed on to
	 */
	record HandOverResult(boolean owned, AcquireResult next) {

		/**
		 * Checks what must be there.
		 */
		public HandOverResult {
			Objects.requireNonNull(next, "next");
		}

		/**
		 * Says what has become of both.
		 * @param owned whether the owner that passed the key on had it
		 * @param next what has become of the claim that it was passed on to
		 * @return the answer
		 */
		public static HandOverResult of(boolean owned, AcquireResult next) {
			return new HandOverResult(owned, next);
		}

	}

	/**
	 * A listener that is listening.
	 */
	interface Listening extends AutoCloseable {

		/**
		 * Where no notifications arrive, for certain.
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
		 * Whether notifications arrive, as far as it is known after a registration. While
		 * they do not, the engine polls more often. When they arrive again, the listener
		 * {@linkplain ReleaseListener#onResubscribed() learns it}. Does not block.
		 * @return {@code true} if nothing else is known
		 */
		default boolean hears() {
			return true;
		}

		/**
		 * Whether it is known if notifications arrive. Does not block.
		 * @return {@code false} until the first registration has found out, where it
		 * takes one
		 */
		default boolean isKnown() {
			return true;
		}

		/**
		 * Stops listening.
		 */
		@Override
		void close();

	}

}
