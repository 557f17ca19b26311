package io.github.distributedlock.protocol;

import java.util.List;

/**
 * A model that is explored. The name says with which setup.
 *
 * @param <S> the type of the states
 */
interface Model<S> {

	/**
	 * Whether to explore also what takes minutes, and gigabytes of memory.
	 */
	boolean LARGE = Boolean.getBoolean("lock.model.large");

	S first();

	/**
	 * The steps that are possible in a state.
	 */
	List<Transition<S>> transitions(S state);

	/**
	 * Whether all has come to an end.
	 */
	boolean isOver(S state);

}
