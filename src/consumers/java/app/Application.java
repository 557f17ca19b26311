package app;

import java.io.IOException;
import java.io.InputStream;
import java.net.HttpURLConnection;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.URI;
import java.nio.channels.ServerSocketChannel;
import java.nio.channels.SocketChannel;
import java.nio.charset.StandardCharsets;
import java.util.Optional;

import io.github.distributedlock.LockHandle;
import io.github.distributedlock.annotation.DistributedLock;
import io.github.distributedlock.backend.LockBackend;
import io.github.distributedlock.engine.LockEngine;

import org.springframework.boot.SpringApplication;
import org.springframework.boot.autoconfigure.SpringBootApplication;
import org.springframework.context.ConfigurableApplicationContext;
import org.springframework.context.annotation.Bean;

/**
 * An application on the web, of either line of Spring Boot. {@code .ci/consumers} reads what
 * the application prints: the store, whether an annotated method locks, what the endpoints
 * say, and how many connections the locks have opened to the application's Redis.
 */
@SpringBootApplication
public class Application {

	public static void main(String[] arguments) throws IOException {
		try (ServerSocketChannel redis = ServerSocketChannel.open()) {
			redis.bind(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0)).configureBlocking(false);
			System.setProperty("spring.data.redis.port", String.valueOf(redis.socket().getLocalPort()));
			try (ConfigurableApplicationContext context = SpringApplication.run(Application.class, arguments)) {
				String port = context.getEnvironment().getProperty("local.server.port");
				LockBackend store = context.getBean(LockBackend.class);
				System.out.println("store " + store.getClass().getSimpleName());
				System.out.println("during " + context.getBean(Orders.class).pay("7", port));
				System.out.println("after " + Orders.seenByAnotherJvm(store, "7"));
				System.out.println("connections to Redis " + connections(redis));
				System.out.println("health " + get(port, "health"));
			}
		}
	}

	@Bean
	Orders orders(LockBackend store) {
		return new Orders(store);
	}

	private static int connections(ServerSocketChannel server) throws IOException {
		int connections = 0;
		for (SocketChannel each = server.accept(); each != null; each = server.accept()) {
			connections++;
			each.close();
		}
		return connections;
	}

	static String get(String port, String endpoint) throws IOException {
		HttpURLConnection connection = (HttpURLConnection) URI
			.create("http://localhost:" + port + "/actuator/" + endpoint)
			.toURL()
			.openConnection();
		try (InputStream body = (connection.getResponseCode() < 400) ? connection.getInputStream()
				: connection.getErrorStream()) {
			return new String(body.readAllBytes(), StandardCharsets.UTF_8);
		}
	}

	/**
	 * Pays each order once at a time.
	 */
	static class Orders {

		private final LockBackend store;

		Orders(LockBackend store) {
			this.store = store;
		}

		@DistributedLock(key = "order:#{#id}")
		public String pay(String id, String port) throws IOException {
			return seenByAnotherJvm(this.store, id) + " " + get(port, "distributedlocks?key=order:" + id);
		}

		static String seenByAnotherJvm(LockBackend store, String id) {
			try (LockEngine otherJvm = LockEngine.builder(store).build()) {
				Optional<LockHandle> handle = otherJvm.tryAcquire("order:" + id);
				handle.ifPresent(LockHandle::close);
				return handle.isPresent() ? "free" : "busy";
			}
		}

	}

}
