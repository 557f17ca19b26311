package io.github.distributedlock.shedlock;

import java.time.Duration;
import java.util.Objects;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Future;
import java.util.function.Function;

import io.github.distributedlock.DistributedLock;
import io.github.distributedlock.LockBackendException;
import io.github.distributedlock.LockException;
import io.github.distributedlock.LockHandle;
import io.github.distributedlock.LockRequest;
import io.github.distributedlock.internal.Binding;
import io.github.distributedlock.internal.DaemonThreads;
import net.javacrumbs.shedlock.core.AbstractSimpleLock;
import net.javacrumbs.shedlock.core.ExtensibleLockProvider;
import net.javacrumbs.shedlock.core.LockConfiguration;
import net.javacrumbs.shedlock.core.SimpleLock;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * A {@link net.javacrumbs.shedlock.core.LockProvider} for ShedLock, whose locks can be
 * extended.
 * <p>
 * The name of a lock is the key, {@code lockAtLeastFor} the
 * {@linkplain LockRequest#minHoldTime(Duration) shortest hold}. The lease is renewed
 * until {@code lockAtMostFor} is over; then the lock is released although the task may
 * still run. So the lock of a JVM that died is free after one lease, however long
 * {@code lockAtMostFor} is. A lock is never reentrant. Safe for use by many threads.
 *
 * @since 1.0
 */
public final class DistributedLockProvider implements ExtensibleLockProvider {

	private static final Logger logger = LoggerFactory.getLogger(DistributedLockProvider.class);

	private static final String NAME = "shedlock";

	private static final Duration LONGEST = Duration.ofDays(365);

	private final DistributedLock distributedLock;

	private final Function<Duration, CompletableFuture<@Nullable Void>> timer;

	/**
	 * Creates the provider.
	 * @param distributedLock acquires and releases the locks
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
		CompletableFuture<@Nullable Void> end = new CompletableFuture<>();
		Future<?> delay = DaemonThreads.delay(() -> end.complete(null), duration.toNanos());
		end.whenComplete((nothing, cancelled) -> delay.cancel(false));
		return end;
	}

	/**
	 * Tries to acquire a lock, without waiting.
	 * @param configuration the name of the lock, and how long to hold the lock
	 * @return the lock, or empty if the lock is busy, even if the calling thread has it,
	 * or if the application is stopping
	 * @throws IllegalArgumentException if {@code lockAtMostFor} is longer than 365 days
	 * @throws io.github.distributedlock.LockBackendException if the store failed or
	 * refused
	 */
	@Override
	public Optional<SimpleLock> lock(LockConfiguration configuration) {
		LockRequest request = request(configuration);
		if (Binding.find(configuration.getName(), this::isHeldHere).isPresent()) {
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
	 * Re-enters a lock for the times of a configuration, with a new handle that replaces
	 * the given one. A failure changes nothing.
	 * @return empty if the lock was lost
	 */
	private Optional<SimpleLock> reenter(LockHandle handle, LockConfiguration configuration) {
		LockRequest request = request(configuration);
		if (!handle.isHeld()) {
			return Optional.empty();
		}
		try (Binding binding = Binding.bind(handle)) {
			return this.distributedLock.tryAcquire(request)
				.filter((longer) -> isSame(longer, handle))
				.map((longer) -> held(longer, configuration));
		}
	}

	/**
	 * Returns whether a lock was re-entered. If the lock was lost a moment ago, and
	 * acquired anew, the acquisition is undone.
	 */
	private static boolean isSame(LockHandle longer, LockHandle handle) {
		boolean same = longer.owner().equals(handle.owner());
		if (!same) {
			longer.undo();
		}
		return same;
	}

	private SimpleLock held(LockHandle handle, LockConfiguration configuration) {
		try {
			return new TaskLock(configuration, handle, this.timer.apply(configuration.getLockAtMostFor()));
		}
		catch (RuntimeException | Error ex) {
			handle.undo();
			throw ex;
		}
	}

	private static LockRequest request(LockConfiguration configuration) {
		if (configuration.getLockAtMostFor().compareTo(LONGEST) > 0) {
			throw new IllegalArgumentException(
					"lockAtMostFor " + configuration.getLockAtMostFor() + " is longer than 365 days");
		}
		LockRequest request = LockRequest.of(configuration.getName()).name(NAME).detached(true).awaitedOnStop(true);
		Duration atLeast = configuration.getLockAtLeastFor();
		return (atLeast.toMillis() > 0) ? request.minHoldTime(atLeast) : request;
	}

	/**
	 * A lock that a task has, until the lock is unlocked or extended, or
	 * {@code lockAtMostFor} is over.
	 * <p>
	 * Invariant: the timer ends the lock only if the timer was not cancelled before. Each
	 * other end of the lock cancels the timer. An extension that throws leaves the lock
	 * and its timer as they are.
	 */
	private final class TaskLock extends AbstractSimpleLock {

		private final LockHandle handle;

		private final CompletableFuture<@Nullable Void> timer;

		/**
		 * Creates the lock.
		 * @param timer done when {@code lockAtMostFor} is over
		 */
		private TaskLock(LockConfiguration configuration, LockHandle handle, CompletableFuture<@Nullable Void> timer) {
			super(configuration);
			this.handle = handle;
			this.timer = timer;
			timer.thenRun(this::end);
		}

		/**
		 * Releases the lock. Runs on the thread of all delays, so this method must not
		 * block.
		 */
		private void end() {
			boolean held = this.handle.isHeld();
			this.handle.closeAsync();
			if (held) {
				logger.warn(
						"Lock '{}' is released though its task has not ended, since its lockAtMostFor of {} is over:"
								+ " another JVM may run the task now",
						LockException.printable(this.lockConfiguration.getName()),
						this.lockConfiguration.getLockAtMostFor());
			}
		}

		@Override
		protected void doUnlock() {
			this.timer.cancel(false);
			this.handle.close();
		}

		@Override
		protected Optional<SimpleLock> doExtend(LockConfiguration configuration) {
			Optional<SimpleLock> longer = reenter(this.handle, configuration);
			boolean inTime = this.timer.cancel(false);
			this.handle.close();
			if (!inTime) {
				longer.ifPresent(SimpleLock::unlock);
				return Optional.empty();
			}
			return longer;
		}

	}

}
