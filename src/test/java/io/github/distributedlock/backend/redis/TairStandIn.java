package io.github.distributedlock.backend.redis;

import java.io.BufferedInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Locale;
import java.util.concurrent.CopyOnWriteArrayList;

import io.github.distributedlock.fixtures.Patience;
import io.github.distributedlock.fixtures.RespMessage;
import redis.clients.jedis.HostAndPort;
import redis.clients.jedis.Jedis;

/**
 * Not Tair, whose server nobody but Alibaba Cloud has, but a Redis with a relay before it
 * that understands {@code CAD} and {@code CAS}, by what their documentation says: the
 * answer is 1 if the value was the expected one, 0 if not, and -1 for no key. All other
 * requests pass.
 * <p>
 * A request of its own is carried out when all before it on that connection are answered,
 * so the order of the answers is that of the requests.
 */
final class TairStandIn implements AutoCloseable {

	private static final String SCRIPT = """
			local value = redis.call('GET', KEYS[1])
			if not value then
				return -1
			end
			if value ~= ARGV[1] then
				return 0
			end
			if ARGV[2] then
				redis.call('SET', KEYS[1], ARGV[2], ARGV[3], ARGV[4])
			else
				redis.call('DEL', KEYS[1])
			end
			return 1
			""";

	private final List<Passage> passages = new CopyOnWriteArrayList<>();

	private final HostAndPort redis;

	private final ServerSocket door;

	TairStandIn(HostAndPort redis) throws IOException {
		this.redis = redis;
		this.door = new ServerSocket(0, 500, InetAddress.getByName("localhost"));
		start(this::accept);
	}

	HostAndPort address() {
		return new HostAndPort("localhost", this.door.getLocalPort());
	}

	private void accept() throws IOException {
		while (true) {
			Passage passage = new Passage(this.door.accept(), new Socket(this.redis.getHost(), this.redis.getPort()));
			this.passages.add(passage);
			start(passage::passRequests);
			start(passage::passReplies);
		}
	}

	private long answer(List<String> words) {
		String command = words.get(0).toUpperCase(Locale.ROOT);
		int length = command.equals("CAD") ? 3 : 6;
		if (words.size() != length) {
			throw new IllegalArgumentException("not understood: " + words);
		}
		try (Jedis jedis = new Jedis(this.redis)) {
			return (Long) jedis.eval(SCRIPT, List.of(words.get(1)), words.subList(2, length));
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
		}, "tair-stand-in");
		thread.setDaemon(true);
		thread.start();
	}

	@Override
	public void close() throws IOException {
		this.door.close();
		for (Passage passage : this.passages) {
			passage.end();
		}
	}

	private interface Task {

		void run() throws IOException, InterruptedException;

	}

	/**
	 * One connection. Guarded by {@code this}: how many requests are not answered yet,
	 * and what is written to the client.
	 */
	private final class Passage {

		private final Socket client;

		private final Socket server;

		private int unanswered;

		private Passage(Socket client, Socket server) throws IOException {
			this.client = client;
			this.server = server;
			client.setTcpNoDelay(true);
			server.setTcpNoDelay(true);
		}

		private void passRequests() throws IOException, InterruptedException {
			try (InputStream from = new BufferedInputStream(this.client.getInputStream())) {
				while (true) {
					RespMessage request = RespMessage.read(from);
					if (request.words().get(0).matches("(?i)CAD|CAS")) {
						answer(request);
					}
					else {
						expectAnswer();
						this.server.getOutputStream().write(request.bytes());
					}
				}
			}
			finally {
				end();
			}
		}

		private synchronized void expectAnswer() {
			this.unanswered++;
		}

		private synchronized void answer(RespMessage request) throws IOException, InterruptedException {
			while (this.unanswered > 0) {
				int before = this.unanswered;
				wait(Patience.PATIENCE.toMillis());
				if (this.unanswered == before) {
					throw new IOException("the server does not answer what came before " + request.words());
				}
			}
			String answer = ":" + TairStandIn.this.answer(request.words()) + "\r\n";
			this.client.getOutputStream().write(answer.getBytes(StandardCharsets.US_ASCII));
		}

		private void passReplies() throws IOException {
			try (InputStream from = new BufferedInputStream(this.server.getInputStream())) {
				while (true) {
					pass(RespMessage.read(from));
				}
			}
			finally {
				end();
			}
		}

		private synchronized void pass(RespMessage reply) throws IOException {
			OutputStream to = this.client.getOutputStream();
			to.write(reply.bytes());
			if (!reply.isPush()) {
				this.unanswered--;
				notifyAll();
			}
		}

		private void end() throws IOException {
			this.client.close();
			this.server.close();
		}

	}

}
