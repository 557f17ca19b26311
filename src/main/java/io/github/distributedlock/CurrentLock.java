package io.github.distributedlock;

import io.github.distributedlock.internal.Binding;

/**
 * The binding of a {@link LockHandle} to a thread. A binding makes the handle
 * {@linkplain LockHandle#current() current} on the thread and the lock reentrant there,
 * until the binding or the handle is closed.
 * <p>
 * An acquisition binds the handle to the acquiring thread, unless the request is
 * {@linkplain LockRequest#detached(boolean) detached}. To hand a lock to a task on
 * another thread, bind the handle there for as long as the task runs, while the handle
 * stays open:
 *
 * <pre class="code">
 * LockHandle handle = LockHandle.current().orElseThrow();
 * executor.submit(() -> {
 *     try (CurrentLock binding = CurrentLock.bind(handle)) {
 *         … // calls that need the lock re-enter the lock
 *     }
 * });
 * </pre>
 *
 * The threads that share a handle this way are not excluded from each other.
 *
 * @since 1.0
 */
public final class CurrentLock implements AutoCloseable {

	private final Binding binding;

	private CurrentLock(Binding binding) {
		this.binding = binding;
	}

	/**
	 * Binds a handle to the calling thread, as the innermost lock of the thread, until
	 * the binding or the handle is closed.
	 * @param handle the handle of a lock
	 * @return the binding, to be closed when the thread no longer needs the lock; closing
	 * the binding does not release the lock
	 */
	public static CurrentLock bind(LockHandle handle) {
		return new CurrentLock(Binding.bind(handle));
	}

	/**
	 * Ends this binding. Any thread may call this method, any number of times.
	 */
	@Override
	public void close() {
		this.binding.close();
	}

}
