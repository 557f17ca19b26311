package io.github.distributedlock.backend.redis;

import io.github.distributedlock.backend.redis.internal.Command;
import io.github.distributedlock.backend.redis.internal.Lane;
import io.github.distributedlock.backend.redis.internal.Link;

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
