package io.github.distributedlock.engine;

import java.time.Duration;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.Consumer;

import io.github.distributedlock.LockEvent.Lost.Reason;
import io.github.distributedlock.LockException;
import io.github.distributedlock.LockStatus.Holder;
import io.github.distributedlock.LockStatus.State;
import io.github.distributedlock.backend.Claim;
import io.github.distributedlock.backend.LockBackend;
import io.github.distributedlock.backend.LockFeature;
import io.github.distributedlock.engine.EngineTime.Workers;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Releases by force, and the question whether a lost key was lost to one. Safe for use by
 * many threads.
 * <p>
 * A holder of another JVM hears nothing of a release by force until the store denies a
 * renewal. To tell a release by force from a deleted key, the operator's JVM leaves a
 * <em>trace</em> in the store before the release: an ordinary key that is named after the
 * owner and the key, and whose lease lasts as long as that of the owner would have. No
 * store needs anything for that but {@link LockFeature#INSPECTION}. A trace is best
 * effort, and does not prove a release: the store may fail between the two, and the owner
 * may end by itself. Such a trace concerns nobody but an owner that loses this key in
 * another way meanwhile, and stays, since another operator may rely on the trace.
 * <p>
 * A loss tells its reason, so a holder looks for the trace before the loss is declared.
 * No renewal waits for a look, and no loss longer than a second. A store that has lost
 * all keys is not asked for each one, but {@value #LOOKS} times a second at most, and a
 * store that did not answer a look in time is not asked for some seconds.
 */
final class ForcedReleases {

	private static final Logger logger = LoggerFactory.getLogger(ForcedReleases.class);

	private static final int LOOKS = 10;

	/** For how long a loss waits for a look. */
	private static final long PATIENCE = TimeUnit.SECONDS.toNanos(1);

	/** For how long the store is not asked after a look that failed or took long. */
	private static final long PAUSE = TimeUnit.SECONDS.toNanos(5);

	/** The lease of a trace if the store does not say how long the owner has the key. */
	private static final Duration UNKNOWN = Duration.ofMinutes(1);

	/** A shorter lease may end before the trace is looked for. */
	private static final Duration SHORTEST = Duration.ofSeconds(1);

	private final LockBackend backend;

	private final EngineTime time;

	private final Workers workers;

	/** The begin of the period in which the looks are counted. */
	private long begin;

	/** The length of that period: a second, or a pause after a failure. */
	private long period;

	private int looks;

	ForcedReleases(LockBackend backend, EngineTime time, Workers workers) {
		this.backend = backend;
		this.time = time;
		this.workers = workers;
		this.begin = time.nanoTime();
	}

	/**
	 * Takes a key from an owner.
	 * @param operator a new owner token of this JVM
	 * @return whether the owner had the key; {@code false} if nothing was changed
	 */
	boolean release(String key, String owner, String operator) {
		Holder holder = Failures.call("inspect", key, () -> this.backend.inspect(key))
			.holders()
			.stream()
			.filter((each) -> each.state() == State.HELD && each.owner().equals(owner))
			.findFirst()
			.orElse(null);
		if (holder == null) {
			return false;
		}
		leaveTrace(key, owner, operator, lease(holder.remaining()));
		boolean owned = Failures.call("release", key, () -> this.backend.release(key, owner));
		if (owned) {
			logger.warn("Lock '{}' of {} was released by force", LockException.printable(key),
					LockException.printable(owner));
		}
		return owned;
	}

	private void leaveTrace(String key, String owner, String operator, Duration lease) {
		String trace = trace(key, owner);
		try {
			Failures.call("leave a trace of the release by force", key,
					() -> this.backend.acquire(Claim.of(trace, operator, Claim.instanceOf(operator), lease)));
		}
		catch (RuntimeException ex) {
			logger.warn(
					"The store refused the trace '{}' of the release by force of lock '{}', so that a holder elsewhere"
							+ " calls its loss TAKEN: {}",
					LockException.printable(trace), LockException.printable(key), ex.toString());
		}
	}

	/**
	 * Finds out why the store denies that an owner has its key. Asks the store on the
	 * calling thread, at most once in some seconds if the store answers late.
	 */
	Reason reason(String key, String owner) {
		return mayLook() ? look(key, owner) : Reason.TAKEN;
	}

	/**
	 * Finds out why the store denies that an owner has its key. Asks the store on a
	 * background thread.
	 * @param found gets the reason once, on any thread, in a second at the latest
	 */
	void findReason(String key, String owner, Consumer<Reason> found) {
		if (!mayLook()) {
			found.accept(Reason.TAKEN);
			return;
		}
		AtomicBoolean told = new AtomicBoolean();
		Consumer<Reason> once = (reason) -> {
			if (told.compareAndSet(false, true)) {
				found.accept(reason);
			}
		};
		boolean begun = Failures.run(() -> {
			Runnable cancel = this.time.schedule(() -> {
				pause();
				once.accept(Reason.TAKEN);
			}, PATIENCE);
			this.workers.background(() -> {
				if (!told.get()) {
					once.accept(look(key, owner));
					cancel.run();
				}
			});
		}, () -> "The look for a release by force of lock " + LockException.printable(key));
		if (!begun) {
			once.accept(Reason.TAKEN);
		}
	}

	private Reason look(String key, String owner) {
		long begun = this.time.nanoTime();
		try {
			boolean traced = !Failures.call("inspect", key, () -> this.backend.inspect(trace(key, owner))).isFree();
			if (this.time.nanoTime() - begun >= PATIENCE) {
				pause();
			}
			return traced ? Reason.FORCED_RELEASE : Reason.TAKEN;
		}
		catch (RuntimeException ex) {
			pause();
			logger.debug("Whether lock '{}' of {} was released by force is not known", LockException.printable(key),
					owner, ex);
			return Reason.TAKEN;
		}
	}

	/**
	 * Returns whether a key is gone from the store for this reason, so that nothing has
	 * to be cleaned up.
	 */
	static boolean isGone(Reason reason) {
		return reason == Reason.TAKEN || reason == Reason.FORCED_RELEASE;
	}

	private synchronized boolean mayLook() {
		if (!this.backend.features().contains(LockFeature.INSPECTION)) {
			return false;
		}
		long now = this.time.nanoTime();
		if (now - this.begin >= this.period) {
			this.begin = now;
			this.period = TimeUnit.SECONDS.toNanos(1);
			this.looks = 0;
		}
		return this.looks++ < LOOKS;
	}

	private synchronized void pause() {
		this.begin = this.time.nanoTime();
		this.period = PAUSE;
		this.looks = LOOKS;
	}

	private static Duration lease(@Nullable Duration remaining) {
		Duration lease = (remaining != null) ? Duration.ofMillis(remaining.toMillis()) : UNKNOWN;
		return (lease.compareTo(SHORTEST) < 0) ? SHORTEST : lease;
	}

	/**
	 * Returns the key of the trace, without the names of the application and the host,
	 * and with a hash in the place of the key: some stores accept short keys only. All
	 * keys of a request share the owner.
	 */
	private static String trace(String key, String owner) {
		return "forced-release:" + owner.substring(owner.indexOf('#') + 1) + ":" + Integer.toHexString(key.hashCode());
	}

}
