package io.github.distributedlock.engine.lease;

import org.jspecify.annotations.Nullable;

/**
 * A handle, as its holds know it. Does not block and does not throw.
 */
public interface AttachedHandle {

	/**
	 * Tells the handle that one of its holds is lost. It may be told more than once.
	 */
	void lost();

	/**
	 * The thread that the handle is bound to, {@code null} if there is none.
	 */
	@Nullable Thread thread();

}
