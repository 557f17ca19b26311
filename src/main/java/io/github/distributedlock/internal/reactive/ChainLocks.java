package io.github.distributedlock.internal.reactive;

import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Optional;
import java.util.function.Supplier;

import io.github.distributedlock.LockHandle;
import io.github.distributedlock.internal.Binding;
import org.jspecify.annotations.Nullable;
import reactor.util.context.Context;
import reactor.util.context.ContextView;

/**
 * The locks that a reactive chain holds, in the chain's Reactor context.
 */
final class ChainLocks {

	/**
	 * The key of the locks that may be re-entered. The context has two entries, since a
	 * context can also be captured from a thread, and copied to a task that runs beside
	 * the chain: only this entry, which subscribers pass on, is re-entered.
	 */
	private static final Object HELD = ChainLocks.class;

	private ChainLocks() {
	}

	/**
	 * Returns the innermost open lock of a chain.
	 */
	static Optional<LockHandle> current(ContextView context) {
		return handles(context).stream().findFirst();
	}

	/**
	 * Returns the context for the part of a chain that runs inside of a lock.
	 */
	static Context enter(Context context, LockHandle handle) {
		List<LockHandle> held = handles(context);
		held.add(0, handle);
		return context.put(HELD, List.copyOf(held)).put(CurrentLockAccessor.KEY, handle);
	}

	/**
	 * Asks for a lock as part of a chain: locks that the chain holds are re-entered.
	 */
	static <T> T acquire(ContextView context, Supplier<T> request) {
		return Binding.inChain(handles(context), request);
	}

	/**
	 * Calls a method on this thread as part of a chain, and as the only part that runs
	 * now: blocking code re-enters the locks of the chain, too. This must cover no more
	 * than the call of the method: where the method's result is subscribed to, the thread
	 * may also run parts of other chains.
	 */
	static @Nullable Object call(ContextView context, MethodCall method) throws Throwable {
		List<LockHandle> handles = handles(context);
		Collections.reverse(handles);
		List<Binding> bindings = handles.stream().map(Binding::bind).toList();
		try {
			return method.call();
		}
		finally {
			bindings.forEach(Binding::close);
		}
	}

	// Open handles, the innermost first.
	private static List<LockHandle> handles(ContextView context) {
		List<LockHandle> handles = new ArrayList<>(context.<List<LockHandle>>getOrEmpty(HELD).orElse(List.of()));
		handles.removeIf(LockHandle::isClosed);
		return handles;
	}

	/**
	 * Calls a method, or its fallback. A {@code LockedCall} cannot say that the result
	 * may be absent: the compiler's check of null does not believe that of a lambda.
	 */
	interface MethodCall {

		@Nullable Object call() throws Throwable;

	}

}
