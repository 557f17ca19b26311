package io.github.distributedlock.backend.redis;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.function.Function;
import java.util.stream.Stream;

import io.github.distributedlock.LockMode;
import io.github.distributedlock.backend.AcquireResult;
import io.github.distributedlock.backend.Claim;
import io.github.distributedlock.backend.LockBackend.HandOverResult;
import io.github.distributedlock.backend.LockBackend.Renewal;
import io.github.distributedlock.backend.Waiter;
import io.github.distributedlock.backend.redis.internal.Link;
import io.github.distributedlock.backend.redis.internal.OwnConnections;
import io.github.distributedlock.backend.redis.internal.RedisFailures;
import io.github.distributedlock.backend.redis.internal.RedisRefusal;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Steps that are atomic because the server runs each as one script.
 */
final class LuaSteps implements Steps {

	private static final Logger logger = LoggerFactory.getLogger(LuaSteps.class);

	private static final String QUEUE = "lib-clock lib-grant lib-lock lib-waiters ";

	private static final Long UNUSABLE_COUNTER = 2L;

	private final LuaScript acquire = new LuaScript(QUEUE + "lib-acquire acquire");

	private final LuaScript pass = new LuaScript(QUEUE + "lib-acquire pass");

	private final LuaScript release = new LuaScript(
			"release-fast lib-clock lib-grant release-grant lib-lock lib-waiters release");

	private final LuaScript releaseAll = new LuaScript(QUEUE + "release-all");

	private final LuaScript withdraw = new LuaScript(QUEUE + "withdraw");

	private final LuaScript forget = new LuaScript(QUEUE + "forget");

	private final LuaScript downgrade = new LuaScript(QUEUE + "downgrade");

	private final LuaScript park = new LuaScript("lib-clock lib-lock park");

	private final LuaScript renew = new LuaScript("lib-clock lib-lock renew");

	private final @Nullable Steps whileSlotMoves;

	/**
	 * {@code true} while the server lets a script take the keys of several locks. A
	 * server that becomes a node of a cluster refuses such scripts, and so does a proxy
	 * before a cluster.
	 */
	private volatile boolean takesSeveral;

	/**
	 * The prefix of the channels, empty to publish nothing; an argument of each script
	 * that wakes waiters.
	 */
	private final byte[] channels;

	private final byte[] reservation = KeyNames.number(WaitingList.RESERVATION_MILLIS);

	private final byte[] skipsDeaf;

	private final KeyNames names;

	LuaSteps(OwnConnections connections, RedisLockSettings settings) {
		this.names = new KeyNames(settings.prefix());
		boolean publishes = settings.signals() != Signals.NONE;
		this.channels = KeyNames.bytes(publishes ? this.names.channels() : "");
		this.skipsDeaf = KeyNames.number((publishes && !connections.cluster()) ? 1 : 0);
		this.takesSeveral = !connections.cluster();
		this.whileSlotMoves = connections.cluster() ? new OneKeySteps(connections, settings) : null;
	}

	@Override
	public Atomicity atomicity() {
		return Atomicity.LUA;
	}

	@Override
	public @Nullable Steps whileSlotMoves() {
		return this.whileSlotMoves;
	}

	@Override
	public boolean grants() {
		return this.channels.length > 0;
	}

	@Override
	public void probe(Link link, String key) {
		byte[] lock = this.names.lock(key);
		Object[] all = { lock, this.names.waiters(key), this.names.liveness(key), this.names.fence(key),
				this.names.claims(key) };
		LuaScript trial = new LuaScript("trial");
		trial.run(link, all.length, all);
		trial.runInFull(link, all.length, all);
		Values.setIfPresent(link, lock, "", 1);
		Values.get(link, lock);
		renew(link,
				Stream.of("a", "b")
					.map((slot) -> new Renewal(key + slot, key, Duration.ofMillis(1), LockMode.EXCLUSIVE))
					.toList());
	}

	@Override
	public boolean takesSeveral() {
		return this.takesSeveral;
	}

	@Override
	public AcquireResult acquire(Link link, Claim claim, boolean registers) {
		return result(claim.key(), run(this.acquire, link, claim, registers));
	}

	@Override
	public HandOverResult pass(Link link, String owner, Claim next, boolean yields, boolean registers) {
		List<?> answer = run(this.pass, link, next, registers, owner, yields ? 1 : 0);
		return HandOverResult.of(isTrue(answer.get(0)), result(next.key(), answer.subList(1, answer.size())));
	}

	private List<?> run(LuaScript script, Link link, Claim claim, boolean registers, Object... more) {
		List<Object> arguments = new ArrayList<>(List.of(claim.owner(), LockCodec.text(claim.waiter()),
				claim.lease().toMillis(), registers ? WaitingList.TTL_MILLIS : 0,
				claim.fenced() ? FencingCounter.TTL_MILLIS : 0, claim.number(), claim.grantLease().toMillis()));
		arguments.addAll(List.of(more));
		arguments.addAll(claim.replaced());
		return run(script, link, claim.key(), claim.fenced(), arguments);
	}

	private AcquireResult result(String key, List<?> answer) {
		if (UNUSABLE_COUNTER.equals(answer.get(0))) {
			throw FencingCounter.unusable(this.names, key);
		}
		String word = (answer.size() > 1) ? Values.text(answer.get(1)) : null;
		if (isTrue(answer.get(0))) {
			return (word != null) ? AcquireResult.fenced(Long.parseLong(word)) : AcquireResult.ACQUIRED;
		}
		// The answer does not say whether the lock is shared.
		return AcquireResult.busy((word != null) ? LockCodec.holder(word).in(null) : null,
				Values.left((Long) answer.get(2)));
	}

	private List<Object> names(String key) {
		List<Object> names = new ArrayList<>(
				List.of(this.names.lock(key), this.names.waiters(key), this.names.liveness(key)));
		if (grants()) {
			names.add(this.names.claims(key));
		}
		return names;
	}

	private void addWaking(List<Object> arguments, String key) {
		arguments.addAll(List.of(key, this.channels, this.reservation, this.skipsDeaf));
	}

	@Override
	public boolean release(Link link, String key, String owner) {
		return isTrue(run(this.release, link, key, false, List.of(owner)));
	}

	@Override
	public List<Boolean> releaseAll(Link link, List<String> keys, String owner) {
		return each(keys, (some) -> releaseAtOnce(link, some, owner));
	}

	private List<Boolean> releaseAtOnce(Link link, List<String> keys, String owner) {
		List<Object> arguments = new ArrayList<>();
		keys.forEach((key) -> arguments.addAll(names(key)));
		int names = arguments.size();
		addWaking(arguments, keys.get(0));
		arguments.add(owner);
		arguments.addAll(keys);
		return areTrue(this.releaseAll.run(link, names, arguments.toArray()));
	}

	@Override
	public boolean withdraw(Link link, String key, Waiter waiter, Set<String> owners) {
		List<String> more = new ArrayList<>(List.of(LockCodec.text(waiter)));
		more.addAll(owners);
		return isTrue(run(this.withdraw, link, key, false, more));
	}

	@Override
	public boolean forget(Link link, Claim claim) {
		return isTrue(
				run(this.forget, link, claim.key(), false, List.of(claim.owner(), LockCodec.text(claim.waiter()))));
	}

	@Override
	public boolean downgrade(Link link, String key, String owner) {
		return isTrue(run(this.downgrade, link, key, false, List.of(owner)));
	}

	private <T> T run(LuaScript script, Link link, String key, boolean fenced, List<?> more) {
		List<Object> all = names(key);
		if (fenced) {
			all.add(this.names.fence(key));
		}
		int keys = all.size();
		addWaking(all, key);
		all.addAll(more);
		return script.run(link, keys, all.toArray());
	}

	@Override
	public boolean leaveToExpire(Link link, String key, String owner, long parkMillis) {
		return isTrue(this.park.run(link, 1, this.names.lock(key), owner, parkMillis));
	}

	@Override
	public List<Boolean> renew(Link link, List<Renewal> renewals) {
		return each(renewals, (some) -> renewAtOnce(link, some));
	}

	/**
	 * Runs one script for all elements, or one script for each element where a script
	 * must keep to one slot. After a script that fails, no other is run: the other
	 * elements would have to wait for the same master. A script for one lock is not
	 * refused while the lock's slot moves.
	 */
	private <T> List<Boolean> each(List<T> all, Function<List<T>, List<Boolean>> script) {
		if (this.takesSeveral) {
			try {
				return script.apply(all);
			}
			catch (RuntimeException ex) {
				if (all.size() == 1 || !RedisRefusal.CROSSSLOT.isIn(ex)) {
					throw ex;
				}
				this.takesSeveral = false;
				logger.warn("Locks are renewed and released one by one, since the server refuses scripts whose keys are"
						+ " in several slots: {}. If it is a node of a cluster, set spring.data.redis.cluster.nodes instead"
						+ " of spring.data.redis.host: locks whose slots move to another node are lost",
						RedisFailures.deepestMessage(ex));
			}
		}
		return all.stream().map((one) -> script.apply(List.of(one)).get(0)).toList();
	}

	private List<Boolean> renewAtOnce(Link link, List<Renewal> renewals) {
		List<Object> arguments = new ArrayList<>();
		renewals.forEach((renewal) -> arguments.add(this.names.lock(renewal.key())));
		renewals.forEach((renewal) -> arguments.addAll(List.of(renewal.owner(), renewal.lease().toMillis())));
		return areTrue(this.renew.run(link, renewals.size(), arguments.toArray()));
	}

	private static List<Boolean> areTrue(List<?> answers) {
		return answers.stream().map(LuaSteps::isTrue).toList();
	}

	private static boolean isTrue(Object answer) {
		return Long.valueOf(1).equals(answer);
	}

	/**
	 * The steps for a lock whose slot moves. Each command and script has one key, and
	 * finds that key on either master. A step that needs a script with several keys has
	 * to wait until the slot has moved.
	 */
	private final class OneKeySteps extends PlainSteps {

		OneKeySteps(OwnConnections connections, RedisLockSettings settings) {
			super(new CompareAndSet.Lua(), connections, settings, new UnansweredRenewals());
		}

		// Plain commands do not release a shared lock, so the script leaves the lock to
		// expire after 1 ms.
		@Override
		public boolean release(Link link, String key, String owner) {
			return super.release(link, key, owner) || LuaSteps.this.leaveToExpire(link, key, owner, 1);
		}

	}

}
