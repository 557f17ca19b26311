package io.github.distributedlock.backend.redis.connection;

import java.util.List;

/**
 * Where Lettuce sends commands. Many threads may send at the same time.
 */
interface LettuceSender {

	/**
	 * Sends commands, in order, as soon as that is possible. Does not wait for replies. A
	 * command that cannot be sent fails.
	 * @param commands the commands, for one node
	 * @param key a key of that node
	 */
	void send(List<LettuceCommand> commands, byte[] key);

	/**
	 * Whether commands can be sent.
	 * @return {@code true} also if it takes care of its connections itself
	 */
	boolean isOpen();

}
