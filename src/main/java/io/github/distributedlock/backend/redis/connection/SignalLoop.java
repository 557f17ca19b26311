package io.github.distributedlock.backend.redis.connection;

import java.time.Duration;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.LockSupport;

import io.github.distributedlock.backend.redis.connection.SignalLine.SignalConnection;
import org.jspecify.annotations.Nullable;

/**
 * A subscription that is begun again whenever it has ended.
 * <p>
 * States: not begun; begun, with one thread that subscribes and listens, and pauses in
 * between; closed. Invariant: a connection that is opened while it is dropped or closed
 * is not listened to, since whoever opens it looks for that afterwards, and whoever drops
 * it looks for a connection.
 */
final class SignalLoop {

	private final String name;

	private final SignalLine line;

	private final byte[] channel;

	private final Subscriber subscriber;

	private final AtomicInteger drops = new AtomicInteger();

	private volatile @Nullable SignalConnection connection;

	private volatile boolean closed;

	private @Nullable Thread thread;

	/**
	 * Creates it, not begun.
	 * @param name the name of its thread
	 */
	public SignalLoop(String name, SignalLine line, byte[] channel, Subscriber subscriber) {
		this.name = name;
		this.line = line;
		this.channel = channel;
		this.subscriber = subscriber;
	}

	public synchronized void begin() {
		if (this.thread == null && !this.closed) {
			Thread thread = new Thread(this::listen, this.name);
			thread.setDaemon(true);
			this.thread = thread;
			thread.start();
		}
	}

	private void listen() {
		while (!this.closed) {
			RuntimeException cause = listenOnce();
			if (!this.closed) {
				this.subscriber.onEnd(cause);
			}
			pause();
		}
	}

	private @Nullable RuntimeException listenOnce() {
		int drops = this.drops.get();
		try (SignalConnection connection = this.line.open()) {
			this.connection = connection;
			if (!this.closed && this.drops.get() == drops) {
				this.subscriber.onConnect(connection.link());
				connection.listen(this.channel, this.subscriber);
			}
			return null;
		}
		catch (RuntimeException ex) {
			return ex;
		}
		finally {
			this.connection = null;
		}
	}

	private void pause() {
		long left = this.subscriber.pauseNanos();
		while (!this.closed && left > 0) {
			LockSupport.parkNanos(this, left);
			Thread.interrupted(); // Only closing it interrupts.
			left = this.subscriber.pauseNanos();
		}
	}

	/**
	 * Asks for one more acknowledgement, if there is a connection.
	 */
	public void ask() {
		SignalConnection connection = this.connection;
		if (connection != null) {
			connection.ask(this.channel);
		}
	}

	/**
	 * Ends the connection of now, if there is one or one is being opened. Does not block.
	 */
	public void drop() {
		this.drops.incrementAndGet();
		SignalConnection connection = this.connection;
		if (connection != null) {
			connection.close();
		}
	}

	/**
	 * Looks again whether a pause is over.
	 */
	public void retry() {
		LockSupport.unpark(thread());
	}

	/**
	 * Ends it. A client must not be ended before it: Lettuce lets a connection that is
	 * being opened meanwhile wait for ever.
	 * @param patience how long to wait for its thread
	 */
	public void close(Duration patience) {
		this.closed = true;
		drop();
		Thread thread = thread();
		if (thread != null && thread != Thread.currentThread()) {
			end(thread, patience);
		}
	}

	static void end(Thread thread, Duration patience) {
		LockSupport.unpark(thread);
		try {
			thread.join(patience.toMillis());
		}
		catch (InterruptedException ex) {
			Thread.currentThread().interrupt();
		}
		if (thread.isAlive()) {
			thread.interrupt();
		}
	}

	private synchronized @Nullable Thread thread() {
		return this.thread;
	}

	/**
	 * What is to be done with a subscription. By the thread of the loop, but what is
	 * heard.
	 */
	interface Subscriber extends SignalLine.Listener {

		/**
		 * Looks at a new connection, before anything is subscribed to.
		 */
		default void onConnect(Link link) {
		}

		/**
		 * It has ended, or has not even begun.
		 * @param cause why, if there was an exception
		 */
		void onEnd(@Nullable RuntimeException cause);

		/**
		 * For how long not to try again.
		 * @return the rest of the pause, at most 0 if it is over
		 */
		long pauseNanos();

	}

}
