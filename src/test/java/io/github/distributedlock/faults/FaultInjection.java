package io.github.distributedlock.faults;

/**
 * Something that breaks while locks are used.
 */
@FunctionalInterface
interface FaultInjection {

	/**
	 * Breaks something, for as long as it is to stay broken, and repairs it.
	 * @param trial the trial that the fault happens to
	 * @throws Exception which fails the trial
	 */
	void strike(Trial trial) throws Exception;

}
