package io.github.distributedlock.faults;

import java.io.BufferedInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Optional;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.CopyOnWriteArrayList;

import io.github.distributedlock.faults.Trap.Effect;
import io.github.distributedlock.fixtures.RespMessage;

/**
 * Stands between a client and a server, understands what passes, and loses, delays or
 * cuts off what it was told to.
 * <p>
 * Two threads for each connection: one passes the requests on, the other the replies, in
 * the same order. Nothing is ever lost out of the middle of a connection, since TCP does
 * not do that either.
 */
final class RespRelay implements AutoCloseable {

	private static final int BACKLOG = 500;

	private static final byte[] PROXY_ERROR = "-ERR Connection timed out\r\n".getBytes(StandardCharsets.UTF_8);

	private final Queue<Trap> traps = new ConcurrentLinkedQueue<>();

	private final List<Passage> passages = new CopyOnWriteArrayList<>();

	private final ServerSocket door;

	private final int server;

	RespRelay(int server) {
		this.server = server;
		try {
			this.door = new ServerSocket(0, BACKLOG, InetAddress.getLoopbackAddress());
		}
		catch (IOException ex) {
			throw new IllegalStateException(ex);
		}
		start(this::accept);
	}

	int port() {
		return this.door.getLocalPort();
	}

	/**
	 * Lets something happen to a request.
	 */
	void set(Trap trap) {
		this.traps.add(trap);
	}

	private void accept() throws IOException {
		while (true) {
			Socket client = this.door.accept();
			try {
				Passage passage = new Passage(client, new Socket(InetAddress.getLoopbackAddress(), this.server));
				this.passages.add(passage);
				start(passage::passRequests);
				start(passage::passReplies);
			}
			catch (IOException ex) {
				// The server is down, so it must look as if it could not be reached.
				client.close();
			}
		}
	}

	private static void start(Task task) {
		Thread thread = new Thread(() -> {
			try {
				task.run();
			}
			catch (IOException ex) {
				// A socket was closed.
			}
			catch (InterruptedException ex) {
				throw new IllegalStateException(ex);
			}
		}, "relay");
		thread.setDaemon(true);
		thread.start();
	}

	@Override
	public void close() {
		try {
			this.door.close();
			for (Passage passage : this.passages) {
				passage.end();
			}
		}
		catch (IOException ex) {
			throw new IllegalStateException(ex);
		}
	}

	private interface Task {

		void run() throws IOException, InterruptedException;

	}

	private final class Passage {

		private final Socket client;

		private final Socket server;

		/** What is to happen to the replies that are still to come. */
		private final Queue<Optional<Trap>> expected = new ConcurrentLinkedQueue<>();

		private volatile boolean silent;

		private Passage(Socket client, Socket server) throws IOException {
			this.client = client;
			this.server = server;
			client.setTcpNoDelay(true);
			server.setTcpNoDelay(true);
		}

		private void passRequests() throws IOException, InterruptedException {
			try (InputStream from = new BufferedInputStream(this.client.getInputStream());
					OutputStream to = this.server.getOutputStream()) {
				while (true) {
					RespMessage request = RespMessage.read(from);
					Optional<Trap> trap = RespRelay.this.traps.stream()
						.filter((one) -> one.catches(request))
						.findFirst();
					if (trap.isPresent() && trap.get().effect() == Effect.DELAY) {
						Thread.sleep(trap.get().delay().toMillis());
					}
					this.expected.add(trap);
					if (!this.silent) {
						to.write(request.bytes());
					}
					trap.filter((one) -> one.effect() == Effect.DELAY).ifPresent(Trap::done);
				}
			}
			finally {
				end();
			}
		}

		private void passReplies() throws IOException {
			try (InputStream from = new BufferedInputStream(this.server.getInputStream());
					OutputStream to = this.client.getOutputStream()) {
				while (true) {
					RespMessage reply = RespMessage.read(from);
					Optional<Trap> trap = reply.isPush() ? Optional.empty() : next();
					Effect effect = trap.map(Trap::effect).orElse(Effect.DELAY);
					this.silent |= effect == Effect.SILENCE;
					if (effect == Effect.CUT) {
						trap.get().done();
						return;
					}
					if (!this.silent) {
						to.write((effect == Effect.ERROR) ? PROXY_ERROR : reply.bytes());
					}
					trap.filter((one) -> one.effect() == Effect.SILENCE || one.effect() == Effect.ERROR)
						.ifPresent(Trap::done);
				}
			}
			finally {
				end();
			}
		}

		// A subscription is told more than it has asked for.
		private Optional<Trap> next() {
			Optional<Trap> trap = this.expected.poll();
			return (trap != null) ? trap : Optional.empty();
		}

		private void end() throws IOException {
			this.client.close();
			this.server.close();
		}

	}

}
