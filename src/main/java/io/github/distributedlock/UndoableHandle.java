package io.github.distributedlock;

/**
 * A handle that can be given back as if its lock had never been held. No API: public only
 * for the neighbouring packages.
 */
public interface UndoableHandle extends LockHandle {

	/**
	 * Closes the handle, on other threads, unless it is closed. No minimum hold time and
	 * no expiry keeps the keys busy, since nobody has used the lock.
	 */
	void undo();

	/**
	 * Closes a handle under which nothing has run, and waits for nothing.
	 * @param handle the handle
	 */
	static void undo(LockHandle handle) {
		if (handle instanceof UndoableHandle unused) {
			unused.undo();
		}
		else {
			handle.closeAsync();
		}
	}

}
