package io.github.distributedlock.backend.redis.connection;

/**
 * Opens connections of which each has one job: to subscribe, or to try what a server
 * allows.
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
	 * A connection.
	 */
	interface SignalConnection extends AutoCloseable {

		/**
		 * How to send commands on it, as long as nothing is subscribed to.
		 * @return the way, for one thread
		 */
		Link link();

		/**
		 * Subscribes, and returns when the subscription has ended, on purpose or not.
		 */
		void listen(byte[] channel, Listener listener);

		/**
		 * Ends it, so that listening on it ends, too. Does not block.
		 */
		@Override
		void close();

	}

	/**
	 * Is told what is heard, by a thread of the client or by the one that listens.
	 */
	interface Listener {

		/**
		 * The server has acknowledged the subscription.
		 */
		void onSubscribed();

		void onMessage(byte[] message);

	}

}
