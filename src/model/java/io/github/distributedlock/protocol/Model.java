package io.github.distributedlock.protocol;

import java.util.List;

/**
 * A model that is explored. The name says with which setup.
 *
 * @param <S> the type of the states
 */
interface Model<S> {

	/**
	 * True to explore also models that take minutes, and gigabytes of memory.
	 */
	boolean LARGE = Boolean.getBoolean("lock.model.large");

	S first();

	/**
	 * The steps that are possible in a state.
	 */
	List<Transition<S>> transitions(S state);

	/**
	 * Returns whether all has come to an end.
	 */
	boolean isOver(S state);

}
