package io.github.distributedlock.backend;

/**
 * A {@link LockBackend} that notifies waiters. Without it the engine asks again at
 * intervals, which is called polling.
 */
public interface ReleaseNotifications {

	/**
	 * Passes the notifications for an instance to a listener, from now on or, if that
	 * takes a subscription, from the first registration of the instance on. Does no I/O.
	 * @param instance the instance
	 * @param listener the listener
	 * @return ends the listening when closed
	 */
	Listening listen(String instance, ReleaseListener listener);

	/**
	 * A listener that is listening.
	 */
	interface Listening extends AutoCloseable {

		/**
		 * Where no notifications arrive, for certain.
		 */
		Listening DEAF = new Listening() {

			@Override
			public boolean hears() {
				return false;
			}

			@Override
			public void close() {
			}

		};

		/**
		 * Whether notifications arrive, as far as it is known after a registration. While
		 * they do not, the engine polls more often. When they arrive again, the listener
		 * is {@linkplain ReleaseListener#onResubscribed() told}. Does not block.
		 * @return {@code true} if nothing else is known
		 */
		default boolean hears() {
			return true;
		}

		/**
		 * Whether it is known if notifications arrive. Does not block.
		 * @return {@code false} until the first registration has found out, where it
		 * takes one
		 */
		default boolean isKnown() {
			return true;
		}

		/**
		 * Stops listening.
		 */
		@Override
		void close();

	}

}
