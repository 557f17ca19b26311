package io.github.distributedlock.backend.redis;

import java.time.Duration;
import java.util.List;
import java.util.Set;
import java.util.function.BooleanSupplier;
import java.util.function.Supplier;
import java.util.stream.Stream;

import io.github.distributedlock.LockBackendException;
import io.github.distributedlock.LockException;
import io.github.distributedlock.backend.AcquireResult;
import io.github.distributedlock.backend.Claim;
import io.github.distributedlock.backend.Holder;
import io.github.distributedlock.backend.LockBackend.HandOverResult;
import io.github.distributedlock.backend.LockBackend.Renewal;
import io.github.distributedlock.backend.Waiter;
import io.github.distributedlock.backend.redis.internal.Command;
import io.github.distributedlock.backend.redis.internal.Command.Verb;
import io.github.distributedlock.backend.redis.internal.Link;
import io.github.distributedlock.backend.redis.internal.OwnConnections;
import io.github.distributedlock.backend.redis.internal.RedisFailures;
import io.github.distributedlock.backend.redis.internal.RedisRefusal;
import io.github.distributedlock.internal.DurationRange;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

import org.springframework.dao.TransientDataAccessResourceException;

/**
 * Steps of several plain commands around one operation that compares and sets. Other
 * clients may send commands in between, but only that operation and {@code SET NX} give a
 * lock or take a lock away.
 * <p>
 * Invariants: a registration is followed by one more attempt to acquire, and a release by
 * one more look for waiters, so that one of the two sees the other. A lock is reserved
 * for a waiter before the waiter is notified, and before the waiter loses its place.
 * Renewals keep the rule of {@link UnansweredRenewals}.
 */
class PlainSteps implements Steps {

	private static final Logger logger = LoggerFactory.getLogger(PlainSteps.class);

	private final CompareAndSet compareAndSet;

	private final KeyNames names;

	private final Duration timeout;

	private final WaitingList waiters;

	private final FencingCounter fencing;

	private final UnansweredRenewals unanswered;

	/**
	 * Creates the steps.
	 * @param unanswered the unanswered renewals, which all steps on a server have to
	 * share
	 */
	PlainSteps(CompareAndSet compareAndSet, OwnConnections connections, RedisLockSettings settings,
			UnansweredRenewals unanswered) {
		this.compareAndSet = compareAndSet;
		this.names = new KeyNames(settings.prefix());
		this.timeout = settings.commandTimeout();
		this.waiters = new WaitingList(connections, settings);
		this.fencing = new FencingCounter(this.names, compareAndSet);
		this.unanswered = unanswered;
	}

	@Override
	public Atomicity atomicity() {
		return this.compareAndSet.atomicity();
	}

	@Override
	public String description() {
		return this.compareAndSet.description();
	}

	// The comparison comes last, since an aborted transaction does not tell the reason.
	// Whatever the comparison does, no key exists afterwards.
	@Override
	public void probe(Link link, String key) {
		for (byte[] name : List.of(this.names.lock(key), this.names.fence(key))) {
			Values.setIfPresent(link, name, "", 1);
			Values.get(link, name);
			Values.timeToLive(link, name);
			link.call(Command.of(Verb.PEXPIRE, name, 1));
			link.call(Command.of(Verb.DEL, name));
			Values.micros(link, name);
		}
		byte[] waiters = this.names.waiters(key);
		link.call(Command.of(Verb.ZADD, waiters, "XX", 1, ""));
		link.call(Command.of(Verb.PEXPIRE, waiters, 1));
		Values.members(link, waiters, 0, 0);
		link.call(Command.of(Verb.ZREM, waiters, ""));
		this.compareAndSet.probe(link, this.names.lock(key));
	}

	@Override
	public AcquireResult acquire(Link link, Claim claim, boolean registers) {
		long begin = System.nanoTime();
		AcquireResult result = take(link, claim, begin);
		if (!result.acquired() && registers) {
			requireTime(begin);
			this.waiters.add(link, claim.key(), claim.waiter());
			requireTime(begin);
			result = take(link, claim, begin);
		}
		if (!result.acquired()) {
			// If the lock is gone by now, the caller is to see that at once.
			requireTime(begin);
			long left = Values.timeToLive(link, this.names.lock(claim.key()));
			return AcquireResult.busy(result.holder(), Values.left(left));
		}
		return afterTake(() -> {
			if (registers) {
				this.waiters.remove(link, claim.key(), claim.waiter());
			}
			return token(link, claim, begin);
		});
	}

	private AcquireResult take(Link link, Claim claim, long begin) {
		Steps.requireScripts(claim.key(), claim.features());
		byte[] name = this.names.lock(claim.key());
		AcquireResult result = Steps.acquireIfFree(link, name, claim, () -> {
			requireTime(begin);
			return true;
		});
		if (result.acquired()) {
			return result;
		}
		requireTime(begin);
		Holder holder = result.holder();
		if (LockCodec.holder(claim.owner()).equals(holder)) {
			// An attempt whose answer got lost has taken the lock. The lease may have
			// been extended since.
			return renew(link, Renewal.of(claim)) ? AcquireResult.ACQUIRED : result;
		}
		String found = replaceable(claim, holder);
		return (found != null && replace(link, name, found, claim.owner(), claim.lease().toMillis()))
				? AcquireResult.ACQUIRED : result;
	}

	// Returns the value that the claim's owner may replace: a reservation for the claim's
	// waiter, or an owner that scripts granted the lock to and that did not accept the
	// grant.
	private static @Nullable String replaceable(Claim claim, @Nullable Holder holder) {
		return Stream.concat(Stream.of(LockCodec.reservedFor(claim.waiter())), claim.replaced().stream())
			.filter((value) -> LockCodec.holder(value).equals(holder))
			.findFirst()
			.orElse(null);
	}

	private AcquireResult token(Link link, Claim claim, long begin) {
		if (!claim.fenced()) {
			return AcquireResult.ACQUIRED;
		}
		requireTime(begin);
		return AcquireResult.fenced(this.fencing.next(link, claim.key()));
	}

	// The lock was taken. A refusal of a later command must not be mistaken for a refusal
	// of the lock.
	private static AcquireResult afterTake(Supplier<AcquireResult> rest) {
		try {
			return rest.get();
		}
		catch (RuntimeException ex) {
			throw RedisFailures.unfinished(ex);
		}
	}

	@Override
	public HandOverResult pass(Link link, String owner, Claim next, boolean yields, boolean registers) {
		Steps.requireScripts(next.key(), next.features());
		this.unanswered.forget(owner);
		if (!yields && replace(link, this.names.lock(next.key()), owner, next.owner(), next.lease().toMillis())) {
			return HandOverResult.of(true, afterTake(() -> token(link, next, System.nanoTime())));
		}
		boolean owned = release(link, next.key(), owner);
		return HandOverResult.of(owned, afterTake(() -> acquire(link, next, registers)));
	}

	@Override
	public boolean release(Link link, String key, String owner) {
		this.unanswered.forget(owner);
		return releaseIf(link, key, owner);
	}

	@Override
	public boolean withdraw(Link link, String key, Waiter waiter, Set<String> owners) {
		this.waiters.remove(link, key, waiter);
		// Scripts of this instance, or of other instances, may have granted the lock to
		// one of these owners.
		owners.forEach((owner) -> releaseIf(link, key, owner));
		Holder holder = Values.holder(link, this.names.lock(key));
		String reservation = LockCodec.reservedFor(waiter);
		return (holder == null || holder.equals(LockCodec.holder(reservation)))
				&& releaseIf(link, key, (holder != null) ? reservation : null);
	}

	private boolean releaseIf(Link link, String key, @Nullable String value) {
		return unlessShared(link, this.names.lock(key), () -> new Release(link, key, value).run());
	}

	private boolean replace(Link link, byte[] name, String owner, String next, long millis) {
		return unlessShared(link, name, () -> this.compareAndSet.replace(link, name, owner, next, millis));
	}

	// If readers share the lock, the owner has lost the lock.
	private static boolean unlessShared(Link link, byte[] name, BooleanSupplier step) {
		try {
			return step.getAsBoolean();
		}
		catch (RuntimeException ex) {
			if (!RedisRefusal.WRONGTYPE.isIn(ex)) {
				throw ex;
			}
			Values.holder(link, name); // Fails if the key holds no lock.
			return false;
		}
	}

	@Override
	public boolean leaveToExpire(Link link, String key, String owner, long parkMillis) {
		this.unanswered.forget(owner);
		byte[] name = this.names.lock(key);
		// A lock so near its end may have been left unchanged, and then runs out, too.
		return unlessShared(link, name,
				() -> this.compareAndSet.replace(link, name, owner, LockCodec.expiring(owner), parkMillis)
						|| owner.equals(Values.get(link, name)));
	}

	@Override
	public List<Boolean> renew(Link link, List<Renewal> renewals) {
		return renewals.stream().map((renewal) -> renew(link, renewal)).toList();
	}

	private boolean renew(Link link, Renewal renewal) {
		String owner = renewal.owner();
		long lease = renewal.lease().toMillis();
		this.unanswered.begin(renewal.key(), owner, lease);
		byte[] name = this.names.lock(renewal.key());
		boolean answered = true; // PTTL and GET change nothing, even if carried out late.
		try {
			// PTTL comes first: a lock that this owner has at the GET was this owner's at
			// the PTTL, too.
			if (Values.timeToLive(link, name) >= lease) {
				return owner.equals(Values.get(link, name));
			}
			answered = false;
			boolean replaced = this.compareAndSet.replace(link, name, owner, owner, lease);
			answered = true;
			if (!replaced && owner.equals(Values.get(link, name))) {
				throw tooShort(renewal.key());
			}
			return replaced;
		}
		catch (RuntimeException ex) {
			RedisRefusal refusal = RedisRefusal.of(ex);
			answered |= refusal != null || ex instanceof LockBackendException;
			if (refusal == RedisRefusal.WRONGTYPE) {
				return false; // The key holds another kind of value, so the lock is lost.
			}
			throw ex;
		}
		finally {
			this.unanswered.end(owner, lease, answered);
		}
	}

	private static LockBackendException tooShort(String key) {
		return LockBackendException
			.of("Lock '" + LockException.printable(key) + "' was not renewed, though its owner still has it. With"
					+ " distributed-lock.redis.atomicity=best-effort it had less than " + Atomicity.MARGIN_MILLIS
					+ " ms to live, which is too little")
			.remedy("choose a longer lease")
			.retryable(true)
			.withoutEffect(true)
			.build();
	}

	/**
	 * Fails if a step has no time left for another command. Called before each command of
	 * a step but the first: once half of a command timeout is over, no further command is
	 * sent. So a step whose commands are slow, but not too slow, does not take several
	 * command timeouts.
	 * @param begin when the step began
	 */
	final void requireTime(long begin) {
		long elapsed = System.nanoTime() - begin;
		if (elapsed > this.timeout.toNanos() / 2) {
			// Unlike a command without an answer, this failure says nothing against the
			// connection.
			throw new TransientDataAccessResourceException(
					"the commands before took " + DurationRange.text(Duration.ofNanos(elapsed))
							+ ", which leaves too little time for those that a step needs without Lua");
		}
	}

	/**
	 * The release of one lock by plain commands: to the oldest waiter that can hear, or
	 * to nobody.
	 * <p>
	 * The release first looks at a waiter, then reserves the lock for that waiter, and
	 * only then removes the waiter's place. So if the release ends in between, for
	 * whatever reason, the waiter still waits. If the waiter has no place any more once
	 * the lock is reserved, because the waiter has acquired the lock meanwhile or has
	 * given up, a wake-up would be in vain, and the lock goes to the next waiter.
	 * <p>
	 * Without an atomic comparison the release does not touch a reservation again, since
	 * the waiter may be about to take the lock. So the release finds out before the
	 * reservation whether the waiter hears. If the waiter waits no more all the same, the
	 * reservation runs out.
	 */
	private final class Release {

		private final Link link;

		private final String key;

		private final byte[] name;

		private final @Nullable String value;

		// The last known value of the lock; null if the lock is free.
		private @Nullable String current;

		private boolean owned;

		/**
		 * Begins the release.
		 * @param value the value that gives the right to release: the owner, or a
		 * reservation; {@code null} if the lock is free already, and only waiters are to
		 * be notified
		 */
		Release(Link link, String key, @Nullable String value) {
			this.link = link;
			this.key = key;
			this.name = PlainSteps.this.names.lock(key);
			this.value = value;
			this.current = value;
		}

		/**
		 * Releases the lock, and wakes the next waiter.
		 * @return whether the lock had that value
		 */
		boolean run() {
			try {
				boolean over = false;
				while (!over) {
					Waiter waiter = PlainSteps.this.waiters.oldest(this.link, this.key);
					over = (waiter != null) ? passTo(waiter) : free();
				}
			}
			catch (RuntimeException ex) {
				if (!this.owned) {
					throw ex;
				}
				// The lock is released, and a waiter that is not woken polls.
				logger.debug("Could not wake the waiters of lock '{}'", LockException.printable(this.key), ex);
			}
			return this.owned;
		}

		private boolean passTo(Waiter waiter) {
			boolean atomic = PlainSteps.this.compareAndSet.atomicity() != Atomicity.BEST_EFFORT;
			if (!atomic && !PlainSteps.this.waiters.hears(this.link, this.key, waiter)) {
				PlainSteps.this.waiters.remove(this.link, this.key, waiter);
				return false;
			}
			String reservation = LockCodec.reservedFor(waiter);
			try {
				if (!PlainSteps.this.compareAndSet.set(this.link, this.name, this.current, reservation,
						WaitingList.RESERVATION_MILLIS)) {
					return recheck();
				}
			}
			catch (RuntimeException ex) {
				if (this.current == null || RedisRefusal.of(ex) != RedisRefusal.OOM) {
					throw ex;
				}
				// The server has no memory for a reservation, nor for anybody's lock. To
				// remove a lock needs no memory.
				return free();
			}
			setCurrent(reservation);
			boolean woken = PlainSteps.this.waiters.remove(this.link, this.key, waiter)
					&& PlainSteps.this.waiters.wake(this.link, this.key, waiter);
			return woken || !atomic;
		}

		// The release is not over when the lock is free: a waiter that registered
		// meanwhile may not have seen that the lock is free.
		private boolean free() {
			if (this.current == null) {
				return true;
			}
			if (!PlainSteps.this.compareAndSet.replace(this.link, this.name, this.current, null, 0)) {
				return recheck();
			}
			setCurrent(null);
			return false;
		}

		private void setCurrent(@Nullable String next) {
			this.owned |= this.current != null && this.current.equals(this.value);
			this.current = next;
		}

		// The lock does not have the expected value. If the time of the lock was over,
		// the lock is free. Otherwise another owner has the lock, or this owner still has
		// the lock but must not change the value so near the end.
		private boolean recheck() {
			String found = (this.current != null) ? Values.get(this.link, this.name) : "";
			this.owned |= found != null && found.equals(this.value);
			this.current = null;
			return found != null;
		}

	}

}
