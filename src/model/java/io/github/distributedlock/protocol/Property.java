package io.github.distributedlock.protocol;

/**
 * Something that must hold in every state.
 *
 * @param <S> what the states are
 */
interface Property<S> {

	/**
	 * Returns whether the property holds in a state.
	 * @param quiet whether no step is due in that state before time has passed
	 */
	boolean isKept(S state, boolean quiet);

	/**
	 * Returns whether this property does not show in one state: all requests can come to
	 * an end whatever has happened, if nothing more goes wrong.
	 */
	default boolean isRecovery() {
		return false;
	}

}
