package io.github.distributedlock.backend.redis.internal;

import java.io.IOException;
import java.net.ServerSocket;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.Objects;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;

import io.github.distributedlock.backend.redis.internal.Command.Verb;
import io.github.distributedlock.fixtures.BlockedDelays;
import io.github.distributedlock.fixtures.Client;
import io.github.distributedlock.fixtures.OwnThreads;
import io.github.distributedlock.fixtures.Patience;
import io.github.distributedlock.fixtures.TestRedis;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import redis.clients.jedis.ClientSetInfoConfig;
import redis.clients.jedis.Connection;
import redis.clients.jedis.DefaultJedisClientConfig;
import redis.clients.jedis.HostAndPort;

import org.springframework.beans.factory.InitializingBean;
import org.springframework.context.SmartLifecycle;
import org.springframework.dao.DataAccessException;
import org.springframework.dao.InvalidDataAccessApiUsageException;
import org.springframework.data.redis.connection.RedisConnectionFactory;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.catchThrowable;
import static org.awaitility.Awaitility.await;

/**
 * A failure in the middle of a step on a Jedis connection leaves nothing to the next
 * users of the connection, and says nothing untrue.
 */
class JedisFailureTests {

	private static final byte[] KEY = "a".getBytes(StandardCharsets.UTF_8);

	private static final Command SET = Command.of(Verb.SET, KEY, "A".getBytes(StandardCharsets.UTF_8));

	private static final Command GET = Command.of(Verb.GET, "b".getBytes(StandardCharsets.UTF_8));

	@RegisterExtension
	final TestRedis redis = new TestRedis();

	@RegisterExtension
	final OwnThreads threads = new OwnThreads();

	private OwnConnections connections;

	@BeforeEach
	void connect() throws Exception {
		RedisConnectionFactory factory = Client.JEDIS.connectTo(this.redis.port());
		((InitializingBean) factory).afterPropertiesSet();
		((SmartLifecycle) factory).start();
		this.connections = RedisClients.derive(factory, Patience.COMMAND);
		this.redis.closing((AutoCloseable) this.connections::close);
	}

	@Test
	void aStepThatFailsLeavesNoTransactionToTheNext() {
		Lane exclusive = Objects.requireNonNull(this.connections.exclusive()).commands();
		assertThatThrownBy(() -> exclusive.run((link) -> {
			link.call(Command.at(KEY, Verb.MULTI));
			throw new InvalidDataAccessApiUsageException("as a proxy says: no upstream host");
		})).hasMessageContaining("no upstream host");
		assertThat(text(this.connections.shared().commands(), SET)).isEqualTo("OK");
	}

	@Test
	void aThreadThatIsStuckInSendingIsFreed() {
		OwnConnections quick = RedisClients.derive(Client.JEDIS.connectTo(this.redis.port()), Duration.ofSeconds(1));
		this.redis.closing((AutoCloseable) quick::close);
		for (Lane lane : new Lane[] { quick.shared().commands(),
				Objects.requireNonNull(quick.exclusive()).commands() }) {
			await().ignoreExceptions().until(() -> lane.run((link) -> link.call(SET)) != null);
			this.redis.server().pause();
			Command large = Command.of(Verb.SET, KEY, new byte[64_000_000]);
			try (BlockedDelays blocked = new BlockedDelays()) {
				CompletableFuture<Throwable> failure = CompletableFuture
					.supplyAsync(() -> catchThrowable(() -> lane.run((link) -> link.call(large))), this.threads);
				assertThat(Patience.get(failure, "the end of sending")).isInstanceOf(DataAccessException.class);
			}
			this.redis.server().resume();
		}
	}

	/**
	 * Jedis connects again by itself, without a password, and to database 0. The guard of
	 * a thread that is stuck in sending may close a connection just before the sending.
	 */
	@Test
	void aConnectionThatWasClosedIsNotOpenedAgain() {
		Lane exclusive = Objects.requireNonNull(this.connections.exclusive()).commands();
		assertThatThrownBy(() -> exclusive.run((link) -> {
			((JedisLink) link).connection().disconnect();
			return link.call(SET);
		})).isInstanceOf(DataAccessException.class);
		assertThat(this.redis.admin().get("a")).isNull();
		assertThat(text(exclusive, SET)).isEqualTo("OK");
	}

	@Test
	void anErrorInATransactionIsAnError() {
		this.redis.admin().set("b", "B");
		Lane exclusive = Objects.requireNonNull(this.connections.exclusive()).commands();
		assertThatThrownBy(() -> exclusive.run((link) -> {
			link.call(Command.at(KEY, Verb.MULTI));
			link.call(Command.of(Verb.ZRANGE, "b".getBytes(StandardCharsets.UTF_8),
					"0".getBytes(StandardCharsets.UTF_8), "0".getBytes(StandardCharsets.UTF_8)));
			return link.call(Command.at(KEY, Verb.EXEC));
		})).hasMessageContaining("WRONGTYPE");
	}

	@Test
	void aRefusalBeforeALostConnectionCountsForOneCommandOnly() throws Exception {
		CountDownLatch closed = new CountDownLatch(1);
		try (ServerSocket server = new ServerSocket(0)) {
			CompletableFuture<Void> refusing = CompletableFuture.runAsync(() -> refuseTheFirst(server, closed),
					this.threads);
			Connection connection = new Connection(new HostAndPort("localhost", server.getLocalPort()),
					DefaultJedisClientConfig.builder()
						.clientSetInfoConfig(ClientSetInfoConfig.DISABLED)
						.socketTimeoutMillis((int) Patience.COMMAND.toMillis())
						.build());
			JedisLink link = new JedisLink(connection, connection::disconnect, Patience.COMMAND, () -> true);
			// A command larger than what is kept before it is sent.
			Command large = Command.of(Verb.SET, KEY, new byte[9_000]);
			link.send(GET);
			link.send(large);
			Patience.await(closed, "the end of the connection");
			Patience.get(refusing, "the server");
			Throwable failure = null;
			for (int i = 0; failure == null && i < 1_000; i++) {
				failure = catchThrowable(() -> link.send(large));
			}
			assertThat(failure).isNotNull();
			assertThat(RedisRefusal.of((RuntimeException) failure)).isNull();
		}
	}

	private static void refuseTheFirst(ServerSocket server, CountDownLatch closed) {
		try (Socket socket = server.accept()) {
			socket.getInputStream().readNBytes(8_100);
			socket.getOutputStream().write("-READONLY You can't write\r\n+OK\r\n".getBytes(StandardCharsets.UTF_8));
			socket.getOutputStream().flush();
		}
		catch (IOException ex) {
			throw new IllegalStateException(ex);
		}
		finally {
			closed.countDown();
		}
	}

	private static String text(Lane lane, Command command) {
		return new String((byte[]) Objects.requireNonNull(lane.run((link) -> link.call(command))),
				StandardCharsets.UTF_8);
	}

}
