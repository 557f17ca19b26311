package io.github.distributedlock.internal.reactive;

import io.github.distributedlock.LockHandle;
import io.github.distributedlock.internal.Binding;
import io.micrometer.context.ThreadLocalAccessor;
import org.jspecify.annotations.Nullable;

/**
 * Lets {@link LockHandle#current()} return the lock of a reactive chain on a thread to
 * which context-propagation carries the chain's context. The service loader finds this
 * class.
 * <p>
 * The accessor only shows the lock. Code on that thread may run beside the chain, as a
 * task that got a copy of the chain's context does, and must not re-enter the lock.
 */
public final class CurrentLockAccessor implements ThreadLocalAccessor<LockHandle> {

	/**
	 * The key of the entry in the context.
	 */
	static final String KEY = "io.github.distributedlock.current";

	private static final ThreadLocal<@Nullable Binding> SHOWN = new ThreadLocal<>();

	@Override
	public Object key() {
		return KEY;
	}

	@Override
	public @Nullable LockHandle getValue() {
		Binding shown = SHOWN.get();
		return (shown != null) ? shown.handle() : null;
	}

	@Override
	public void setValue(LockHandle handle) {
		if (handle == getValue()) {
			return; // The lock stays below the locks that the thread has acquired since.
		}
		setValue();
		SHOWN.set(Binding.show(handle));
	}

	@Override
	public void setValue() {
		Binding shown = SHOWN.get();
		if (shown != null) {
			shown.close();
			SHOWN.remove();
		}
	}

}
