package io.github.distributedlock.backend.redis;

/**
 * Connections of one kind.
 *
 * @param commands for what callers wait for
 * @param renewals for renewals alone, which a flood of callers must not delay
 */
record Lanes(Lane commands, Lane renewals) {

	void close() {
		this.commands.close();
		this.renewals.close();
	}

}
