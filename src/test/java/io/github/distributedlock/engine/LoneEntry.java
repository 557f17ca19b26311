package io.github.distributedlock.engine;

/**
 * The only entry in its queue.
 */
public final class LoneEntry implements Hold.Entry {

	private volatile boolean left;

	@Override
	public boolean handOver(Hold hold) {
		return false;
	}

	@Override
	public void leave() {
		this.left = true;
	}

	/**
	 * Returns whether the hold of this entry has left the queue.
	 * @return whether the hold has left
	 */
	public boolean isLeft() {
		return this.left;
	}

}
