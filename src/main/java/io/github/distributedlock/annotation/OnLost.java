package io.github.distributedlock.annotation;

/**
 * What happens to a running method whose lock is lost.
 */
public enum OnLost {

	/**
	 * The loss is reported to listeners, and
	 * {@link io.github.distributedlock.LockHandle#isHeld()} tells the method if it asks.
	 */
	REPORT,

	/**
	 * The thread that runs the method is interrupted. Not supported yet: refused at
	 * start-up.
	 */
	INTERRUPT,

	/**
	 * {@link io.github.distributedlock.LockLostException} is thrown after the method has
	 * returned. Not supported yet: refused at start-up.
	 */
	THROW

}
