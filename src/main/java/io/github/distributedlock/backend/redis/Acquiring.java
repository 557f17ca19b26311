package io.github.distributedlock.backend.redis;

import io.github.distributedlock.backend.Attempt;
import io.github.distributedlock.backend.Claim;
import org.jspecify.annotations.Nullable;

/**
 * What an acquire takes beside the step that acquires.
 */
interface Acquiring {

	/**
	 * Runs a step that may acquire.
	 * @param claim what it is to acquire
	 * @param step the step
	 * @return whether it has acquired
	 */
	@Nullable Attempt run(Claim claim, Lane.Command<Attempt> step);

}
