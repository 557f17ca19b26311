package io.github.distributedlock.engine.lease;

/**
 * The place of a hold in the local queue of its key: all that a hold knows of those that
 * wait in this JVM. Safe for use by many threads.
 */
public interface QueuePlace {

	/**
	 * Ends the hold and leaves its key to the next local request.
	 * @param hold the hold at this place
	 * @return {@code false} if no local request may have the key, or the hold has lost it
	 */
	boolean handOn(Hold hold);

	/**
	 * Gives up the place, since the hold has ended and the key is left to no local
	 * request. Only the first call has an effect.
	 */
	void leave();

}
