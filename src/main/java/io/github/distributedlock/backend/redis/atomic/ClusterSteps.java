package io.github.distributedlock.backend.redis.atomic;

import java.util.List;
import java.util.function.Supplier;

import io.github.distributedlock.LockStatus;
import io.github.distributedlock.backend.AcquireResult;
import io.github.distributedlock.backend.Claim;
import io.github.distributedlock.backend.HandOverResult;
import io.github.distributedlock.backend.Waiter;
import io.github.distributedlock.backend.redis.wire.RedisRefusal;
import org.jspecify.annotations.Nullable;

import org.springframework.data.redis.connection.RedisConnection;

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
	public @Nullable AcquireResult acquire(RedisConnection connection, Claim claim) {
		return run(claim, () -> this.scripts.acquire(connection, claim),
				() -> this.commands.acquire(connection, claim));
	}

	@Override
	public @Nullable AcquireResult acquireOrRegister(RedisConnection connection, Claim claim) {
		return run(claim, () -> this.scripts.acquireOrRegister(connection, claim),
				() -> this.commands.acquireOrRegister(connection, claim));
	}

	@Override
	public @Nullable HandOverResult pass(RedisConnection connection, String owner, Claim next, boolean yields,
			boolean registers) {
		return run(next, () -> this.scripts.pass(connection, owner, next, yields, registers),
				() -> this.commands.pass(connection, owner, next, yields, registers));
	}

	@Override
	public boolean release(RedisConnection connection, String key, String owner) {
		return run(() -> this.scripts.release(connection, key, owner),
				() -> this.commands.release(connection, key, owner)
						// Commands leave alone what is shared; and this script has one
						// key.
						|| this.scripts.leaveToExpire(connection, key, owner, 1));
	}

	@Override
	public boolean acquireAll(RedisConnection connection, List<Claim> claims) {
		// Not here one by one while a slot moves: after a refusal the engine does that.
		return this.scripts.acquireAll(connection, claims);
	}

	@Override
	public List<Boolean> releaseAll(RedisConnection connection, List<String> keys, String owner) {
		return run(() -> this.scripts.releaseAll(connection, keys, owner),
				() -> keys.stream().map((key) -> release(connection, key, owner)).toList());
	}

	@Override
	public void withdraw(RedisConnection connection, String key, Waiter waiter) {
		run(() -> {
			this.scripts.withdraw(connection, key, waiter);
			return true;
		}, () -> {
			this.commands.withdraw(connection, key, waiter);
			return true;
		});
	}

	@Override
	public boolean leaveToExpire(RedisConnection connection, String key, String owner, long restMillis) {
		return this.scripts.leaveToExpire(connection, key, owner, restMillis);
	}

	@Override
	public @Nullable LockStatus inspect(RedisConnection connection, String key) {
		return run(() -> this.scripts.inspect(connection, key), () -> this.commands.inspect(connection, key));
	}

	@Override
	public List<Boolean> renew(RedisConnection connection, List<Claim> claims) {
		return run(() -> this.scripts.renew(connection, claims),
				() -> claims.stream().map((claim) -> this.scripts.renew(connection, List.of(claim)).get(0)).toList());
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
