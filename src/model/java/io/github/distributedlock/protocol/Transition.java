package io.github.distributedlock.protocol;

/**
 * One step from a state to another.
 *
 * @param <S> the type of the states
 * @param kind the reason of the step
 * @param who who does the step
 * @param what the step in words
 * @param to the state afterwards
 */
record Transition<S>(Kind kind, Object who, String what, S to) {

	enum Kind {

		/**
		 * A step that happens soon, without a fault.
		 */
		PROTOCOL,

		/**
		 * A step that may happen: an application asks for the lock.
		 */
		REQUEST,

		/**
		 * A step that happens when time has passed: a poll, the end of a lease.
		 */
		TIME,

		/**
		 * A step that must not happen, and does.
		 */
		FAULT

	}

	@Override
	public String toString() {
		return this.who + " " + this.what + ((this.kind != Kind.PROTOCOL) ? " (" + this.kind + ")" : "");
	}

}
