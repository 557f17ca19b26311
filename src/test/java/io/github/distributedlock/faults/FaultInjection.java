package io.github.distributedlock.faults;

/**
 * Something that breaks while locks are used.
 */
@FunctionalInterface
interface FaultInjection {

	/**
	 * Breaks something for a while, and repairs the damage.
	 * @param trial the trial that meets the fault
	 * @throws Exception which fails the trial
	 */
	void strike(Trial trial) throws Exception;

}
