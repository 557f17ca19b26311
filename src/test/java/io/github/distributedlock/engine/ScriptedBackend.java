package io.github.distributedlock.engine;

import io.github.distributedlock.backend.ForwardingLockBackend;
import io.github.distributedlock.backend.LockBackend.Renewal;
import io.github.distributedlock.fixtures.SmallestBackend;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Queue;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.function.Consumer;
import java.util.function.Supplier;

import io.github.distributedlock.LockBackendException;
import io.github.distributedlock.LockRequest;
import io.github.distributedlock.backend.AcquireResult;
import io.github.distributedlock.backend.Claim;
import io.github.distributedlock.backend.LockBackend.HandOverResult;
import io.github.distributedlock.backend.LockBackend.Listening;
import io.github.distributedlock.backend.LockFeature;
import io.github.distributedlock.backend.ReleaseListener;
import io.github.distributedlock.backend.ReleaseNotification;
import io.github.distributedlock.backend.Waiter;
import io.github.distributedlock.backend.memory.InMemoryLockBackend;

/**
 * A store whose steps are noted, and go wrong where a test says so.
 */
public final class ScriptedBackend extends ForwardingLockBackend {

	/**
	 * Takes the place of a step, which is carried out otherwise.
	 */
	public interface Fault {

		Object apply(Supplier<?> step);

	}

	public static final Fault LOST_REQUEST = (step) -> {
		throw LockBackendException.of("timed out").retryable(true).build();
	};

	public static final Fault LOST_REPLY = (step) -> {
		step.get();
		throw LockBackendException.of("timed out").retryable(true).build();
	};

	static final Fault REFUSED = (step) -> {
		throw LockBackendException.of("not allowed").withoutEffect(true).build();
	};

	public static final Fault NOT_NOW = (step) -> {
		throw LockBackendException.of("out of memory").retryable(true).withoutEffect(true).build();
	};

	private final List<String> steps = new CopyOnWriteArrayList<>();

	private final Map<String, Queue<Fault>> faults = new ConcurrentHashMap<>();

	private final Map<String, Fault> always = new ConcurrentHashMap<>();

	private volatile String instance;

	private volatile ReleaseListener listener;

	private volatile boolean deaf;

	private volatile boolean silent;

	private volatile boolean exclusiveOnly;

	private volatile boolean granting;

	private volatile boolean together;

	private volatile boolean sayingFails;

	private volatile Consumer<ReleaseNotification> grants = (grant) -> this.listener.onRelease(grant);

	private volatile Consumer<Claim> registrations = (claim) -> {
	};

	private volatile Consumer<Claim> claims = (claim) -> {
	};

	private volatile Consumer<Renewal> renewals = (renewal) -> {
	};

	public ScriptedBackend(InMemoryLockBackend delegate) {
		super(delegate);
	}

	/**
	 * The steps so far, such as {@code acquire k}.
	 */
	public List<String> steps() {
		return this.steps;
	}

	/**
	 * Lets the store release several keys in one step, or one by one.
	 */
	void releasesTogether(boolean together) {
		this.together = together;
	}

	void failsToSayHowMany() {
		this.sayingFails = true;
	}

	public void forgetSteps() {
		this.steps.clear();
	}

	/**
	 * The next step of a name goes wrong; the one after the next with a further call.
	 */
	public void next(String step, Fault fault) {
		this.faults.computeIfAbsent(step, (s) -> new ConcurrentLinkedQueue<>()).add(fault);
	}

	/**
	 * Something happens before the next step of a name is carried out.
	 */
	public void before(String step, Runnable action) {
		next(step, (carriedOut) -> {
			action.run();
			return carriedOut.get();
		});
	}

	/**
	 * Something happens after the next step of a name was carried out, and before the
	 * answer arrives.
	 */
	public void after(String step, Runnable action) {
		next(step, (carriedOut) -> {
			Object answer = carriedOut.get();
			action.run();
			return answer;
		});
	}

	/**
	 * Every step goes wrong until {@link #works()}.
	 */
	public void breaks(Fault fault) {
		this.always.put("", fault);
	}

	public void works() {
		this.always.clear();
	}

	/**
	 * Notifies nobody, but keeps places all the same.
	 */
	public void silent() {
		this.silent = true;
	}

	/**
	 * Wake-ups do not arrive, so that no places are kept, or do again.
	 */
	public void deaf(boolean deaf) {
		this.deaf = deaf;
	}

	/**
	 * Is one that can do neither shared nor fair locks.
	 */
	public void exclusiveOnly() {
		this.exclusiveOnly = true;
	}

	/**
	 * Grants released keys from now on.
	 */
	public void granting() {
		this.granting = true;
	}

	/**
	 * Gets the messages of grants, in place of the engine.
	 */
	public void onGrant(Consumer<ReleaseNotification> grants) {
		this.grants = grants;
	}

	public void onRegister(Consumer<Claim> registrations) {
		this.registrations = registrations;
	}

	public void onAcquire(Consumer<Claim> claims) {
		this.claims = claims;
	}

	public void onRenew(Consumer<Renewal> renewals) {
		this.renewals = renewals;
	}

	/**
	 * The engine's name.
	 */
	public String instance() {
		return this.instance;
	}

	public ReleaseListener listener() {
		return this.listener;
	}

	@SuppressWarnings("unchecked")
	private <T> T step(String step, String key, Supplier<T> action) {
		Queue<Fault> queue = this.faults.get(step);
		Fault fault = (queue != null) ? queue.poll() : null;
		this.steps.add(step + " " + key); // The fate of the step is known by now.
		fault = (fault != null) ? fault : this.always.get("");
		return (T) ((fault != null) ? fault.apply(action) : action.get());
	}

	@Override
	public Set<LockFeature> features() {
		return this.exclusiveOnly ? Set.of() : this.delegate.features();
	}

	/**
	 * Goes wrong by {@link #next}. The question is no step, since what a store can do is
	 * mostly known.
	 */
	@Override
	public void checkSupport(LockRequest request) {
		goWrong("check");
		if (this.exclusiveOnly) {
			new SmallestBackend().checkSupport(request);
		}
	}

	private void goWrong(String question) {
		Queue<Fault> queue = this.faults.get(question);
		Fault fault = (queue != null) ? queue.poll() : null;
		if (fault != null) {
			fault.apply(() -> true);
		}
	}

	@Override
	public boolean keepsPlacesOf(String instance) {
		return !this.deaf;
	}

	@Override
	public AcquireResult acquire(Claim claim) {
		this.claims.accept(claim);
		return step("acquire", claim.key(), () -> this.delegate.acquire(claim));
	}

	@Override
	public AcquireResult acquireOrRegister(Claim claim) {
		this.registrations.accept(claim);
		return step("register", claim.key(), () -> {
			AcquireResult attempt = this.delegate.acquireOrRegister(claim);
			if (this.deaf && !claim.fair() && !attempt.acquired()) {
				this.delegate.withdraw(claim.key(), claim.waiter(), Set.of());
			}
			return attempt;
		});
	}

	@Override
	public HandOverResult pass(String owner, Claim next, boolean yields) {
		this.claims.accept(next);
		return step(yields ? "yield" : "pass", next.key(), () -> this.delegate.pass(owner, next, yields));
	}

	@Override
	public boolean grantsTo(String instance) {
		goWrong("grantsTo");
		return this.granting && !this.deaf;
	}

	@Override
	public void withdraw(String key, Waiter waiter, Set<String> owners) {
		step("withdraw", key, () -> {
			this.delegate.withdraw(key, waiter, owners);
			return true;
		});
	}

	@Override
	public void forget(Claim claim) {
		step(this.granting ? "forget" : "release", claim.key(), () -> {
			this.delegate.forget(claim);
			return true;
		});
	}

	@Override
	public List<Boolean> renew(List<Renewal> renewals) {
		renewals.forEach(this.renewals);
		String keys = (renewals.size() == 1) ? renewals.get(0).key() : String.valueOf(renewals.size());
		return step("renew", keys, () -> this.delegate.renew(renewals));
	}

	@Override
	public boolean release(String key, String owner) {
		return step("release", key, () -> this.delegate.release(key, owner));
	}

	@Override
	public int largestRelease() {
		if (this.sayingFails) {
			throw new InternalError("thrown by the test");
		}
		return this.together ? largestBatch() : super.largestRelease();
	}

	@Override
	public List<Boolean> releaseAll(List<String> keys, String owner) {
		return step("release-all", String.valueOf(keys.size()), () -> this.delegate.releaseAll(keys, owner));
	}

	@Override
	public boolean downgrade(String key, String owner) {
		return step("downgrade", key, () -> this.delegate.downgrade(key, owner));
	}

	@Override
	public boolean leaveToExpire(String key, String owner, Duration rest) {
		return step("expire", key, () -> this.delegate.leaveToExpire(key, owner, rest));
	}

	@Override
	public Listening listen(String instance, ReleaseListener listener) {
		this.instance = instance;
		this.listener = listener;
		Listening listening = this.delegate.listen(instance, new ReleaseListener() {

			@Override
			public void onRelease(ReleaseNotification notification) {
				if (notification.owner() != null) {
					ScriptedBackend.this.grants.accept(notification);
				}
				else {
					listener.onRelease(notification);
				}
			}

			@Override
			public void onResubscribed() {
				listener.onResubscribed();
			}

		});
		return new Listening() {

			@Override
			public boolean hears() {
				return !ScriptedBackend.this.deaf && !ScriptedBackend.this.silent;
			}

			@Override
			public void close() {
				listening.close();
			}

		};
	}

	@Override
	public Object node(String key) {
		return key.startsWith("node-") ? key.substring(0, 6) : "";
	}

}
