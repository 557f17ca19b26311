package io.github.distributedlock.shedlock;

import java.time.Duration;
import java.util.Objects;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.function.Function;

import io.github.distributedlock.CurrentLock;
import io.github.distributedlock.DistributedLock;
import io.github.distributedlock.DurationRange;
import io.github.distributedlock.LockBackendException;
import io.github.distributedlock.LockException;
import io.github.distributedlock.LockHandle;
import io.github.distributedlock.LockRequest;
import io.github.distributedlock.UndoableHandle;
import net.javacrumbs.shedlock.core.ExtensibleLockProvider;
import net.javacrumbs.shedlock.core.LockConfiguration;
import net.javacrumbs.shedlock.core.SimpleLock;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * ShedLock's {@link net.javacrumbs.shedlock.core.LockProvider}, whose locks can be
 * extended.
 * <p>
 * The name of a lock is its key, {@code lockAtLeastFor} its
 * {@linkplain LockRequest#minHoldTime(Duration) shortest hold}. The lease is renewed
 * until {@code lockAtMostFor} is over, when the lock is given back though its task may
 * still run. So the lock of a JVM that died is free after one lease, however long
 * {@code lockAtMostFor} is. A lock is never reentrant. Safe for use by many threads.
 */
public final class DistributedLockProvider implements ExtensibleLockProvider {

	private static final Logger logger = LoggerFactory.getLogger(DistributedLockProvider.class);

	private static final String NAME = "shedlock";

	private final DistributedLock distributedLock;

	private final Function<Duration, CompletableFuture<@Nullable Void>> timer;

	/**
	 * Creates it.
	 * @param distributedLock what acquires and releases
	 */
	public DistributedLockProvider(DistributedLock distributedLock) {
		this(distributedLock, DistributedLockProvider::after);
	}

	DistributedLockProvider(DistributedLock distributedLock,
			Function<Duration, CompletableFuture<@Nullable Void>> timer) {
		this.distributedLock = Objects.requireNonNull(distributedLock, "distributedLock");
		this.timer = timer;
	}

	private static CompletableFuture<@Nullable Void> after(Duration duration) {
		return new CompletableFuture<@Nullable Void>().completeOnTimeout(null, duration.toMillis(),
				TimeUnit.MILLISECONDS);
	}

	/**
	 * Tries to acquire a lock, without waiting.
	 * @param configuration its name, and how long to hold it
	 * @return the lock, or empty if it is busy, be it that the calling thread has it, or
	 * if the application is stopping
	 * @throws IllegalArgumentException if {@code lockAtMostFor} is longer than 365 days
	 * @throws io.github.distributedlock.LockBackendException if the store failed or
	 * refused
	 */
	@Override
	public Optional<SimpleLock> lock(LockConfiguration configuration) {
		LockRequest request = request(configuration);
		if (CurrentLock.find(configuration.getName(), this::isHeldHere).isPresent()) {
			return Optional.empty();
		}
		try {
			return this.distributedLock.tryAcquire(request).map((handle) -> held(handle, configuration));
		}
		catch (LockBackendException ex) {
			if (!ex.isStopped()) {
				throw ex;
			}
			logger.info("Job '{}' is not run: {}", LockException.printable(configuration.getName()), ex.getMessage());
			return Optional.empty();
		}
	}

	private boolean isHeldHere(LockHandle handle) {
		return this.distributedLock.owns(handle) && handle.isHeld();
	}

	/**
	 * Re-enters a lock, for as long as a configuration says, by a handle that is to take
	 * over. Changes nothing if it fails.
	 * @return empty if the lock was lost
	 */
	private Optional<SimpleLock> extend(LockHandle handle, LockConfiguration configuration) {
		LockRequest request = request(configuration);
		if (!handle.isHeld()) {
			return Optional.empty();
		}
		try (CurrentLock binding = CurrentLock.bind(handle)) {
			return this.distributedLock.tryAcquire(request)
				.filter((longer) -> isSame(longer, handle))
				.map((longer) -> held(longer, configuration));
		}
	}

	/**
	 * Whether a lock was re-entered. If it was lost a moment ago, and acquired anew, that
	 * is undone.
	 */
	private static boolean isSame(LockHandle longer, LockHandle handle) {
		boolean same = longer.owner().equals(handle.owner());
		if (!same) {
			UndoableHandle.undo(longer);
		}
		return same;
	}

	private SimpleLock held(LockHandle handle, LockConfiguration configuration) {
		try {
			return new TaskLock(configuration, handle, this.timer.apply(configuration.getLockAtMostFor()),
					this::extend);
		}
		catch (RuntimeException | Error ex) {
			UndoableHandle.undo(handle);
			throw ex;
		}
	}

	private static LockRequest request(LockConfiguration configuration) {
		DurationRange.WAIT.check("lockAtMostFor", configuration.getLockAtMostFor());
		LockRequest request = LockRequest.of(configuration.getName()).name(NAME).detached(true).awaitedOnStop(true);
		Duration atLeast = configuration.getLockAtLeastFor();
		return (atLeast.toMillis() > 0) ? request.minHoldTime(atLeast) : request;
	}

}
