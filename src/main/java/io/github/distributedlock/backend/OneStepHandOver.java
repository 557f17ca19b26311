package io.github.distributedlock.backend;

/**
 * A {@link LockBackend} that passes a key from one owner to the next one of the same
 * instance in one step. Without it the engine releases the key and asks for it again.
 */
public interface OneStepHandOver {

	/**
	 * Passes a key on inside its instance: what {@link LockBackend#release} and then
	 * {@link WaiterQueue#acquireOrRegister} would do, but the next owner may get the key
	 * although others wait, if it does not have to yield to them.
	 * @param owner the token of the owner so far
	 * @param next the claim of the next owner, exclusive and not fair
	 * @param yields whether waiters of other instances come first
	 * @return whether the owner owned the key, and whether the next one does now
	 */
	HandOverResult pass(String owner, Claim next, boolean yields);

}
