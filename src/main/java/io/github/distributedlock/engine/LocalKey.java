package io.github.distributedlock.engine;

import java.time.Duration;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.Deque;
import java.util.List;
import java.util.Objects;
import java.util.Set;
import java.util.concurrent.Semaphore;
import java.util.function.BooleanSupplier;
import java.util.function.Consumer;
import java.util.stream.Collectors;
import java.util.stream.Stream;

import io.github.distributedlock.EngineSnapshot;
import io.github.distributedlock.LockBackendException;
import io.github.distributedlock.backend.ReleaseNotification;
import org.jspecify.annotations.Nullable;

/**
 * All that this JVM knows of a key as one waiter of the store: the requests in the order
 * of their arrival, the ownership that is left to a request or stays here, and what the
 * store may have sent or granted unknown to the requests.
 *
 * <pre>
 *          nobody waits, and the key stays or is borrowed
 *   TURN ◄────────────────────────────────────────────► KEPT
 *    ▲ │                        taken over               │
 *    │ │ nobody waits, but the store may know of us      │ released
 *    │ └──────────────► WITHDRAWAL_DUE ──► WITHDRAWS     │
 *    ├────────────────────────┘ taken over    │ answered │
 *    │ the next request waits                 │          │
 *    └────────────────────────────────────────┤          │
 *   GONE ◄────────────────────────────────────┴──────────┘
 * </pre>
 *
 * Invariants: this object's monitor guards all fields, but whoever has the turn marks
 * alone that the key was reclaimed. The fields that are read without the monitor are
 * volatile. No command is sent and no code of a user runs under the monitor. There is a
 * current request exactly in TURN. Requests become current in the order of their arrival,
 * and each gets a nudge if the request had to wait. Only the current request, or a
 * withdrawal, asks the store. GONE is final. The state before GONE has no request, and
 * nothing that the store must be told.
 * <p>
 * An owner to which the store has granted the key, or may yet grant the key, is the owner
 * of the current request, or is held, or is unwanted, so that the next request or
 * withdrawal names that owner; or is left to the sweeper, as are the owners beyond 100
 * whose last command was not answered. An owner that is held is never unwanted, since a
 * command that names an unwanted owner takes the key from that owner. Only the thread of
 * a request decides whether the request accepts a grant or gives up. A wake-up is kept
 * for the current request until the request consumes the wake-up, or a withdrawal passes
 * the wake-up on.
 * <p>
 * A key is left to a request before the request gets its nudge. That key is borrowed only
 * while vacant, and not any more once the request has come for it. A key that stays here
 * may be borrowed again and again.
 */
final class LocalKey {

	/**
	 * How many requests may borrow a key before the request that the key was left to has
	 * woken up. A running thread manages about as many in that time, so that all get the
	 * same number.
	 */
	static final int MOST_LOANS = 16;

	/**
	 * In TURN the current request asks the store or holds the key. In KEPT the key stays
	 * here without a request, is borrowed, or is being released after that. With a
	 * withdrawal, no request waits any more, and the store will be told, or is being
	 * told. In GONE the key is not in the {@link LocalQueue} any more, or never was.
	 */
	private enum Stage {

		TURN, KEPT, WITHDRAWAL_DUE, WITHDRAWS, GONE

	}

	/**
	 * What became of a message of the store: the message was noted; or the owner that was
	 * granted the key does not want the key; or this object has gone, and another one for
	 * the key gets the message.
	 */
	enum Heard {

		NOTED, UNWANTED, GONE

	}

	/**
	 * Knows all keys of this JVM. Called without any monitor.
	 */
	interface Home {

		/**
		 * Returns who decides whether keys stay here.
		 */
		Keeper keeper();

		/**
		 * Takes notice that a key has no request any more: the key has gone, or a
		 * withdrawal is due.
		 */
		void ended(LocalKey key);

	}

	/**
	 * Decides whether keys stay here, and for how long.
	 */
	interface Keeper {

		/**
		 * Returns whether a key may stay that a hold is about to leave.
		 * @param stays whether the key stays here already
		 */
		boolean mayKeep(Ownership ownership, boolean stays);

		/**
		 * Begins the stay of a key with the change that leaves the key vacant. Called
		 * under the monitor of the key.
		 * @param leaves makes the change, and returns whether the change was made
		 * @return {@code null} if the change was not made
		 */
		@Nullable Stay begin(LocalKey key, Ownership ownership, BooleanSupplier leaves);

	}

	/**
	 * The stay of a key.
	 */
	interface Stay {

		/**
		 * Takes notice that a hold has left the key.
		 * @param again whether the key had stayed before
		 */
		void returned(boolean again);

		/**
		 * Takes notice that others have asked for the key.
		 */
		void recalled();

		/**
		 * Takes notice that the stay has ended. Called under the monitor of the key.
		 */
		void left();

		/**
		 * Releases the key in the background, since no request takes the key any more.
		 * Only the first call has an effect, and none after the end of the stay.
		 */
		void end();

	}

	/**
	 * Stands for the waiting requests until there is one, and is never changed.
	 */
	private static final Deque<Entry> NOBODY = new ArrayDeque<>(1);

	private final QueueKey queueKey;

	private final Home home;

	private volatile Stage stage;

	private volatile @Nullable Entry current;

	/**
	 * Requests that wait behind the current one, oldest first.
	 */
	private Deque<Entry> waiting = NOBODY;

	/**
	 * The key that was left to the current request, or that stays here.
	 */
	private volatile @Nullable Ownership left;

	/**
	 * The stay of the key; {@code null} but in KEPT.
	 */
	private volatile @Nullable Stay stay;

	/**
	 * {@code true} once the current request has come for the key that was left to it.
	 */
	private volatile boolean reclaimed;

	/**
	 * How often the key that was left here was lent, more or less: {@link #MOST_LOANS}
	 * times at most, or a few more.
	 */
	private volatile byte loans;

	/**
	 * The owner that has the key, or had the key last.
	 */
	private @Nullable String held;

	/**
	 * {@code true} while a request of this JVM holds the key, or the key stays here.
	 */
	private boolean isHeld;

	/**
	 * Owners of requests that have ended, and owners whose grants were heard of and not
	 * accepted.
	 */
	private Set<String> unwanted = Set.of();

	/**
	 * The grant that was heard of last.
	 */
	private @Nullable ReleaseNotification granted;

	/**
	 * Wake-ups that no request has consumed yet; {@code null} until there is a wake-up,
	 * or a request that waits for one.
	 */
	private @Nullable Semaphore wakeUps;

	/**
	 * The number of wake-ups that no notification of the store has caused.
	 */
	private int nudges;

	/**
	 * {@code true} if the store may know this JVM as a waiter. Set before a registration
	 * is sent, since a registration counts even if no answer comes.
	 */
	private volatile boolean registered;

	/**
	 * The owner whose key others have asked for last; {@code null} if there is none.
	 */
	private @Nullable String recalled;

	/**
	 * The failure that the store answered last; {@code null} if the last answer was none.
	 */
	private @Nullable LockBackendException failure;

	private LocalKey(QueueKey queueKey, Home home, Stage stage) {
		this.queueKey = queueKey;
		this.home = home;
		this.stage = stage;
	}

	/**
	 * Creates a key with a current request, and returns the entry of that request.
	 */
	static Entry first(QueueKey queueKey, Home home, boolean inherits, Wait wait) {
		LocalKey key = new LocalKey(queueKey, home, Stage.TURN);
		Entry entry = key.new Entry(wait, inherits, null, true);
		key.current = entry;
		return entry;
	}

	/**
	 * Creates a key for a message that no request waits for: a withdrawal is due, which
	 * the caller begins.
	 */
	static LocalKey withdrawing(QueueKey queueKey, Home home) {
		return new LocalKey(queueKey, home, Stage.WITHDRAWAL_DUE);
	}

	/**
	 * Creates an entry beside all others, for a request that asks out of turn.
	 */
	static Entry beside(QueueKey queueKey, Home home, Wait wait) {
		return new LocalKey(queueKey, home, Stage.GONE).new Entry(wait, false, null, true);
	}

	QueueKey queueKey() {
		return this.queueKey;
	}

	boolean isGone() {
		return this.stage == Stage.GONE;
	}

	/**
	 * Lets a request in: in the place of a withdrawal that the store has not heard of, to
	 * a key that has stayed here, or behind others.
	 * @return the entry; {@code null} if the request may not wait, or this key has gone
	 */
	@Nullable Entry enter(boolean mayWait, boolean inherits, Wait wait) {
		Entry entry;
		Stay ended;
		synchronized (this) {
			boolean isUnused = this.current == null && !isLent() && this.waiting.isEmpty();
			if (this.stage == Stage.GONE || !(mayWait || isUnused)) {
				return null;
			}
			if (isUnused && mayTakeOver(inherits)) {
				this.registered |= this.stage == Stage.WITHDRAWAL_DUE;
				entry = new Entry(wait, inherits, (this.left != null) ? new Semaphore(0) : null, true);
				turnTo(entry, this.left);
				return entry;
			}
			if (this.waiting == NOBODY) {
				this.waiting = new ArrayDeque<>();
			}
			entry = new Entry(wait, inherits, new Semaphore(0), false);
			this.waiting.add(entry);
			// Nothing after this may lack memory. If a hold has begun to release the key,
			// that hold ends the stay.
			ended = (isUnused && this.left != null && endStay(this.left)) ? this.stay : null;
			entry.followsWithdrawal = isUnused && (ended != null || !isLent());
			if (!mayWait && !entry.followsWithdrawal) {
				this.waiting.remove(entry);
				return null;
			}
		}
		if (ended != null) {
			Failures.orUndo(ended::end, entry::leave); // Or nobody would leave the entry.
		}
		return entry;
	}

	private boolean mayTakeOver(boolean inherits) {
		Ownership kept = this.left;
		return this.stage == Stage.WITHDRAWAL_DUE || (kept != null && (kept.isLost() || (kept.isVacant() && inherits)));
	}

	/**
	 * Ends the turn, the stay or the withdrawal.
	 * @param inherited the key that is left to the next request, or stays; {@code null}
	 * if there is none
	 * @return whether there is no next request
	 */
	private boolean next(@Nullable Ownership inherited) {
		Entry next = this.waiting.poll();
		turnTo(next, inherited);
		if (next != null) {
			next.nudge();
		}
		return next == null;
	}

	/**
	 * Gives the turn to a request. Without a request, an ownership stays here.
	 */
	private void turnTo(@Nullable Entry next, @Nullable Ownership ownership) {
		if (this.stay != null) {
			this.stay.left();
		}
		this.stay = null;
		this.left = ownership;
		this.reclaimed = false;
		this.loans = 0;
		this.current = next;
		boolean isWoken = this.wakeUps != null && this.wakeUps.availablePermits() > this.nudges;
		this.stage = (next != null) ? Stage.TURN
				: (ownership != null) ? Stage.KEPT : (isKnownToStore() || isWoken) ? Stage.WITHDRAWAL_DUE : Stage.GONE;
		this.isHeld = this.stage == Stage.KEPT;
		if (next == null && ownership != null) {
			this.held = ownership.owner();
		}
	}

	private synchronized boolean leave(Entry entry) {
		if (this.current == entry) {
			return next(null);
		}
		this.waiting.remove(entry);
		return false;
	}

	/**
	 * Leaves the key of a hold to a local request, or lets the key stay.
	 * @param from the entry of the hold; {@code null} if the hold has borrowed the key
	 */
	private boolean handOver(@Nullable Entry from, Hold hold) {
		Ownership ownership = hold.ownership();
		boolean keeps = ownership.keepTime() > 0 && this.home.keeper().mayKeep(ownership, from == null);
		boolean done = handOver(from, ownership, keeps, () -> ownership.vacate(hold));
		Stay stay = this.stay;
		if (keeps && stay != null) {
			stay.returned(from == null);
		}
		return done;
	}

	/**
	 * Leaves a key to the next request, lets the key stay, or gives the key back to the
	 * current request, which the key was borrowed from.
	 * @param from the current request; {@code null} if the key was borrowed
	 * @param leaves makes the key vacant, unless the key is lost
	 * @return {@code false} if no request may have the key, and the key does not stay
	 */
	private synchronized boolean handOver(@Nullable Entry from, Ownership ownership, boolean keeps,
			BooleanSupplier leaves) {
		if (from == null && !stays(ownership)) {
			boolean isGivenBack = this.left == ownership && leaves.getAsBoolean();
			if (isGivenBack) {
				leftChanged();
			}
			return isGivenBack;
		}
		Entry next = this.waiting.peek();
		if (this.current != from || !((next != null) ? next.inherits : keeps)) {
			return false;
		}
		if (next == null && this.stage == Stage.KEPT) {
			return leaves.getAsBoolean();
		}
		Stay begun = (next != null) ? null : this.home.keeper().begin(this, ownership, leaves);
		boolean done = (next != null) ? leaves.getAsBoolean() : begun != null;
		if (done) {
			next(ownership);
			this.stay = begun;
		}
		return done;
	}

	/**
	 * Takes notice that something has happened to the key that was left here.
	 */
	private void leftChanged() {
		Entry current = this.current;
		if (this.reclaimed && current != null) {
			current.nudge();
		}
	}

	/**
	 * Borrows the key that was left here, as long as the key is vacant: a few times,
	 * until the current request has come for the key in vain; or again and again, if the
	 * key stays here. Called without the monitor.
	 * @return {@code null} if there is no such key
	 */
	@Nullable Loan borrow() {
		Ownership lendable = this.left;
		if (lendable == null || this.reclaimed || this.loans >= MOST_LOANS || !lendable.isVacant()) {
			return null;
		}
		boolean isKept = this.current == null;
		if (!isKept) {
			this.loans = (byte) (this.loans + 1);
		}
		return new Loan(this, lendable, isKept);
	}

	private boolean isLent() {
		return this.left != null && this.left.isHeld();
	}

	/**
	 * Returns whether the key stays here.
	 */
	boolean isKept() {
		return this.stage == Stage.KEPT;
	}

	/**
	 * Begins to release a key that stays here, so that no request takes the key any more.
	 * @return {@code false} if the key does not stay, or is in use
	 */
	synchronized boolean endStay(Ownership ownership) {
		return stays(ownership) && (ownership.beginRelease() || ownership.isLost());
	}

	private boolean stays(Ownership ownership) {
		return this.stage == Stage.KEPT && this.left == ownership;
	}

	/**
	 * Takes notice that the store has answered the release of a key that was left here,
	 * or that the key is lost.
	 */
	void released(Ownership ownership) {
		tell(leaveStay(ownership));
	}

	private synchronized boolean leaveStay(Ownership ownership) {
		if (stays(ownership)) {
			return next(null);
		}
		leftChanged();
		return false;
	}

	private void tell(boolean ended) {
		if (ended) {
			this.home.ended(this);
		}
	}

	/**
	 * Takes note that others have asked for the key of an owner.
	 * @return whether the key stays here unused, and will be released
	 */
	boolean recall(String owner) {
		Stay stay;
		boolean isUnused;
		synchronized (this) {
			if (!this.isHeld || owner.equals(this.held)) {
				this.recalled = owner;
			}
			stay = owner.equals(this.held) ? this.stay : null;
			isUnused = stay != null && !isLent();
		}
		if (stay != null) {
			stay.recalled();
		}
		return isUnused;
	}

	/**
	 * Returns whether others have asked for the key of an owner.
	 */
	synchronized boolean isRecalled(String owner) {
		return owner.equals(this.recalled);
	}

	/**
	 * Begins the withdrawal, if one is due. A grant that arrives from now on takes
	 * another withdrawal.
	 * @return the owners that do not want the key, to be named; {@code null} if none is
	 * due
	 */
	synchronized @Nullable Set<String> beginWithdrawal() {
		if (this.stage != Stage.WITHDRAWAL_DUE) {
			return null;
		}
		this.stage = Stage.WITHDRAWS;
		this.granted = null;
		return this.unwanted;
	}

	/**
	 * Takes notice that a withdrawal has ended, which has named these owners.
	 */
	void endWithdrawal(Set<String> owners) {
		tell(withdrawn(owners));
	}

	private synchronized boolean withdrawn(Set<String> owners) {
		settled(owners);
		this.registered = false;
		forgetWakeUps();
		return next(null);
	}

	/**
	 * Lets every request here check whether the engine still serves that request.
	 */
	synchronized void nudge() {
		if (!this.isHeld) {
			this.nudges++;
			signal();
		}
		leftChanged();
		this.waiting.forEach(Entry::nudge);
	}

	synchronized Heard wake() {
		if (this.stage == Stage.GONE) {
			return Heard.GONE;
		}
		if (!this.isHeld) {
			signal();
		}
		return Heard.NOTED;
	}

	private void signal() {
		wakeUps().release();
		Entry current = this.current;
		if (current != null) {
			current.wait.wake();
		}
	}

	/**
	 * Returns the wake-ups of the current request, including those that came before the
	 * turn of the request.
	 */
	synchronized Semaphore wakeUps() {
		if (this.wakeUps == null) {
			this.wakeUps = new Semaphore(0);
		}
		return this.wakeUps;
	}

	/**
	 * Forgets the wake-ups that have come until now: one wake-up is as good as many.
	 */
	synchronized void forgetWakeUps() {
		this.nudges = 0;
		if (this.wakeUps != null) {
			this.wakeUps.drainPermits();
		}
	}

	/**
	 * Takes notice that the store has granted the key to an owner.
	 */
	synchronized Heard granted(ReleaseNotification grant, String owner) {
		if (this.stage == Stage.GONE) {
			return Heard.GONE;
		}
		boolean isOfHolder = owner.equals(this.held);
		if (isOfHolder || this.isHeld) {
			return isOfHolder ? Heard.NOTED : Heard.UNWANTED;
		}
		gaveUp(owner);
		this.granted = grant;
		signal();
		return Heard.NOTED;
	}

	/**
	 * Returns the grant that was heard of last. Afterwards that grant no longer counts as
	 * heard.
	 */
	synchronized @Nullable ReleaseNotification takeGrant() {
		ReleaseNotification latest = this.granted;
		this.granted = null;
		return latest;
	}

	/**
	 * Notes an owner that does not want the key any more, but that the store may have
	 * granted the key, or may yet grant the key.
	 */
	synchronized void gaveUp(String owner) {
		this.unwanted = Stream.concat(this.unwanted.stream(), Stream.of(owner)).collect(Collectors.toUnmodifiableSet());
	}

	/**
	 * Returns owners that may have been granted the key, and do not want the key.
	 */
	synchronized Set<String> unwanted() {
		return this.unwanted;
	}

	/**
	 * Returns whether the store may know this JVM as a waiter, or as an owner that does
	 * not want the key.
	 */
	synchronized boolean isKnownToStore() {
		return this.registered || !this.unwanted.isEmpty();
	}

	boolean isRegistered() {
		return this.registered;
	}

	/**
	 * Takes note that a registration is about to be sent.
	 */
	synchronized void register() {
		this.registered = true;
	}

	/**
	 * Takes notice that the store has answered a command of the current request, which
	 * has named these owners.
	 */
	synchronized void answered(Set<String> owners) {
		this.failure = null;
		settled(owners);
	}

	synchronized void failed(@Nullable LockBackendException failure) {
		this.failure = failure;
	}

	/**
	 * Returns the failure of the store's last answer; {@code null} if that answer was no
	 * failure.
	 */
	synchronized @Nullable LockBackendException failure() {
		return this.failure;
	}

	/**
	 * Takes notice that a command was answered which has taken the key from these owners,
	 * if one of them had the key. These owners are not unwanted any more, except an owner
	 * whose grant was heard of meanwhile: that owner may have got the key since.
	 */
	private void settled(Set<String> owners) {
		if (!owners.isEmpty()) {
			String latest = (this.granted != null) ? this.granted.owner() : null;
			this.unwanted = this.unwanted.stream()
				.filter((owner) -> !owners.contains(owner) || owner.equals(latest))
				.collect(Collectors.toUnmodifiableSet());
		}
	}

	private synchronized Set<String> acquired(Entry entry, String owner) {
		if (this.current != entry) {
			return Set.of();
		}
		this.registered = false;
		forgetWakeUps();
		this.granted = null;
		this.held = owner;
		this.isHeld = true;
		if (this.unwanted.isEmpty()) {
			return this.unwanted; // The usual case, in which no set is made.
		}
		settled(Set.of(owner));
		Set<String> rest = this.unwanted;
		this.unwanted = Set.of();
		return rest;
	}

	/**
	 * Returns the owner token of the hold that others queue up behind.
	 */
	synchronized @Nullable String holder() {
		return this.isHeld ? this.held : null;
	}

	/**
	 * Describes the requests that wait here, including a request that asks the store.
	 */
	synchronized EngineSnapshot.Queue describe() {
		List<Entry> all = new ArrayList<>(this.waiting);
		if (this.current != null && !this.isHeld) {
			all.add(this.current);
		}
		Duration longest = all.stream()
			.map((entry) -> entry.wait.waited())
			.max(Comparator.naturalOrder())
			.orElse(Duration.ZERO);
		return new EngineSnapshot.Queue(all.size(), longest);
	}

	/**
	 * One request for the key.
	 *
	 * <pre>
	 * waiting ──► current: asks the store ──► current: holds the key ──► left
	 *    │ gives up      │ gives up                                        ▲
	 *    └───────────────┴─────────────────────────────────────────────────┘
	 * </pre>
	 *
	 * A request that no thread waits for is woken after each nudge of its entry, and
	 * after each wake-up of the key while the entry is current.
	 */
	final class Entry implements Hold.Entry {

		private final Wait wait;

		/**
		 * {@code true} if a key that is handed over may be left to this entry.
		 */
		private final boolean inherits;

		/**
		 * {@code null} if the entry had neither to wait nor to take a key.
		 */
		private final @Nullable Semaphore nudges;

		private final boolean wasFirst;

		/**
		 * Written before others know the entry.
		 */
		private boolean followsWithdrawal;

		private volatile boolean isPoller = true;

		private Entry(Wait wait, boolean inherits, @Nullable Semaphore nudges, boolean wasFirst) {
			this.wait = wait;
			this.inherits = inherits;
			this.nudges = nudges;
			this.wasFirst = wasFirst;
		}

		LocalKey key() {
			return LocalKey.this;
		}

		@Override
		public boolean handOver(Hold hold) {
			return LocalKey.this.handOver(this, hold);
		}

		@Override
		public void leave() {
			tell(LocalKey.this.leave(this));
		}

		/**
		 * Leaves without the lock. A key that was left to the entry is left to the next
		 * one, even if the key is borrowed; without a next one, a borrower keeps the key.
		 * @param unwanted gets the key that was left to the entry, if nobody may have the
		 * key
		 */
		void abandon(Consumer<Ownership> unwanted) {
			Ownership left;
			boolean ended;
			synchronized (LocalKey.this) {
				left = inherited();
				if (left != null && LocalKey.this.handOver(this, left, left.isHeld(), left::isOwned)) {
					left = null;
				}
				ended = LocalKey.this.leave(this);
			}
			try {
				tell(ended);
			}
			finally {
				if (left != null) {
					unwanted.accept(left);
				}
			}
		}

		/**
		 * Takes notice that the request's owner has the key, and holds the key from now
		 * on: wake-ups do not concern the request any more. With that, the store has
		 * forgotten the registration. Does nothing if this entry is not current: the hold
		 * was lost just now, and all that is known concerns the next request.
		 * @return the unwanted owners, which are now the caller's business
		 */
		Set<String> acquired(String owner) {
			return LocalKey.this.acquired(this, owner);
		}

		/**
		 * Returns the key that the entry before has left to this one, or that has stayed
		 * here.
		 */
		@Nullable Ownership inherited() {
			return isCurrent() ? LocalKey.this.left : null;
		}

		/**
		 * Ends the borrowing of the key that was left to this entry, which is current.
		 */
		void reclaim() {
			LocalKey.this.reclaimed = true;
		}

		/**
		 * Lets the request look whether its turn has come.
		 */
		private void nudge() {
			nudges().release();
			this.wait.wake();
		}

		/**
		 * Returns whether this entry was current from the start. The answer does not
		 * change, unlike that of {@link #isCurrent}.
		 */
		boolean wasFirst() {
			return this.wasFirst;
		}

		/**
		 * Returns whether only a withdrawal was ahead of this entry, or the release of a
		 * key that had stayed here: no local request had the key or waited for the key.
		 */
		boolean followsWithdrawal() {
			return this.followsWithdrawal;
		}

		/**
		 * Returns whether the turn of this entry has come. A stop nudges the entry, too,
		 * so that the request notices the stop.
		 */
		boolean isCurrent() {
			return LocalKey.this.current == this;
		}

		/**
		 * Returns the nudges of this entry, one of which comes with the turn.
		 */
		Semaphore nudges() {
			return Objects.requireNonNull(this.nudges, "nudges");
		}

		/**
		 * Returns whether this entry polls the store while waiting.
		 */
		boolean isPoller() {
			return this.isPoller;
		}

		void setPoller(boolean poller) {
			this.isPoller = poller;
		}

	}

	/**
	 * A borrowed key. Either the key was left to the current request, which has not woken
	 * up yet, or the key stays here. The borrower has no entry of its own. The borrower
	 * gives the key back to the request that is current then, or lets the key stay.
	 *
	 * @param isKept whether the key stays here, and no request has come for the key
	 */
	record Loan(LocalKey key, Ownership ownership, boolean isKept) implements Hold.Entry {

		@Override
		public boolean handOver(Hold borrower) {
			return this.key.handOver(null, borrower);
		}

		/**
		 * Called if the key is left to no local request, and does not stay here.
		 */
		@Override
		public void leave() {
			this.key.released(this.ownership);
		}

	}

}
