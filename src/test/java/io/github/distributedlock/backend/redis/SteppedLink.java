package io.github.distributedlock.backend.redis;

import io.github.distributedlock.backend.redis.connection.Command;
import io.github.distributedlock.backend.redis.connection.Lane;
import io.github.distributedlock.backend.redis.connection.Link;

/**
 * A way to the server on which something happens before each command.
 *
 * @param lane the way
 * @param before what happens
 */
record SteppedLink(Lane lane, Runnable before) implements Link {

	@Override
	public Object exchange(Command command) {
		this.before.run();
		return this.lane.run((link) -> link.exchange(command));
	}

}
