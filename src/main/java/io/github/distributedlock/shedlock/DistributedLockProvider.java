package io.github.distributedlock.shedlock;

import java.time.Duration;
import java.util.Objects;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.function.Function;

import io.github.distributedlock.CurrentLock;
import io.github.distributedlock.DistributedLock;
import io.github.distributedlock.LockHandle;
import io.github.distributedlock.LockRequest;
import net.javacrumbs.shedlock.core.ExtensibleLockProvider;
import net.javacrumbs.shedlock.core.LockConfiguration;
import net.javacrumbs.shedlock.core.SimpleLock;
import org.jspecify.annotations.Nullable;

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
	 * @return the lock, or empty if it is busy, be it that the calling thread has it
	 * @throws io.github.distributedlock.LockBackendException if the store failed or
	 * refused
	 */
	@Override
	public Optional<SimpleLock> lock(LockConfiguration configuration) {
		if (CurrentLock.find(configuration.getName(), LockHandle::isHeld).isPresent()) {
			return Optional.empty();
		}
		return acquire(configuration).map((handle) -> held(handle, configuration));
	}

	private SimpleLock held(LockHandle handle, LockConfiguration configuration) {
		return new TaskLock(configuration, handle, this.timer.apply(configuration.getLockAtMostFor()), this::extend);
	}

	/**
	 * Re-enters a lock by a handle that takes over, for as long as a configuration says.
	 * @return empty if the lock was lost
	 */
	private Optional<SimpleLock> extend(LockHandle handle, LockConfiguration configuration) {
		try (LockHandle before = handle; CurrentLock binding = CurrentLock.bind(before)) {
			if (!before.isHeld()) {
				return Optional.empty();
			}
			Optional<LockHandle> longer = acquire(configuration);
			if (longer.isPresent() && !longer.get().owner().equals(before.owner())) {
				longer.get().close(); // It was lost a moment ago, and acquired anew.
				return Optional.empty();
			}
			return longer.map((same) -> held(same, configuration));
		}
	}

	private Optional<LockHandle> acquire(LockConfiguration configuration) {
		LockRequest request = LockRequest.of(configuration.getName()).name(NAME).detached(true).awaitedOnStop(true);
		Duration atLeast = configuration.getLockAtLeastFor();
		return this.distributedLock.tryAcquire((atLeast.toMillis() > 0) ? request.minHoldTime(atLeast) : request);
	}

}
