package io.github.distributedlock.protocol;

/**
 * Something that must hold in every state.
 *
 * @param <S> what the states are
 */
interface Property<S> {

	/**
	 * Whether it holds in a state.
	 * @param quiet whether nothing happens by itself there before time has passed
	 */
	boolean isKept(S state, boolean quiet);

	/**
	 * Whether it is another one, not seen in one state: that all can come to an end
	 * whatever has happened, if nothing more goes wrong.
	 */
	default boolean isRecovery() {
		return false;
	}

}
