package io.github.distributedlock.backend.redis.connection;

/**
 * Connections of one kind.
 *
 * @param commands for what callers wait for
 * @param renewals for renewals alone, which a flood of callers must not delay
 */
public record Lanes(Lane commands, Lane renewals) {

	/**
	 * Creates them.
	 * @param commands for what callers wait for
	 * @param renewals for renewals, which use the others where the server has no
	 * connection left to give
	 */
	public Lanes {
		renewals = new RenewalLane(renewals, commands);
	}

	void close() {
		this.commands.close();
		this.renewals.close();
	}

}
