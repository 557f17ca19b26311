package io.github.distributedlock.shedlock;

import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.function.BiFunction;

import io.github.distributedlock.LockException;
import io.github.distributedlock.LockHandle;
import net.javacrumbs.shedlock.core.AbstractSimpleLock;
import net.javacrumbs.shedlock.core.LockConfiguration;
import net.javacrumbs.shedlock.core.SimpleLock;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * A lock that a task has, until it is unlocked or extended, or its {@code lockAtMostFor}
 * is over.
 * <p>
 * Invariant: the timer ends the lock only if it was not cancelled before, which whatever
 * else ends the lock does. An extension that fails leaves the lock and its timer as they
 * are.
 */
final class TaskLock extends AbstractSimpleLock {

	private static final Logger logger = LoggerFactory.getLogger(TaskLock.class);

	private final LockHandle handle;

	private final CompletableFuture<@Nullable Void> timer;

	private final BiFunction<LockHandle, LockConfiguration, Optional<SimpleLock>> extension;

	/**
	 * Creates it.
	 * @param timer done when {@code lockAtMostFor} is over
	 * @param extension re-enters the handle's lock for longer
	 */
	TaskLock(LockConfiguration configuration, LockHandle handle, CompletableFuture<@Nullable Void> timer,
			BiFunction<LockHandle, LockConfiguration, Optional<SimpleLock>> extension) {
		super(configuration);
		this.handle = handle;
		this.timer = timer;
		this.extension = extension;
		timer.thenRun(this::end);
	}

	/**
	 * Runs on the JDK's thread for delays, which serves the whole JVM: it must not wait.
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
		Optional<SimpleLock> longer = this.extension.apply(this.handle, configuration);
		boolean inTime = this.timer.cancel(false);
		this.handle.close();
		if (!inTime) {
			longer.ifPresent(SimpleLock::unlock);
			return Optional.empty();
		}
		return longer;
	}

}
