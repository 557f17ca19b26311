package io.github.distributedlock.backend.redis.atomic;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.stream.Collectors;

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
import io.github.distributedlock.backend.redis.wire.RedisFailures;
import io.github.distributedlock.backend.redis.wire.RedisRefusal;
import io.github.distributedlock.backend.redis.wire.Values;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

import org.springframework.data.redis.connection.ReturnType;

/**
 * Steps that are atomic because the server runs each as one script.
 */
final class LuaSteps implements Steps {

	private static final Logger logger = LoggerFactory.getLogger(LuaSteps.class);

	private static final byte[] WAITERS_TTL = KeyNames.number(WaitingList.TTL_MILLIS);

	private static final byte[] NO_CHANNELS = {};

	private static final byte[] DO_NOT_REGISTER = KeyNames.number(0);

	private static final Long UNUSABLE_COUNTER = 2L;

	private static final byte[] NOT_FENCED = KeyNames.number(0);

	private static final byte[] FENCE_TTL = KeyNames.number(FencingCounter.TTL_MILLIS);

	private static final byte[] RESERVATION = KeyNames.number(WaitingList.RESERVATION.toMillis());

	private final LuaScript acquireOrRegister = new LuaScript(ReturnType.MULTI, "lib-clock.lua", "lib-grant.lua",
			"lib-lock.lua", "lib-waiters.lua", "lib-acquire.lua", "acquire.lua");

	private final LuaScript pass = new LuaScript(ReturnType.MULTI, "lib-clock.lua", "lib-grant.lua", "lib-lock.lua",
			"lib-waiters.lua", "lib-acquire.lua", "pass.lua");

	private final LuaScript release = new LuaScript(ReturnType.INTEGER, "release-fast.lua", "lib-clock.lua",
			"lib-grant.lua", "release-grant.lua", "lib-lock.lua", "lib-waiters.lua", "release.lua");

	private final LuaScript acquireAll = new LuaScript(ReturnType.INTEGER, "acquire-all.lua");

	private final LuaScript releaseAll = new LuaScript(ReturnType.MULTI, "lib-clock.lua", "lib-grant.lua",
			"lib-lock.lua", "lib-waiters.lua", "release-all.lua");

	private final LuaScript withdraw = new LuaScript(ReturnType.INTEGER, "lib-clock.lua", "lib-grant.lua",
			"lib-lock.lua", "lib-waiters.lua", "withdraw.lua");

	private final LuaScript forget = new LuaScript(ReturnType.INTEGER, "lib-clock.lua", "lib-grant.lua", "lib-lock.lua",
			"lib-waiters.lua", "forget.lua");

	private final LuaScript downgrade = new LuaScript(ReturnType.INTEGER, "lib-clock.lua", "lib-grant.lua",
			"lib-lock.lua", "lib-waiters.lua", "downgrade.lua");

	private final LuaScript park = new LuaScript(ReturnType.INTEGER, "lib-clock.lua", "lib-lock.lua", "park.lua");

	private final LuaScript renew = new LuaScript(ReturnType.MULTI, "lib-clock.lua", "lib-lock.lua", "renew.lua");

	private final LuaScript inspect = new LuaScript(ReturnType.MULTI, "lib-clock.lua", "lib-lock.lua", "inspect.lua");

	private final LuaScript trial = new LuaScript(ReturnType.INTEGER, "trial.lua");

	private final LuaScript trialOfClaims = new LuaScript(ReturnType.INTEGER, "trial-claims.lua");

	private final KeyNames names;

	private final byte[] channels;

	private final byte[] skipTheDeaf;

	/**
	 * Whether the user may do what it takes to grant locks. Known from the trial on.
	 */
	private volatile boolean grants;

	/**
	 * Creates the steps.
	 * @param names the names in Redis
	 * @param publishing whether waiters are told
	 */
	LuaSteps(KeyNames names, Publishing publishing) {
		this.names = names;
		this.channels = (publishing != Publishing.NOTHING) ? KeyNames.bytes(names.channels()) : NO_CHANNELS;
		this.skipTheDeaf = KeyNames.number((publishing == Publishing.ON_ONE_SERVER) ? 1 : 0);
	}

	@Override
	public @Nullable AcquireResult acquire(Link link, Claim claim) {
		return acquire(link, claim, DO_NOT_REGISTER);
	}

	@Override
	public @Nullable AcquireResult acquireOrRegister(Link link, Claim claim) {
		return acquire(link, claim, WAITERS_TTL);
	}

	private @Nullable AcquireResult acquire(Link link, Claim claim, byte[] waitersTtl) {
		List<?> answer = run(this.acquireOrRegister, link, claim, waitersTtl);
		return (answer != null) ? result(claim.key(), answer) : null;
	}

	@Override
	public @Nullable HandOverResult pass(Link link, String owner, Claim next, boolean yields, boolean registers) {
		List<?> answer = run(this.pass, link, next, registers ? WAITERS_TTL : DO_NOT_REGISTER, KeyNames.bytes(owner),
				KeyNames.number(yields ? 1 : 0));
		return (answer != null)
				? HandOverResult.of(isTrue(answer.get(0)), result(next.key(), answer.subList(1, answer.size()))) : null;
	}

	private @Nullable List<?> run(LuaScript script, Link link, Claim claim, byte[] waitersTtl, byte[]... more) {
		List<byte[]> arguments = names(claim.key());
		if (claim.fenced()) {
			arguments.add(this.names.fence(claim.key()));
		}
		int keys = arguments.size();
		arguments.addAll(waking(claim.key()));
		arguments.addAll(List.of(KeyNames.bytes(claim.owner()), KeyNames.bytes(LockCodec.text(claim.waiter())),
				KeyNames.number(claim.lease().toMillis()), waitersTtl, claim.fenced() ? FENCE_TTL : NOT_FENCED,
				KeyNames.number(claim.number()), KeyNames.number(claim.grantLease().toMillis())));
		arguments.addAll(List.of(more));
		claim.replaced().forEach((owner) -> arguments.add(KeyNames.bytes(owner)));
		return script.run(link, keys, arguments.toArray(byte[][]::new));
	}

	private List<byte[]> names(String key) {
		List<byte[]> names = new ArrayList<>(
				List.of(this.names.lock(key), this.names.waiters(key), this.names.liveness(key)));
		if (this.grants) {
			names.add(this.names.claims(key));
		}
		return names;
	}

	private List<byte[]> waking(String key) {
		return List.of(KeyNames.bytes(key), this.channels, RESERVATION, this.skipTheDeaf);
	}

	private AcquireResult result(String key, List<?> answer) {
		if (UNUSABLE_COUNTER.equals(answer.get(0))) {
			throw FencingCounter.unusable(this.names, key);
		}
		String word = (answer.size() > 1) ? KeyNames.text((byte[]) answer.get(1)) : null;
		if (!isTrue(answer.get(0))) {
			Holder holder = (word != null) ? LockCodec.told(word) : null;
			return AcquireResult.busy(holder, Values.left((Long) answer.get(2)));
		}
		return (word != null) ? AcquireResult.fenced(Long.parseLong(word)) : AcquireResult.ACQUIRED;
	}

	@Override
	public boolean release(Link link, String key, String owner) {
		return run(this.release, link, key, owner);
	}

	@Override
	public boolean acquireAll(Link link, List<Claim> claims) {
		Claim first = claims.get(0);
		List<byte[]> arguments = new ArrayList<>();
		claims.forEach((claim) -> arguments.add(this.names.lock(claim.key())));
		arguments.add(KeyNames.bytes(first.owner()));
		arguments.add(KeyNames.number(first.lease().toMillis()));
		Long acquired = this.acquireAll.run(link, claims.size(), arguments.toArray(byte[][]::new));
		return isTrue(acquired);
	}

	@Override
	public List<Boolean> releaseAll(Link link, List<String> keys, String owner) {
		List<byte[]> arguments = new ArrayList<>();
		keys.forEach((key) -> arguments.addAll(names(key)));
		int names = arguments.size();
		arguments.addAll(waking(keys.get(0)));
		arguments.add(KeyNames.bytes(owner));
		keys.forEach((key) -> arguments.add(KeyNames.bytes(key)));
		List<Long> owned = this.releaseAll.run(link, names, arguments.toArray(byte[][]::new));
		return (owned != null) ? owned.stream().map(LuaSteps::isTrue).toList() : List.of();
	}

	@Override
	public void withdraw(Link link, String key, Waiter waiter, Set<String> owners) {
		run(this.withdraw, link, key, LockCodec.text(waiter), owners.toArray(String[]::new));
	}

	@Override
	public void forget(Link link, Claim claim) {
		run(this.forget, link, claim.key(), claim.owner(), LockCodec.text(claim.waiter()));
	}

	@Override
	public boolean grants() {
		return this.grants;
	}

	private boolean run(LuaScript script, Link link, String key, String name, String... more) {
		List<byte[]> arguments = names(key);
		int names = arguments.size();
		arguments.addAll(waking(key));
		arguments.add(KeyNames.bytes(name));
		for (String one : more) {
			arguments.add(KeyNames.bytes(one));
		}
		Long owned = script.run(link, names, arguments.toArray(byte[][]::new));
		return isTrue(owned);
	}

	@Override
	public boolean downgrade(Link link, String key, String owner) {
		return run(this.downgrade, link, key, owner);
	}

	@Override
	public boolean leaveToExpire(Link link, String key, String owner, long restMillis) {
		Long owned = this.park.run(link, 1, this.names.lock(key), KeyNames.bytes(owner), KeyNames.number(restMillis));
		return isTrue(owned);
	}

	@Override
	public @Nullable LockStatus inspect(Link link, String key) {
		List<?> answer = this.inspect.run(link, 2, this.names.lock(key), this.names.waiters(key));
		return (answer != null) ? Inspection.of(key, answer) : null;
	}

	// In a cluster each slot needs a script of its own. The first that fails ends it,
	// since the next would have to wait for the same master.
	@Override
	public List<Boolean> renew(Link link, List<Claim> claims) {
		if (!link.isCluster()) {
			return renewAtOnce(link, claims);
		}
		Map<Integer, List<Claim>> slots = claims.stream()
			.collect(Collectors.groupingBy((claim) -> this.names.slot(claim.key())));
		Map<Claim, Boolean> owned = new HashMap<>();
		slots.values().forEach((slot) -> {
			List<Boolean> answers = renewAtOnce(link, slot);
			for (int i = 0; i < slot.size(); i++) {
				owned.put(slot.get(i), answers.get(i));
			}
		});
		return claims.stream().map(owned::get).toList();
	}

	private List<Boolean> renewAtOnce(Link link, List<Claim> claims) {
		byte[][] keysAndArguments = new byte[claims.size() * 3][];
		for (int i = 0; i < claims.size(); i++) {
			Claim claim = claims.get(i);
			keysAndArguments[i] = this.names.lock(claim.key());
			keysAndArguments[claims.size() + 2 * i] = KeyNames.bytes(claim.owner());
			keysAndArguments[claims.size() + 2 * i + 1] = KeyNames.number(claim.lease().toMillis());
		}
		List<Long> owned = this.renew.run(link, claims.size(), keysAndArguments);
		List<Boolean> result = new ArrayList<>(claims.size());
		if (owned != null) {
			owned.forEach((one) -> result.add(isTrue(one)));
		}
		return result;
	}

	/**
	 * Sends all that scripts send but for wake-ups, and what a lock needs besides.
	 * @param link the way to the server
	 * @param key a key that is not in use
	 */
	void tryOut(Link link, String key) {
		byte[] lock = this.names.lock(key);
		byte[][] all = { lock, this.names.waiters(key), this.names.liveness(key), this.names.fence(key) };
		this.trial.run(link, all.length, all);
		this.trial.runInFull(link, all.length, all);
		Values.setIfPresent(link, lock, KeyNames.bytes(""), 1);
		link.call(Command.of(Verb.GET, lock));
		this.grants = this.channels.length > 0 && allowsClaims(link, key);
	}

	private boolean allowsClaims(Link link, String key) {
		try {
			this.trialOfClaims.run(link, 1, this.names.claims(key));
			return true;
		}
		catch (RuntimeException ex) {
			RedisRefusal refusal = RedisRefusal.of(ex);
			if (refusal != RedisRefusal.NOPERM && refusal != RedisRefusal.ERR && !RedisRefusal.isError(ex)) {
				throw ex;
			}
			logger.info("Locks are reserved for those that wait, and not granted, which takes a command more for each"
					+ " hand-over: the user may not do{} ({})", AccessRules.GRANTS, RedisFailures.lastWord(ex));
			return false;
		}
	}

	private static boolean isTrue(@Nullable Object answer) {
		return Long.valueOf(1).equals(answer);
	}

}
