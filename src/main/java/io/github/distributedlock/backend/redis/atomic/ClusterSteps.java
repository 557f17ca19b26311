package io.github.distributedlock.backend.redis.atomic;

import java.util.List;
import java.util.Set;
import java.util.function.Supplier;

import io.github.distributedlock.LockStatus;
import io.github.distributedlock.backend.AcquireResult;
import io.github.distributedlock.backend.Claim;
import io.github.distributedlock.backend.HandOverResult;
import io.github.distributedlock.backend.Waiter;
import io.github.distributedlock.backend.redis.wire.Link;
import io.github.distributedlock.backend.redis.wire.RedisRefusal;
import org.jspecify.annotations.Nullable;

/**
 * Scripts, as far as a cluster runs them. While a slot moves, its keys are at two
 * masters, neither of which runs a script of several keys. That script is refused before
 * it begins, and what it was to do is done key by key instead: a command of one key finds
 * it wherever it is.
 */
final class ClusterSteps implements Steps {

	private final Steps scripts;

	private final Steps commands;

	/**
	 * Creates the steps.
	 * @param scripts each step in a script, and the renewal of one lease in one of one
	 * key
	 * @param commands each step in commands of one key
	 */
	ClusterSteps(Steps scripts, Steps commands) {
		this.scripts = scripts;
		this.commands = commands;
	}

	@Override
	public @Nullable AcquireResult acquire(Link link, Claim claim) {
		return run(claim, () -> this.scripts.acquire(link, claim), () -> this.commands.acquire(link, claim));
	}

	@Override
	public @Nullable AcquireResult acquireOrRegister(Link link, Claim claim) {
		return run(claim, () -> this.scripts.acquireOrRegister(link, claim),
				() -> this.commands.acquireOrRegister(link, claim));
	}

	@Override
	public @Nullable HandOverResult pass(Link link, String owner, Claim next, boolean yields, boolean registers) {
		return run(next, () -> this.scripts.pass(link, owner, next, yields, registers),
				() -> this.commands.pass(link, owner, next, yields, registers));
	}

	@Override
	public boolean release(Link link, String key, String owner) {
		return run(() -> this.scripts.release(link, key, owner), () -> this.commands.release(link, key, owner)
				// Commands leave alone what is shared; and this script has one
				// key.
				|| this.scripts.leaveToExpire(link, key, owner, 1));
	}

	@Override
	public boolean acquireAll(Link link, List<Claim> claims) {
		// Not here one by one while a slot moves: after a refusal the engine does that.
		return this.scripts.acquireAll(link, claims);
	}

	@Override
	public List<Boolean> releaseAll(Link link, List<String> keys, String owner) {
		return run(() -> this.scripts.releaseAll(link, keys, owner),
				() -> keys.stream().map((key) -> release(link, key, owner)).toList());
	}

	@Override
	public void withdraw(Link link, String key, Waiter waiter, Set<String> owners) {
		run(() -> {
			this.scripts.withdraw(link, key, waiter, owners);
			return true;
		}, () -> {
			this.commands.withdraw(link, key, waiter, owners);
			return true;
		});
	}

	@Override
	public void forget(Link link, Claim claim) {
		run(() -> {
			this.scripts.forget(link, claim);
			return true;
		}, () -> release(link, claim.key(), claim.owner()));
	}

	@Override
	public boolean grants() {
		return this.scripts.grants();
	}

	@Override
	public boolean downgrade(Link link, String key, String owner) {
		return this.scripts.downgrade(link, key, owner);
	}

	@Override
	public boolean leaveToExpire(Link link, String key, String owner, long restMillis) {
		return this.scripts.leaveToExpire(link, key, owner, restMillis);
	}

	@Override
	public @Nullable LockStatus inspect(Link link, String key) {
		return run(() -> this.scripts.inspect(link, key), () -> this.commands.inspect(link, key));
	}

	@Override
	public List<Boolean> renew(Link link, List<Claim> claims) {
		return run(() -> this.scripts.renew(link, claims),
				() -> claims.stream().map((claim) -> this.scripts.renew(link, List.of(claim)).get(0)).toList());
	}

	// What is only possible by scripts has to wait until the slot has moved.
	private static <T extends @Nullable Object> T run(Claim claim, Supplier<T> script, Supplier<T> commands) {
		return LuaOnly.isNeeded(claim.mode(), claim.fair()) ? script.get() : run(script, commands);
	}

	private static <T extends @Nullable Object> T run(Supplier<T> script, Supplier<T> commands) {
		try {
			return script.get();
		}
		catch (RuntimeException ex) {
			if (!RedisRefusal.TRYAGAIN.isIn(ex)) {
				throw ex;
			}
			return commands.get();
		}
	}

}
