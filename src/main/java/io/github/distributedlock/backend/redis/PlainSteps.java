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
import io.github.distributedlock.backend.redis.connection.Command;
import io.github.distributedlock.backend.redis.connection.Command.Verb;
import io.github.distributedlock.backend.redis.connection.KeyNames;
import io.github.distributedlock.backend.redis.connection.Lanes;
import io.github.distributedlock.backend.redis.connection.Link;
import io.github.distributedlock.backend.redis.connection.LockCodec;
import io.github.distributedlock.backend.redis.connection.OwnConnections;
import io.github.distributedlock.backend.redis.connection.RedisFailures;
import io.github.distributedlock.backend.redis.connection.RedisRefusal;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

import org.springframework.dao.TransientDataAccessResourceException;

/**
 * Steps of several plain commands around one that compares and sets. Whatever else other
 * clients do in between, only that one and {@code SET NX} give a lock or take it away.
 * <p>
 * Invariants: a registration is followed by one more attempt to acquire, and a release by
 * one more look for waiters, so that one of the two sees the other. A lock is reserved
 * for a waiter before the waiter is notified, and before it loses its place. Renewals
 * keep the rule of {@link UnansweredRenewals}.
 */
class PlainSteps implements Steps {

	private static final Logger logger = LoggerFactory.getLogger(PlainSteps.class);

	private final CompareAndSet compareAndSet;

	private final Lanes lanes;

	private final KeyNames names;

	private final Duration timeout;

	private final WaitingList waiters;

	private final FencingCounter fencing;

	private final UnansweredRenewals unanswered;

	/**
	 * Creates it.
	 * @param unanswered what all steps on a server have to know of its renewals
	 */
	PlainSteps(CompareAndSet compareAndSet, OwnConnections connections, RedisLockSettings settings,
			UnansweredRenewals unanswered) {
		this.compareAndSet = compareAndSet;
		this.lanes = compareAndSet.lanes(connections);
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

	@Override
	public Lanes lanes() {
		return this.lanes;
	}

	// The comparison comes last, since a transaction does not say why it was aborted.
	// Whatever becomes of it, no key exists afterwards.
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
			// If it is gone by now, that is to be seen at once.
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
			// Of an attempt whose answer got lost. It may have been extended since.
			return renew(link, Renewal.of(claim)) ? AcquireResult.ACQUIRED : result;
		}
		String found = replaceable(claim, holder);
		return (found != null && replace(link, name, found, claim.owner(), claim.lease().toMillis()))
				? AcquireResult.ACQUIRED : result;
	}

	// The value that the claim's owner may replace: a reservation for its waiter, or an
	// owner that scripts granted the lock to and that did not want it.
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

	// A refusal of what comes after the lock was taken must not be taken for a refusal of
	// the lock.
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
		// Scripts of this instance, or of others, may have granted it.
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

	// Readers have a lock that its owner has lost.
	private static boolean unlessShared(Link link, byte[] name, BooleanSupplier step) {
		try {
			return step.getAsBoolean();
		}
		catch (RuntimeException ex) {
			if (!RedisRefusal.WRONGTYPE.isIn(ex)) {
				throw ex;
			}
			Values.holder(link, name); // Fails if it is no lock.
			return false;
		}
	}

	@Override
	public boolean leaveToExpire(Link link, String key, String owner, long parkMillis) {
		this.unanswered.forget(owner);
		byte[] name = this.names.lock(key);
		// It may have been left alone so near to its end, and then runs out too.
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
		boolean answered = true; // What only asks changes nothing later.
		try {
			// In this order: what is its own at last was its own when it had that time.
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
				return false; // It became something else, so it is lost.
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
					+ " distributed-lock.redis.atomicity=best-effort it had less than "
					+ CompareAndSet.BestEffort.MARGIN_MILLIS + " ms to live, which is too little")
			.remedy("choose a longer lease")
			.retryable(true)
			.notCarriedOut(true)
			.build();
	}

	/**
	 * To be called before each command but the first of a step, so that a step does not
	 * take several command timeouts, where each command is slow but not too slow: once
	 * half of a timeout is over, no other is begun.
	 * @param begin when the step began
	 */
	final void requireTime(long begin) {
		long elapsed = System.nanoTime() - begin;
		if (elapsed > this.timeout.toNanos() / 2) {
			// Not what a command without an answer is: nothing is wrong with the
			// connection.
			throw new TransientDataAccessResourceException(
					"the commands before took " + Duration.ofNanos(elapsed).toMillis()
							+ " ms, which leaves too little time for those that a step needs without Lua");
		}
	}

	/**
	 * One lock that is released by plain commands: to the oldest waiter that can hear, or
	 * to none.
	 * <p>
	 * A waiter is only looked at before the lock is reserved for it. So if this ends in
	 * between, for whatever reason, the waiter still waits. If it no longer waits once
	 * the lock is reserved for it, because it has acquired the lock meanwhile or has
	 * given up, it would not use a wake-up, and the lock goes to the next waiter.
	 * <p>
	 * Without an atomic comparison a reservation is not touched again, since its waiter
	 * may be just about to take it. So whether it hears is found out before; and where it
	 * waits no more all the same, the reservation runs out.
	 */
	private final class Release {

		private final Link link;

		private final String key;

		private final byte[] name;

		private final @Nullable String value;

		// What the lock has now, as far as we know; null if it is free.
		private @Nullable String current;

		private boolean owned;

		/**
		 * Begins the release.
		 * @param value what gives the right to do so: the owner, or a reservation;
		 * {@code null} if the lock is free already, and only its waiters are to be
		 * notified
		 */
		Release(Link link, String key, @Nullable String value) {
			this.link = link;
			this.key = key;
			this.name = PlainSteps.this.names.lock(key);
			this.value = value;
			this.current = value;
		}

		/**
		 * Does it.
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
				// It is released, and a waiter that is not woken polls.
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
				// No memory for a reservation, nor for anybody's lock. But to remove one
				// takes none.
				return free();
			}
			setCurrent(reservation);
			boolean woken = PlainSteps.this.waiters.remove(this.link, this.key, waiter)
					&& PlainSteps.this.waiters.wake(this.link, this.key, waiter);
			return woken || !atomic;
		}

		// Not over when it is free: a waiter that registered meanwhile may not have seen
		// that.
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

		// The lock does not have the expected value. If its time was over, it is free.
		// Otherwise another owner has it, or it is still ours but must not be changed so
		// near to its end.
		private boolean recheck() {
			String found = (this.current != null) ? Values.get(this.link, this.name) : "";
			this.owned |= found != null && found.equals(this.value);
			this.current = null;
			return found != null;
		}

	}

}
