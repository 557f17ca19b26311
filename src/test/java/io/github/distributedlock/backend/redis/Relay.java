package io.github.distributedlock.backend.redis;

import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;

/**
 * Stands between a client and a server, and can drop connections without a word.
 */
public final class Relay implements AutoCloseable {

	private final List<Passage> passages = new CopyOnWriteArrayList<>();

	private final ServerSocket door;

	private volatile int server;

	private volatile String forbidden = "";

	private volatile String last = "";

	private volatile boolean refuses;

	public Relay(int server) throws IOException {
		this.server = server;
		this.door = new ServerSocket(0, 50, InetAddress.getLoopbackAddress());
		daemon(this::accept);
	}

	public int port() {
		return this.door.getLocalPort();
	}

	/** Leads new connections to another server. Those that exist stay. */
	public void leadTo(int server) {
		this.server = server;
	}

	/** Ends each connection that sends a command, as a proxy that does not know it. */
	public void forbid(String command) {
		this.forbidden = command;
	}

	/** From such a command on, no answer passes on its connection. */
	void answerNothingFrom(String command) {
		this.last = command;
	}

	/** From now on nothing passes on the connections that exist. New ones work. */
	public void swallow() {
		this.passages.forEach((passage) -> passage.swallows = true);
	}

	/** The same for those alone that subscribe. */
	public void swallowSubscriptions() {
		this.passages.stream().filter((passage) -> passage.subscribes).forEach((passage) -> passage.swallows = true);
	}

	/** From now on who subscribes is cut off, as some proxies do, or no longer. */
	public void refuseSubscriptions(boolean refuses) {
		this.refuses = refuses;
	}

	public boolean hasSwallowed() {
		return this.passages.stream().anyMatch((passage) -> passage.swallowed);
	}

	/** Ends the connections that swallow. */
	public void cut() throws IOException {
		for (Passage passage : this.passages) {
			if (passage.swallows) {
				passage.client.close();
				passage.server.close();
			}
		}
	}

	/**
	 * How many connections swallow what the client, which has not closed them, sends.
	 * @return their number
	 */
	long swallowing() {
		return this.passages.stream().filter((passage) -> passage.swallows && !passage.left).count();
	}

	private void accept() throws IOException {
		while (true) {
			Passage passage = new Passage(this.door.accept(),
					new Socket(InetAddress.getLoopbackAddress(), this.server));
			this.passages.add(passage);
			daemon(() -> passage.pump(passage.client, passage.server));
			daemon(() -> passage.pump(passage.server, passage.client));
		}
	}

	private static void daemon(Task task) {
		Thread thread = new Thread(() -> {
			try {
				task.run();
			}
			catch (IOException ex) {
				// A socket was closed.
			}
		}, "relay");
		thread.setDaemon(true);
		thread.start();
	}

	@Override
	public void close() throws IOException {
		this.door.close();
		for (Passage passage : this.passages) {
			passage.client.close();
			passage.server.close();
		}
	}

	private interface Task {

		void run() throws IOException;

	}

	private final class Passage {

		private final Socket client;

		private final Socket server;

		private volatile boolean swallows;

		private volatile boolean swallowed;

		private volatile boolean subscribes;

		private volatile boolean left;

		private volatile boolean mute;

		private Passage(Socket client, Socket server) {
			this.client = client;
			this.server = server;
		}

		private void pump(Socket from, Socket to) throws IOException {
			byte[] buffer = new byte[8192];
			try (InputStream in = from.getInputStream(); OutputStream out = to.getOutputStream()) {
				for (int count = in.read(buffer); count >= 0; count = in.read(buffer)) {
					String text = new String(buffer, 0, count, StandardCharsets.ISO_8859_1);
					this.subscribes |= text.contains("SUBSCRIBE");
					boolean forbidden = from == this.client && !Relay.this.forbidden.isEmpty()
							&& text.contains("\n" + Relay.this.forbidden);
					if (forbidden || (this.subscribes && Relay.this.refuses)) {
						to.close();
						return;
					}
					this.mute |= from == this.client && !Relay.this.last.isEmpty()
							&& text.contains("\n" + Relay.this.last);
					if (this.mute && from == this.server) {
						continue;
					}
					if (this.swallows) {
						this.swallowed = true;
					}
					else {
						out.write(buffer, 0, count);
					}
				}
			}
			finally {
				this.left |= from == this.client;
			}
		}

	}

}
