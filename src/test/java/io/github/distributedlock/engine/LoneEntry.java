package io.github.distributedlock.engine;

/**
 * A place in a queue where nobody else waits.
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
	 * Whether its hold has given it up.
	 * @return whether it has
	 */
	public boolean isLeft() {
		return this.left;
	}

}
