package io.github.distributedlock.backend.redis;

import java.io.IOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;

import io.github.distributedlock.LockBackendException;
import io.github.distributedlock.backend.Claim;
import io.github.distributedlock.fixtures.Client;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.parallel.Execution;
import org.junit.jupiter.api.parallel.ExecutionMode;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.awaitility.Awaitility.await;

/**
 * A server that accepts connections and never answers. A request does one thing there,
 * which takes one command timeout: the opening of a connection.
 */
@Execution(ExecutionMode.CONCURRENT)
class SilentServerTests {

	private static final Duration TIMEOUT = Duration.ofMillis(500);

	private final ServerSocket door = door();

	private final List<Socket> accepted = new CopyOnWriteArrayList<>();

	@AfterEach
	void close() throws IOException {
		this.door.close();
		for (Socket socket : this.accepted) {
			socket.close();
		}
	}

	@ParameterizedTest
	@EnumSource
	void aRequestOpensOneConnectionAndNoOther(Client client) {
		Thread accepting = new Thread(this::accept);
		accepting.start();
		try (RedisLockBackend backend = new RedisLockBackend(client.connectTo(this.door.getLocalPort()),
				RedisLockSettings.defaults().commandTimeout(TIMEOUT))) {
			for (int requests = 1; requests <= 3; requests++) {
				assertThatExceptionOfType(LockBackendException.class)
					.isThrownBy(() -> backend.acquire(Claim.of("k", "a:1", "a", Duration.ofSeconds(30))))
					.satisfies((ex) -> assertThat(ex.isWithoutEffect()).as("certainly without effect").isTrue())
					.satisfies((ex) -> assertThat(ex.isRetryable()).as("retryable").isTrue());
				// On a busy machine the opening may go on, and the thread that accepts be
				// late.
				await("a connection").until(() -> !this.accepted.isEmpty());
				assertThat(this.accepted).as("connections after %d requests", requests)
					.hasSizeLessThanOrEqualTo(requests);
			}
		}
	}

	private void accept() {
		try {
			while (true) {
				this.accepted.add(this.door.accept());
			}
		}
		catch (IOException ex) {
			// The test is over.
		}
	}

	private static ServerSocket door() {
		try {
			return new ServerSocket(0, 50, InetAddress.getLoopbackAddress());
		}
		catch (IOException ex) {
			throw new IllegalStateException(ex);
		}
	}

}
