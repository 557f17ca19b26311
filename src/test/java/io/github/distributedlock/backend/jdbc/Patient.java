package io.github.distributedlock.backend.jdbc;

import io.github.distributedlock.fixtures.Patience;

/**
 * Settings of the tests in which each statement is answered.
 */
final class Patient {

	/**
	 * No statement times out, however busy the machine is.
	 */
	static final JdbcLockSettings SETTINGS = JdbcLockSettings.defaults().commandTimeout(Patience.COMMAND);

	private Patient() {
	}

}
