package io.github.distributedlock.backend.redis;

import org.jspecify.annotations.Nullable;

/**
 * Connections for renewals, with others to fall back on: a server that has no connection
 * left to give must not cost a lock, for which there was one.
 */
final class RenewalLane implements Lane {

	private final Lane own;

	private final Lane others;

	RenewalLane(Lane own, Lane others) {
		this.own = own;
		this.others = others;
	}

	@Override
	public <T> @Nullable T run(Command<T> command) {
		try {
			return this.own.run(command);
		}
		catch (UnsentException ex) {
			return this.others.run(command);
		}
	}

	@Override
	public void close() {
		this.own.close();
	}

}
