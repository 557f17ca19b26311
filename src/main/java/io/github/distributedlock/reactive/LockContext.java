package io.github.distributedlock.reactive;

import java.util.Optional;

import io.github.distributedlock.LockHandle;
import io.github.distributedlock.internal.reactive.LockedResult;
import reactor.util.context.ContextView;

/**
 * The locks that a reactive chain holds, which are in the chain's Reactor context:
 *
 * <pre class="code">
 * return Mono.deferContextual((context) -> {
 *     LockContext.current(context).orElseThrow().checkHeld();
 *     return write();
 * });
 * </pre>
 *
 * An annotated method re-enters these locks if the method's result is subscribed to
 * inside of that chain, on whatever thread. Branches of the chain are not excluded from
 * each other. In a {@code suspend} function the context is that of the
 * {@code ReactorContext} in the coroutine context. Safe for use by many threads.
 *
 * @since 1.0
 */
public final class LockContext {

	private LockContext() {
	}

	/**
	 * Returns the innermost open lock of a chain, which is that of the annotated method
	 * around the chain.
	 * @param context the context of the chain
	 * @return the handle, or empty if the chain is in no lock
	 */
	public static Optional<LockHandle> current(ContextView context) {
		return LockedResult.currentLock(context);
	}

}
