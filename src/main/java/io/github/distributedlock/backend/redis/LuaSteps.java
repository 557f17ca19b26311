package io.github.distributedlock.backend.redis;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.Collectors;

import io.github.distributedlock.backend.Attempt;
import io.github.distributedlock.backend.Claim;
import io.github.distributedlock.backend.LockBackend;
import org.jspecify.annotations.Nullable;

import org.springframework.data.redis.connection.RedisClusterConnection;
import org.springframework.data.redis.connection.RedisConnection;
import org.springframework.data.redis.connection.ReturnType;

/**
 * Steps that are atomic because the server runs each as one script.
 */
final class LuaSteps implements Steps {

	private static final byte[] WAITERS_TTL = KeyNames.number(Waiters.TTL_MILLIS);

	private static final byte[] DO_NOT_REGISTER = KeyNames.number(0);

	private static final byte[] FENCE_TTL = KeyNames.number(FencingCounter.TTL_MILLIS);

	private static final byte[] RESERVATION = KeyNames.number(LockBackend.RESERVATION.toMillis());

	private final LuaScript acquireOrRegister = new LuaScript("acquire-or-register.lua", ReturnType.MULTI);

	private final LuaScript release = new LuaScript("release.lua", ReturnType.INTEGER);

	private final LuaScript renew = new LuaScript("renew.lua", ReturnType.MULTI);

	private final Swap swap = new LuaSwap();

	private final KeyNames names;

	private final byte[] channels;

	private final byte[] skipTheDeaf;

	/**
	 * Creates the steps.
	 * @param names the names in Redis
	 * @param countsAllSubscribers whether PUBLISH tells how many hear; in a cluster it
	 * knows of one node's subscribers only
	 */
	LuaSteps(KeyNames names, boolean countsAllSubscribers) {
		this.names = names;
		this.channels = KeyNames.bytes(names.channels());
		this.skipTheDeaf = KeyNames.number(countsAllSubscribers ? 1 : 0);
	}

	@Override
	public @Nullable Attempt acquire(RedisConnection connection, Claim claim) {
		return acquire(connection, claim, DO_NOT_REGISTER);
	}

	@Override
	public @Nullable Attempt acquireOrRegister(RedisConnection connection, Claim claim) {
		return acquire(connection, claim, WAITERS_TTL);
	}

	private @Nullable Attempt acquire(RedisConnection connection, Claim claim, byte[] waitersTtl) {
		List<byte[]> arguments = new ArrayList<>(
				List.of(this.names.lock(claim.key()), this.names.waiters(claim.key())));
		if (claim.fenced()) {
			arguments.add(this.names.fence(claim.key()));
		}
		int keys = arguments.size();
		arguments.addAll(List.of(KeyNames.bytes(claim.owner()), KeyNames.bytes(claim.instance()),
				KeyNames.number(claim.lease().toMillis()), waitersTtl, FENCE_TTL));
		List<?> answer = this.acquireOrRegister.run(connection, keys, arguments.toArray(byte[][]::new));
		return (answer != null) ? attempt(answer) : null;
	}

	private static Attempt attempt(List<?> answer) {
		String word = (answer.size() > 1) ? KeyNames.text((byte[]) answer.get(1)) : null;
		if (!Long.valueOf(1).equals(answer.get(0))) {
			return Attempt.busy(word);
		}
		return (word != null) ? Attempt.fenced(Long.parseLong(word)) : Attempt.ACQUIRED;
	}

	@Override
	public boolean release(RedisConnection connection, String key, String owner) {
		Long owned = this.release.run(connection, 2, this.names.lock(key), this.names.waiters(key),
				KeyNames.bytes(owner), KeyNames.bytes(key), this.channels, RESERVATION, this.skipTheDeaf);
		return isTrue(owned);
	}

	@Override
	public void withdraw(RedisConnection connection, String key, String instance) {
		this.release.run(connection, 2, this.names.lock(key), this.names.waiters(key),
				KeyNames.bytes(LockBackend.RESERVED + instance), KeyNames.bytes(key), this.channels, RESERVATION,
				this.skipTheDeaf, KeyNames.bytes(instance));
	}

	@Override
	public boolean park(RedisConnection connection, String key, String owner, long restMillis) {
		return this.swap.replace(connection, this.names.lock(key), KeyNames.bytes(owner),
				KeyNames.bytes(LockBackend.PARKED + owner), restMillis);
	}

	// In a cluster each slot needs a script of its own. The first that fails ends it,
	// since the next would have to wait for the same master.
	@Override
	public List<Boolean> renew(RedisConnection connection, List<Claim> claims) {
		if (!(connection instanceof RedisClusterConnection)) {
			return renewAtOnce(connection, claims);
		}
		Map<Integer, List<Claim>> slots = claims.stream()
			.collect(Collectors.groupingBy((claim) -> this.names.slot(claim.key())));
		Map<Claim, Boolean> owned = new HashMap<>();
		slots.values().forEach((slot) -> {
			List<Boolean> answers = renewAtOnce(connection, slot);
			for (int i = 0; i < slot.size(); i++) {
				owned.put(slot.get(i), answers.get(i));
			}
		});
		return claims.stream().map(owned::get).toList();
	}

	private List<Boolean> renewAtOnce(RedisConnection connection, List<Claim> claims) {
		byte[][] keysAndArguments = new byte[claims.size() * 3][];
		for (int i = 0; i < claims.size(); i++) {
			Claim claim = claims.get(i);
			keysAndArguments[i] = this.names.lock(claim.key());
			keysAndArguments[claims.size() + 2 * i] = KeyNames.bytes(claim.owner());
			keysAndArguments[claims.size() + 2 * i + 1] = KeyNames.number(claim.lease().toMillis());
		}
		List<Long> owned = this.renew.run(connection, claims.size(), keysAndArguments);
		List<Boolean> result = new ArrayList<>(claims.size());
		if (owned != null) {
			owned.forEach((one) -> result.add(isTrue(one)));
		}
		return result;
	}

	/**
	 * Runs scripts that change nothing, and those commands in them that may be denied.
	 * @param connection the connection
	 * @param name the name of a key that does not exist
	 */
	void rehearse(RedisConnection connection, byte[] name) {
		byte[] nothing = {};
		this.swap.replace(connection, name, nothing, nothing, 1);
		this.release.run(connection, 2, name, name, nothing, nothing, nothing, RESERVATION, this.skipTheDeaf);
	}

	private static boolean isTrue(@Nullable Long answer) {
		return answer != null && answer == 1;
	}

}
