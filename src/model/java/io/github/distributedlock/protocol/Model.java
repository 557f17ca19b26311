package io.github.distributedlock.protocol;

import java.util.List;

/**
 * What is explored. Its name says with which setup.
 *
 * @param <S> what the states are
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
