package io.github.distributedlock.engine;

import java.time.Duration;
import java.util.concurrent.TimeUnit;

import io.github.distributedlock.LockEvent.Lost.Reason;
import io.github.distributedlock.LockException;
import io.github.distributedlock.LockStatus.Holder;
import io.github.distributedlock.LockStatus.State;
import io.github.distributedlock.backend.Claim;
import io.github.distributedlock.backend.LockBackend;
import io.github.distributedlock.backend.LockFeature;
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
 * owner, and whose lease lasts as long as that of the owner would have. No store needs
 * anything for that but {@link LockFeature#INSPECTION}. A trace may be left although the
 * release did not happen, since the store failed between the two. Such a trace concerns
 * nobody but an owner that loses its key in another way meanwhile.
 * <p>
 * A holder looks for the trace before the loss is declared, {@value #LOOKS} times a
 * second at most: a store that has lost all keys must not be asked for each one.
 */
final class ForcedReleases {

	private static final Logger logger = LoggerFactory.getLogger(ForcedReleases.class);

	private static final int LOOKS = 10;

	/** The lease of a trace if the store does not say how long the owner has the key. */
	private static final Duration UNKNOWN = Duration.ofMinutes(1);

	/** A shorter lease may end before the trace is looked for. */
	private static final Duration SHORTEST = Duration.ofSeconds(1);

	private final LockBackend backend;

	private final EngineTime time;

	/** The begin of the second in which the looks are counted. */
	private long second;

	private int looks;

	ForcedReleases(LockBackend backend, EngineTime time) {
		this.backend = backend;
		this.time = time;
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
		String trace = trace(owner);
		Claim claim = Claim.of(trace, operator, Claim.instanceOf(operator), lease(holder.remaining()));
		boolean traced = Failures.call("prepare the release by force of", key, () -> this.backend.acquire(claim))
			.acquired();
		boolean owned = Failures.call("release", key, () -> this.backend.release(key, owner));
		if (owned) {
			logger.warn("Lock '{}' of {} was released by force", LockException.printable(key),
					LockException.printable(owner));
		}
		else if (traced) {
			Failures.run(() -> this.backend.release(trace, operator),
					() -> "The end of the trace of a release by force of lock " + LockException.printable(key));
		}
		return owned;
	}

	/**
	 * Returns why the store denies that an owner has its key.
	 */
	Reason reason(String owner) {
		if (!this.backend.features().contains(LockFeature.INSPECTION) || !mayLook()) {
			return Reason.TAKEN;
		}
		try {
			return this.backend.inspect(trace(owner)).isFree() ? Reason.TAKEN : Reason.FORCED_RELEASE;
		}
		catch (RuntimeException ex) {
			logger.debug("Whether the key of {} was released by force is not known", owner, ex);
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
		long now = this.time.nanoTime();
		if (this.looks == 0 || now - this.second >= TimeUnit.SECONDS.toNanos(1)) {
			this.second = now;
			this.looks = 0;
		}
		if (this.looks >= LOOKS) {
			return false;
		}
		this.looks++;
		return true;
	}

	private static Duration lease(@Nullable Duration remaining) {
		Duration lease = (remaining != null) ? Duration.ofMillis(remaining.toMillis()) : UNKNOWN;
		return (lease.compareTo(SHORTEST) < 0) ? SHORTEST : lease;
	}

	/**
	 * Returns the key of the trace, without the names of the application and the host:
	 * some stores accept short keys only.
	 */
	private static String trace(String owner) {
		return "forced-release:" + owner.substring(owner.indexOf('#') + 1);
	}

}
