package io.github.distributedlock.backend.redis.atomic;

import java.time.Duration;
import java.util.List;
import java.util.Set;
import java.util.function.BooleanSupplier;
import java.util.function.Supplier;

import io.github.distributedlock.LockStatus;
import io.github.distributedlock.backend.AcquireResult;
import io.github.distributedlock.backend.Claim;
import io.github.distributedlock.backend.HandOverResult;
import io.github.distributedlock.backend.Holder;
import io.github.distributedlock.backend.Waiter;
import io.github.distributedlock.backend.redis.wire.Command;
import io.github.distributedlock.backend.redis.wire.Command.Verb;
import io.github.distributedlock.backend.redis.wire.KeyNames;
import io.github.distributedlock.backend.redis.wire.Link;
import io.github.distributedlock.backend.redis.wire.LockCodec;
import io.github.distributedlock.backend.redis.wire.RedisRefusal;
import io.github.distributedlock.backend.redis.wire.UnfinishedException;
import io.github.distributedlock.backend.redis.wire.Values;
import org.jspecify.annotations.Nullable;

/**
 * Steps of several plain commands around one that compares and sets. Whatever else other
 * clients do in between, only that one and {@code SET NX} give a lock or take it away.
 * <p>
 * Invariants: a registration is followed by one more attempt to acquire, and a release by
 * one more look for waiters, so that one of the two sees the other. A lock is reserved
 * for a waiter before the waiter is notified, and before it loses its place.
 */
final class PlainSteps implements Steps {

	private final KeyNames names;

	private final CompareAndSet compareAndSet;

	private final Duration timeout;

	private final WaitingList waiters;

	private final FencingCounter fencing;

	private final PlainRenewals renewals;

	private final UnansweredRenewals unanswered;

	PlainSteps(KeyNames names, CompareAndSet compareAndSet, UnansweredRenewals unanswered, Duration timeout,
			Publishing publishing) {
		this.names = names;
		this.compareAndSet = compareAndSet;
		this.timeout = timeout;
		this.waiters = new WaitingList(names, publishing);
		this.fencing = new FencingCounter(names, compareAndSet);
		this.unanswered = unanswered;
		this.renewals = new PlainRenewals(names, compareAndSet, unanswered);
	}

	@Override
	public AcquireResult acquire(Link link, Claim claim) {
		StepBudget budget = new StepBudget(this.timeout);
		AcquireResult result = take(link, claim, budget);
		return result.acquired() ? afterwards(() -> token(link, claim, budget)) : busy(link, claim, result, budget);
	}

	@Override
	public AcquireResult acquireOrRegister(Link link, Claim claim) {
		StepBudget budget = new StepBudget(this.timeout);
		AcquireResult result = take(link, claim, budget);
		if (!result.acquired()) {
			budget.check();
			this.waiters.add(link, claim.key(), claim.waiter());
			budget.check();
			result = take(link, claim, budget);
		}
		if (!result.acquired()) {
			return busy(link, claim, result, budget);
		}
		return afterwards(() -> {
			this.waiters.remove(link, claim.key(), claim.waiter());
			return token(link, claim, budget);
		});
	}

	@Override
	public HandOverResult pass(Link link, String owner, Claim next, boolean yields, boolean registers) {
		LuaOnly.refuse(next);
		this.unanswered.forget(owner);
		byte[] name = this.names.lock(next.key());
		if (!yields && unlessShared(link, name, () -> this.compareAndSet.replace(link, name, KeyNames.bytes(owner),
				KeyNames.bytes(next.owner()), next.lease().toMillis()))) {
			return HandOverResult.of(true, afterwards(() -> token(link, next, new StepBudget(this.timeout))));
		}
		boolean owned = release(link, next.key(), owner);
		return HandOverResult.of(owned,
				afterwards(() -> registers ? acquireOrRegister(link, next) : acquire(link, next)));
	}

	private AcquireResult take(Link link, Claim claim, StepBudget budget) {
		LuaOnly.refuse(claim);
		byte[] name = this.names.lock(claim.key());
		AcquireResult result = Steps.acquireIfFree(link, name, claim, () -> {
			budget.check();
			return true;
		});
		if (result.acquired()) {
			return result;
		}
		Holder holder = result.holder();
		budget.check();
		boolean taken;
		if (LockCodec.holder(claim.owner()).equals(holder)) {
			// Of an attempt whose answer got lost. It may have been extended since.
			taken = this.renewals.renew(link, claim);
		}
		else {
			String found = replaceable(claim, holder);
			taken = found != null && unlessShared(link, name, () -> this.compareAndSet.replace(link, name,
					KeyNames.bytes(found), KeyNames.bytes(claim.owner()), claim.lease().toMillis()));
		}
		return taken ? AcquireResult.ACQUIRED : result;
	}

	// What a lock may have that the claim's owner takes it from: that it is reserved for
	// its waiter, or was granted, by scripts, to an owner that did not want it.
	private static @Nullable String replaceable(Claim claim, @Nullable Holder holder) {
		String reservation = LockCodec.reservedFor(claim.waiter());
		if (LockCodec.holder(reservation).equals(holder)) {
			return reservation;
		}
		return claim.replaced()
			.stream()
			.filter((owner) -> LockCodec.holder(owner).equals(holder))
			.findFirst()
			.orElse(null);
	}

	// If it is gone by now, that is to be seen at once.
	private AcquireResult busy(Link link, Claim claim, AcquireResult result, StepBudget budget) {
		budget.check();
		long left = link.number(Command.of(Verb.PTTL, this.names.lock(claim.key())));
		return AcquireResult.busy(result.holder(), Values.left(left));
	}

	private AcquireResult token(Link link, Claim claim, StepBudget budget) {
		if (!claim.fenced()) {
			return AcquireResult.ACQUIRED;
		}
		budget.check();
		return AcquireResult.fenced(this.fencing.next(link, claim.key()));
	}

	// A refusal of what comes after the lock was taken must not be taken for a refusal of
	// the lock.
	private static AcquireResult afterwards(Supplier<AcquireResult> rest) {
		try {
			return rest.get();
		}
		catch (RuntimeException ex) {
			throw new UnfinishedException(ex);
		}
	}

	@Override
	public boolean release(Link link, String key, String owner) {
		this.unanswered.forget(owner);
		return giveBack(link, key, owner);
	}

	@Override
	public LockStatus inspect(Link link, String key) {
		return Inspection.of(key, link, this.names);
	}

	@Override
	public void withdraw(Link link, String key, Waiter waiter, Set<String> owners) {
		this.waiters.remove(link, key, waiter);
		// Scripts of this instance, or of others, may have granted it.
		owners.forEach((owner) -> giveBack(link, key, owner));
		Holder holder = Values.holder(link, this.names.lock(key));
		String reservation = LockCodec.reservedFor(waiter);
		if (holder == null || holder.equals(LockCodec.holder(reservation))) {
			giveBack(link, key, (holder != null) ? reservation : null);
		}
	}

	private boolean giveBack(Link link, String key, @Nullable String value) {
		byte[] name = this.names.lock(key);
		return unlessShared(link, name,
				() -> new PlainRelease(this.compareAndSet, this.waiters, link, key, name, value).run());
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
	public boolean leaveToExpire(Link link, String key, String owner, long restMillis) {
		this.unanswered.forget(owner);
		byte[] name = this.names.lock(key);
		return unlessShared(link, name,
				() -> this.compareAndSet.replace(link, name, KeyNames.bytes(owner),
						KeyNames.bytes(LockCodec.expiring(owner)), restMillis)
						// It may have been left alone so near to its end, and then runs
						// out too.
						|| owner.equals(Values.get(link, name)));
	}

	@Override
	public List<Boolean> renew(Link link, List<Claim> claims) {
		return claims.stream().map((claim) -> this.renewals.renew(link, claim)).toList();
	}

}
