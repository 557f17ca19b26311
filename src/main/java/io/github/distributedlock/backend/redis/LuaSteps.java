package io.github.distributedlock.backend.redis;

import java.time.Duration;
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
final class LuaSteps {

	/**
	 * How long the registrations of a key outlive the last poll for it. Far above the
	 * poll interval, so that a slow JVM keeps its place.
	 */
	private static final byte[] WAITERS_TTL = number(10_000);

	private static final byte[] DO_NOT_REGISTER = number(0);

	/**
	 * How long the last fencing token of a key is kept. The server's time takes its place
	 * after that.
	 */
	private static final byte[] FENCE_TTL = number(Duration.ofDays(1).toMillis());

	private static final byte[] RESERVATION = number(LockBackend.RESERVATION.toMillis());

	private final LuaScript acquireOrRegister = new LuaScript("acquire-or-register.lua", ReturnType.MULTI);

	private final LuaScript release = new LuaScript("release.lua", ReturnType.INTEGER);

	private final LuaScript park = new LuaScript("park.lua", ReturnType.INTEGER);

	private final LuaScript renew = new LuaScript("renew.lua", ReturnType.MULTI);

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
		this.skipTheDeaf = number(countsAllSubscribers ? 1 : 0);
	}

	/**
	 * Acquires, without registering if that fails.
	 * @param connection the connection
	 * @param claim the claim
	 * @return the answer, {@code null} if there was none
	 */
	@Nullable Attempt acquire(RedisConnection connection, Claim claim) {
		return acquire(connection, claim, DO_NOT_REGISTER);
	}

	@Nullable Attempt acquireOrRegister(RedisConnection connection, Claim claim) {
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
				number(claim.lease().toMillis()), waitersTtl, FENCE_TTL));
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

	boolean release(RedisConnection connection, String key, String owner) {
		Long owned = this.release.run(connection, 2, this.names.lock(key), this.names.waiters(key),
				KeyNames.bytes(owner), KeyNames.bytes(key), this.channels, RESERVATION, this.skipTheDeaf);
		return isTrue(owned);
	}

	void withdraw(RedisConnection connection, String key, String instance) {
		this.release.run(connection, 2, this.names.lock(key), this.names.waiters(key),
				KeyNames.bytes(LockBackend.RESERVED + instance), KeyNames.bytes(key), this.channels, RESERVATION,
				this.skipTheDeaf, KeyNames.bytes(instance));
	}

	boolean park(RedisConnection connection, String key, String owner, long restMillis) {
		Long owned = this.park.run(connection, 1, this.names.lock(key), KeyNames.bytes(owner), number(restMillis));
		return isTrue(owned);
	}

	/**
	 * Renews leases. In a cluster each slot needs a script of its own; the first that
	 * fails ends it, since the next would have to wait for the same master.
	 * @param connection the connection
	 * @param claims the claims, all of one master
	 * @return for each claim, in order, whether its owner owns the key
	 */
	List<Boolean> renew(RedisConnection connection, List<Claim> claims) {
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
			keysAndArguments[claims.size() + 2 * i + 1] = number(claim.lease().toMillis());
		}
		List<Long> owned = this.renew.run(connection, claims.size(), keysAndArguments);
		List<Boolean> result = new ArrayList<>(claims.size());
		if (owned != null) {
			owned.forEach((one) -> result.add(isTrue(one)));
		}
		return result;
	}

	private static boolean isTrue(@Nullable Long answer) {
		return answer != null && answer == 1;
	}

	private static byte[] number(long number) {
		return KeyNames.bytes(Long.toString(number));
	}

}
