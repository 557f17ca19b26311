package io.github.distributedlock.backend.redis;

import java.time.Duration;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Random;
import java.util.Set;
import java.util.function.Function;
import java.util.stream.IntStream;
import java.util.stream.Stream;

import io.github.distributedlock.LockMode;
import io.github.distributedlock.backend.AcquireResult;
import io.github.distributedlock.backend.Claim;
import io.github.distributedlock.backend.LockBackend;
import io.github.distributedlock.backend.LockBackend.Renewal;
import io.github.distributedlock.backend.Waiter;
import org.jspecify.annotations.Nullable;

/**
 * Steps of a few instances on a few keys, chosen at random so that they meet: requests of
 * all kinds that come and go, steps that come twice or late, instances that are silent or
 * deaf, and a clock that jumps and is set back.
 * <p>
 * Confined to one thread.
 */
final class RandomSteps {

	private static final int GONE = 6;

	/**
	 * How likely a claim is exclusive, fair, shared, or one of several permits.
	 */
	private static final List<int[]> KINDS = List.of(new int[] { 2, 1, 2, 1 }, new int[] { 2, 0, 0, 0 },
			new int[] { 1, 3, 0, 0 }, new int[] { 2, 0, 3, 0 }, new int[] { 0, 0, 0, 1 }, new int[] { 1, 1, 0, 4 });

	private final Random random;

	private final boolean scripts;

	private final List<String> keys;

	private final int instances;

	private final int[] kinds;

	private final int permits;

	private final int granted;

	private final int pace;

	private final List<Request> requests = new ArrayList<>();

	private final List<Claim> gone = new ArrayList<>();

	private final List<Step> recent = new ArrayList<>();

	private final Set<Long> times = new HashSet<>();

	private final Set<String> deaf = new HashSet<>();

	private final Set<String> silent = new HashSet<>();

	private long now;

	private long latest;

	private Set<String> owning = Set.of();

	private int owners;

	/**
	 * Begins with keys that nobody has used.
	 * @param scripts whether the server runs scripts; otherwise all claims are exclusive,
	 * and no waiter dies of silence
	 * @param now the time of the server in ms
	 */
	RandomSteps(Random random, boolean scripts, List<String> keys, long now) {
		this.random = random;
		this.scripts = scripts;
		this.keys = keys;
		this.now = now;
		this.latest = now;
		this.instances = 2 + random.nextInt(3);
		this.kinds = any(KINDS);
		this.permits = 2 + random.nextInt(2);
		this.granted = random.nextInt(3) * 45;
		this.pace = any(List.of(10, 40, 150));
		int count = 3 + random.nextInt(5);
		for (int i = 0; i < count; i++) {
			this.requests.add(request());
		}
	}

	/**
	 * A step.
	 *
	 * @param text the step in words
	 * @param keys the user's keys that the step concerns
	 * @param waiter the waiter that the step may register
	 * @param action carries out the step
	 */
	record Step(String text, List<String> keys, @Nullable Waiter waiter, Function<LockBackend, Object> action) {
	}

	private static final class Request {

		private final Claim claim;

		private long number;

		private Request(Claim claim) {
			this.claim = claim;
		}

	}

	/**
	 * Returns the time of the next step, in ms.
	 * @param limit after which time none is chosen, unless long after
	 */
	long time(long limit) {
		int fate = this.random.nextInt(100);
		if (fate < 4 && this.scripts) {
			this.now -= 1 + this.random.nextInt((fate == 0) ? 2_000 : 40);
		}
		else if (fate < 8) {
			this.now += 880 + this.random.nextInt(40);
		}
		else if (fate < 10) {
			this.now += 1 + this.random.nextInt(3_000);
		}
		else {
			this.now += 1 + this.random.nextInt(this.pace);
		}
		this.latest = Math.max(this.latest, this.now);
		if (this.scripts && (this.now > limit || this.random.nextInt(500) == 0)) {
			this.now = this.latest + 30_000;
			this.latest = this.now;
		}
		// Scripts take a waiter that is pardoned, and one that asked in the same
		// millisecond, for heard a millisecond apart.
		while (!this.times.add(this.now)) {
			this.now++;
		}
		return this.now;
	}

	Set<String> deaf() {
		return this.deaf;
	}

	/**
	 * Chooses the next step.
	 * @param owners those that own a key
	 */
	Step next(Set<String> owners) {
		this.owning = owners;
		change();
		if (!this.recent.isEmpty() && chance(8)) {
			return any(this.recent);
		}
		Step step = step();
		this.recent.add(step);
		if (this.recent.size() > GONE) {
			this.recent.remove(0);
		}
		return step;
	}

	private void change() {
		if (chance(5)) {
			Request old = this.requests.remove(this.random.nextInt(this.requests.size()));
			this.gone.add(old.claim);
			if (this.gone.size() > GONE) {
				this.gone.remove(0);
			}
			this.requests.add(request());
		}
		if (chance(4)) {
			flip(this.silent);
		}
		if (chance(2)) {
			flip(this.deaf);
		}
		else if (chance(4)) {
			this.deaf.clear();
		}
	}

	private void flip(Set<String> instances) {
		String instance = instance();
		if (!instances.remove(instance)) {
			instances.add(instance);
		}
	}

	private Request request() {
		String instance = instance();
		Claim claim = Claim.of(key(), owner(instance), instance,
				Duration.ofMillis(100 + this.random.nextInt(chance(50) ? 500 : 6_000)));
		if (chance(25)) {
			claim = claim.fenced(true);
		}
		if (!this.scripts) {
			return new Request(claim);
		}
		int kind = this.random.nextInt(IntStream.of(this.kinds).sum());
		if ((kind -= this.kinds[0]) < 0) {
			return new Request(claim);
		}
		if ((kind -= this.kinds[1]) < 0) {
			return new Request(claim.fair(true));
		}
		return new Request(((kind - this.kinds[2]) < 0) ? claim.mode(LockMode.SHARED)
				: claim.permits(chance(80) ? this.permits : 4));
	}

	private String instance() {
		return "i" + this.random.nextInt(this.instances);
	}

	private String key() {
		return this.keys.get(chance(85) ? 0 : this.random.nextInt(this.keys.size()));
	}

	private Request living() {
		for (int i = 0; i < 20; i++) {
			Request one = any(this.requests);
			if (!this.silent.contains(one.claim.instance())) {
				return one;
			}
		}
		this.silent.clear();
		return any(this.requests);
	}

	private Claim any() {
		if (chance(40)) {
			List<Claim> owners = Stream.concat(this.requests.stream().map((one) -> one.claim), this.gone.stream())
				.filter((claim) -> this.owning.contains(claim.owner()) && !this.silent.contains(claim.instance()))
				.toList();
			if (!owners.isEmpty()) {
				return any(owners);
			}
		}
		return (!this.gone.isEmpty() && chance(8)) ? any(this.gone) : living().claim;
	}

	/**
	 * Returns a request to which an owner may pass a key on.
	 */
	private Request next(Claim claim) {
		return this.requests.stream()
			.filter((one) -> one.claim.key().equals(claim.key())
					&& one.claim.waiter().equals(Waiter.exclusive(claim.instance())))
			.skip(this.random.nextInt(2))
			.findFirst()
			.orElseGet(
					() -> new Request(Claim.of(claim.key(), owner(claim.instance()), claim.instance(), claim.lease())));
	}

	private String owner(String instance) {
		return instance + ":" + ++this.owners + ((this.scripts && chance(30)) ? Claim.RECALLABLE : "");
	}

	/**
	 * Returns a further attempt of a request, with a number if the server may grant the
	 * key to the request.
	 */
	private Claim attempt(Request request) {
		Claim claim = request.claim;
		if (this.scripts && this.random.nextInt(100) < this.granted) {
			claim = claim.number(++request.number);
			claim = chance(50) ? claim.grantLease(Duration.ofMillis(200 + this.random.nextInt(2_000))) : claim;
		}
		return (this.scripts && chance(15)) ? claim.replacing(others(claim)) : claim;
	}

	/**
	 * Some owners of the same instance.
	 */
	private Set<String> others(Claim claim) {
		Set<String> owners = new HashSet<>();
		for (int i = 0; i < 2; i++) {
			Claim other = any();
			if (other.instance().equals(claim.instance()) && !other.owner().equals(claim.owner())) {
				owners.add(other.owner());
			}
		}
		return owners;
	}

	private Step step() {
		int fate = this.random.nextInt(100);
		if (fate < 38) {
			Claim claim = attempt(living());
			return new Step("acquireOrRegister " + claim, List.of(claim.key()), claim.waiter(),
					(backend) -> backend.acquireOrRegister(claim));
		}
		if (fate < 45) {
			Claim claim = attempt(living());
			return step("acquire " + claim, claim, (backend) -> acquire(backend, claim));
		}
		Claim claim = any();
		String key = claim.key();
		String owner = claim.owner();
		if (fate < 64) {
			return step("release " + owner, claim, (backend) -> backend.release(key, owner));
		}
		if (fate < 74) {
			Claim next = attempt(next(claim));
			boolean yields = this.random.nextBoolean();
			return new Step("pass from " + owner + (yields ? " yielding to " : " to ") + next, List.of(key),
					next.waiter(), (backend) -> pass(backend, owner, next, yields));
		}
		if (fate < 80) {
			Duration lease = Duration.ofMillis(50 + this.random.nextInt(3_000));
			Renewal renewal = new Renewal(key, owner, lease, claim.mode());
			return step("renew " + renewal, claim, (backend) -> backend.renew(List.of(renewal)));
		}
		if (fate < 84) {
			Duration rest = Duration.ofMillis(1 + this.random.nextInt(1_000));
			return step("leaveToExpire " + owner + " " + rest, claim,
					(backend) -> backend.leaveToExpire(key, owner, rest));
		}
		if (fate < 89) {
			Set<String> owners = others(claim);
			return step("withdraw " + claim.waiter() + " " + owners, claim, (backend) -> {
				backend.withdraw(key, claim.waiter(), owners);
				return "";
			});
		}
		if (fate < 93) {
			return step("forget " + claim, claim, (backend) -> {
				backend.forget(claim);
				return "";
			});
		}
		if (fate < 97 && this.scripts) {
			return step("downgrade " + owner, claim, (backend) -> backend.downgrade(key, owner));
		}
		return new Step("releaseAll " + owner, this.keys, null, (backend) -> backend.releaseAll(this.keys, owner));
	}

	/**
	 * Without scripts, a claim that does not register leaves the place of the waiter
	 * alone, since an end of the place would cost a command.
	 */
	private Object acquire(LockBackend backend, Claim claim) {
		AcquireResult result = backend.acquire(claim);
		if (!this.scripts && result.acquired()) {
			backend.withdraw(claim.key(), claim.waiter(), Set.of());
		}
		return result;
	}

	/**
	 * Without scripts, an instance keeps a place in the queue, since to end the place
	 * would cost a command.
	 */
	private Object pass(LockBackend backend, String owner, Claim next, boolean yields) {
		if (!this.scripts) {
			backend.withdraw(next.key(), next.waiter(), Set.of());
		}
		return backend.pass(owner, next, yields);
	}

	private static Step step(String text, Claim claim, Function<LockBackend, Object> action) {
		return new Step(text, List.of(claim.key()), null, action);
	}

	private <T> T any(List<T> all) {
		return all.get(this.random.nextInt(all.size()));
	}

	private boolean chance(int percent) {
		return this.random.nextInt(100) < percent;
	}

}
