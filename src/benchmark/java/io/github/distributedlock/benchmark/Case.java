package io.github.distributedlock.benchmark;

/**
 * Some figures that are measured together.
 */
interface Case {

	/**
	 * What it is selected by.
	 * @return the name
	 */
	String name();

	void run(Bench bench);

}
