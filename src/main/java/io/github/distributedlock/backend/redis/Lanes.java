package io.github.distributedlock.backend.redis;

/**
 * Connections of one kind.
 *
 * @param commands for what callers wait for
 * @param renewals for renewals alone, which a flood of callers must not delay
 */
record Lanes(Lane commands, Lane renewals) {

	/**
	 * Creates them.
	 * @param commands for what callers wait for
	 * @param renewals for renewals, which use the others where the server has no
	 * connection left to give
	 */
	Lanes {
		renewals = new RenewalLane(renewals, commands);
	}

	void close() {
		this.commands.close();
		this.renewals.close();
	}

}
