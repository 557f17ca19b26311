package io.github.distributedlock.backend.redis.internal;

/**
 * Opens connections that each have one purpose: to subscribe, or to find out what a
 * server allows.
 */
public interface SignalConnector {

	/**
	 * Opens a connection.
	 * @throws org.springframework.dao.DataAccessException if that fails
	 */
	SignalConnection open();

	/**
	 * Opens a connection that need not subscribe.
	 * @throws org.springframework.dao.DataAccessException if that fails
	 */
	default SignalConnection openForCommands() {
		return open();
	}

	/**
	 * A connection for one purpose.
	 */
	interface SignalConnection extends AutoCloseable {

		/**
		 * Returns the link that sends commands on this connection, as long as nothing is
		 * subscribed to.
		 * @return the link, for one thread
		 */
		Link link();

		/**
		 * Subscribes, and blocks until the subscription has ended, on purpose or not.
		 */
		void listen(byte[] channel, Listener listener);

		/**
		 * Ends the connection, so that listening ends, too. Does not block.
		 */
		@Override
		void close();

	}

	/**
	 * Gets acknowledgements and messages, in a thread of the client or in the listening
	 * thread.
	 */
	interface Listener {

		/**
		 * Called when the server has acknowledged the subscription.
		 */
		void onSubscribed();

		void onMessage(byte[] message);

	}

}
