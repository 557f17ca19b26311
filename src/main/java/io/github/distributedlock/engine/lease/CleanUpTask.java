package io.github.distributedlock.engine.lease;

import java.util.concurrent.TimeUnit;

import io.github.distributedlock.engine.runtime.Backoff;
import io.github.distributedlock.engine.runtime.Store;
import io.github.distributedlock.backend.Claim;
import org.jspecify.annotations.Nullable;

/**
 * One owner-checked release that the store may not have heard. Its schedule is confined
 * to the sweep, but for a last try at the engine's end, after which nothing counts.
 */
final class CleanUpTask {

	private static final long SHORTEST_PAUSE = TimeUnit.MILLISECONDS.toNanos(100);

	private static final long LONGEST_PAUSE = TimeUnit.SECONDS.toNanos(1);

	final String key;

	final String owner;

	/**
	 * What to undo; {@code null} if all of it was answered, but for the release.
	 */
	private final @Nullable Claim claim;

	private final long restEnd;

	/**
	 * For how long it is repeated after the first answer.
	 */
	private final long settling;

	private @Nullable Long end;

	private long due;

	private final Backoff pauses = new Backoff(SHORTEST_PAUSE, LONGEST_PAUSE);

	/**
	 * Creates a task that is due now.
	 * @param rest for how much longer the key is to block others, or 0
	 * @param end when it need not be run any more, {@code null} if not known before the
	 * first answer
	 */
	CleanUpTask(String key, String owner, long rest, long now, @Nullable Long end) {
		this(key, owner, null, now + rest, now, end, 0);
	}

	/**
	 * Creates a task that is due now.
	 * @param settling for how long it is repeated after the first answer
	 */
	CleanUpTask(Claim claim, long now, long settling) {
		this(claim.key(), claim.owner(), claim, now, now, null, settling);
	}

	private CleanUpTask(String key, String owner, @Nullable Claim claim, long restEnd, long now, @Nullable Long end,
			long settling) {
		this.key = key;
		this.owner = owner;
		this.claim = claim;
		this.restEnd = restEnd;
		this.due = now;
		this.end = end;
		this.settling = settling;
	}

	void run(Store store, long now) {
		if (this.claim != null) {
			store.forget(this.claim);
		}
		else {
			store.release(this.key, this.owner, Math.max(0, this.restEnd - now));
		}
	}

	boolean isDone(long now) {
		return this.end != null && now - this.end >= 0;
	}

	boolean isDue(long now) {
		return now - this.due >= 0;
	}

	void answered(long now) {
		if (this.end == null || this.settling == 0) {
			this.end = now + this.settling;
		}
		postpone(now);
	}

	void postpone(long now) {
		this.due = now + this.pauses.next();
	}

}
