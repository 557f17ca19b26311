package io.github.distributedlock.backend.redis.atomic;

import java.time.Duration;
import java.util.List;
import java.util.function.BooleanSupplier;
import java.util.function.Supplier;

import io.github.distributedlock.LockStatus;
import io.github.distributedlock.backend.AcquireResult;
import io.github.distributedlock.backend.Claim;
import io.github.distributedlock.backend.HandOverResult;
import io.github.distributedlock.backend.Holder;
import io.github.distributedlock.backend.Waiter;
import io.github.distributedlock.backend.redis.connection.RawCommands;
import io.github.distributedlock.backend.redis.wire.KeyNames;
import io.github.distributedlock.backend.redis.wire.LockCodec;
import io.github.distributedlock.backend.redis.wire.RedisRefusal;
import io.github.distributedlock.backend.redis.wire.UnfinishedException;
import io.github.distributedlock.backend.redis.wire.Values;
import org.jspecify.annotations.Nullable;

import org.springframework.data.redis.connection.RedisConnection;

/**
 * Steps of several plain commands around one that compares and sets. Whatever else other
 * clients do in between, only that one and {@code SET NX} give a lock or take it away.
 * <p>
 * Invariants: a registration is followed by one more attempt to acquire, and a release by
 * one more look for waiters, so that one of the two sees the other. A lock is reserved
 * for a waiter before the waiter is notified, and before it loses its place.
 */
public final class PlainSteps implements Steps {

	private final KeyNames names;

	private final CompareAndSet compareAndSet;

	private final RawCommands raw;

	private final Duration timeout;

	private final WaitingList waiters;

	private final FencingCounter fencing;

	private final PlainRenewals renewals;

	private final UnansweredRenewals unanswered;

	public PlainSteps(KeyNames names, CompareAndSet compareAndSet, RawCommands raw, UnansweredRenewals unanswered,
			Duration timeout, Publishing publishing) {
		this.names = names;
		this.compareAndSet = compareAndSet;
		this.raw = raw;
		this.timeout = timeout;
		this.waiters = new WaitingList(names, raw, publishing);
		this.fencing = new FencingCounter(names, compareAndSet, raw);
		this.unanswered = unanswered;
		this.renewals = new PlainRenewals(names, compareAndSet, unanswered);
	}

	@Override
	public AcquireResult acquire(RedisConnection connection, Claim claim) {
		StepBudget budget = new StepBudget(this.timeout);
		AcquireResult result = take(connection, claim, budget);
		return result.acquired() ? afterwards(() -> token(connection, claim, budget))
				: busy(connection, claim, result, budget);
	}

	@Override
	public AcquireResult acquireOrRegister(RedisConnection connection, Claim claim) {
		StepBudget budget = new StepBudget(this.timeout);
		AcquireResult result = take(connection, claim, budget);
		if (!result.acquired()) {
			budget.check();
			this.waiters.add(connection, claim.key(), claim.waiter());
			budget.check();
			result = take(connection, claim, budget);
		}
		if (!result.acquired()) {
			return busy(connection, claim, result, budget);
		}
		return afterwards(() -> {
			this.waiters.remove(connection, claim.key(), claim.waiter());
			return token(connection, claim, budget);
		});
	}

	@Override
	public HandOverResult pass(RedisConnection connection, String owner, Claim next, boolean yields,
			boolean registers) {
		LuaOnly.refuse(next);
		this.unanswered.forget(owner);
		byte[] name = this.names.lock(next.key());
		if (!yields && unlessShared(connection, name, () -> this.compareAndSet.replace(connection, name,
				KeyNames.bytes(owner), KeyNames.bytes(next.owner()), next.lease().toMillis()))) {
			return HandOverResult.of(true, afterwards(() -> token(connection, next, new StepBudget(this.timeout))));
		}
		boolean owned = release(connection, next.key(), owner);
		return HandOverResult.of(owned,
				afterwards(() -> registers ? acquireOrRegister(connection, next) : acquire(connection, next)));
	}

	private AcquireResult take(RedisConnection connection, Claim claim, StepBudget budget) {
		LuaOnly.refuse(claim);
		byte[] name = this.names.lock(claim.key());
		AcquireResult result = Steps.acquireIfFree(connection, name, claim, () -> {
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
			taken = this.renewals.renew(connection, claim);
		}
		else {
			Waiter waiter = claim.waiter();
			String reservation = LockCodec.reservedFor(waiter);
			taken = LockCodec.holder(reservation).equals(holder)
					&& unlessShared(connection, name, () -> this.compareAndSet.replace(connection, name,
							KeyNames.bytes(reservation), KeyNames.bytes(claim.owner()), claim.lease().toMillis()));
		}
		return taken ? AcquireResult.ACQUIRED : result;
	}

	// If it is gone by now, that is to be seen at once.
	private AcquireResult busy(RedisConnection connection, Claim claim, AcquireResult result, StepBudget budget) {
		budget.check();
		Long left = connection.keyCommands().pTtl(this.names.lock(claim.key()));
		return AcquireResult.busy(result.holder(), Values.left(left));
	}

	private AcquireResult token(RedisConnection connection, Claim claim, StepBudget budget) {
		if (!claim.fenced()) {
			return AcquireResult.ACQUIRED;
		}
		budget.check();
		return AcquireResult.fenced(this.fencing.next(connection, claim.key()));
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
	public boolean release(RedisConnection connection, String key, String owner) {
		this.unanswered.forget(owner);
		return giveBack(connection, key, owner);
	}

	@Override
	public LockStatus inspect(RedisConnection connection, String key) {
		return Inspection.of(key, connection, this.names, this.raw);
	}

	@Override
	public void withdraw(RedisConnection connection, String key, Waiter waiter) {
		this.waiters.remove(connection, key, waiter);
		Holder holder = Values.holder(connection, this.names.lock(key));
		String reservation = LockCodec.reservedFor(waiter);
		if (holder == null || holder.equals(LockCodec.holder(reservation))) {
			giveBack(connection, key, (holder != null) ? reservation : null);
		}
	}

	private boolean giveBack(RedisConnection connection, String key, @Nullable String value) {
		byte[] name = this.names.lock(key);
		return unlessShared(connection, name,
				() -> new PlainRelease(this.compareAndSet, this.waiters, connection, key, name, value).run());
	}

	// Readers have a lock that its owner has lost.
	private static boolean unlessShared(RedisConnection connection, byte[] name, BooleanSupplier step) {
		try {
			return step.getAsBoolean();
		}
		catch (RuntimeException ex) {
			if (!RedisRefusal.WRONGTYPE.isIn(ex)) {
				throw ex;
			}
			Values.holder(connection, name); // Fails if it is no lock.
			return false;
		}
	}

	@Override
	public boolean leaveToExpire(RedisConnection connection, String key, String owner, long restMillis) {
		this.unanswered.forget(owner);
		byte[] name = this.names.lock(key);
		return unlessShared(connection, name,
				() -> this.compareAndSet.replace(connection, name, KeyNames.bytes(owner),
						KeyNames.bytes(LockCodec.expiring(owner)), restMillis)
						// It may have been left alone so near to its end, and then runs
						// out too.
						|| owner.equals(Values.get(connection, name)));
	}

	@Override
	public List<Boolean> renew(RedisConnection connection, List<Claim> claims) {
		return claims.stream().map((claim) -> this.renewals.renew(connection, claim)).toList();
	}

}
