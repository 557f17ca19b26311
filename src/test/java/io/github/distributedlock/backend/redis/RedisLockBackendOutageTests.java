package io.github.distributedlock.backend.redis;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletionException;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.Predicate;

import io.github.distributedlock.LockBackendException;
import io.github.distributedlock.backend.Claim;
import io.github.distributedlock.backend.redis.internal.Command;
import io.github.distributedlock.backend.redis.internal.Lane;
import io.github.distributedlock.backend.redis.internal.OwnConnections;
import io.github.distributedlock.backend.redis.internal.RedisClients;
import io.github.distributedlock.backend.redis.internal.RedisFailures;
import io.github.distributedlock.fixtures.Client;
import io.github.distributedlock.fixtures.Patience;
import io.github.distributedlock.fixtures.Relay;
import io.github.distributedlock.fixtures.TestRedis;
import io.github.distributedlock.tck.Ear;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.EnumSource;
import redis.clients.jedis.Jedis;
import redis.clients.jedis.args.ClientPauseMode;
import redis.clients.jedis.args.ClientType;
import redis.clients.jedis.exceptions.JedisConnectionException;
import redis.clients.jedis.params.ClientKillParams;

import org.springframework.dao.DataAccessResourceFailureException;
import org.springframework.data.redis.connection.RedisStandaloneConfiguration;
import org.springframework.data.redis.connection.jedis.JedisClientConfiguration;
import org.springframework.data.redis.connection.jedis.JedisConnectionFactory;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.catchThrowableOfType;
import static org.awaitility.Awaitility.await;
import static org.junit.jupiter.api.Assertions.assertTimeoutPreemptively;

/**
 * Tests for {@link RedisLockBackend} on a server that stalls, goes away and comes back.
 */
@Tag("thorough")
class RedisLockBackendOutageTests {

	@RegisterExtension
	final TestRedis redis = new TestRedis();

	/** The time-out of commands that get no answer. */
	private static final Duration TIMEOUT = Duration.ofSeconds(1);

	private static final Command ASK = Command.of(Command.Verb.GET, KeyNames.bytes("k"));

	private static final long ENDLESS = Duration.ofMinutes(10).toMillis();

	private final AtomicInteger tokens = new AtomicInteger();

	private RedisLockBackend backend;

	@ParameterizedTest
	@EnumSource
	void nothingIsSentBeforeTheFirstUse(Client client) {
		this.redis.server().stop();
		open(client, Patience.COMMAND);
		this.backend.listen("a", new Ear()).close();
		this.redis.server().start();
		assertThat(this.backend.acquire(claim("k")).acquired()).isTrue();
	}

	@ParameterizedTest
	@CsvSource({ "JEDIS, LUA, 4", "JEDIS, TRANSACTION, 8", "LETTUCE, LUA, 1" })
	void aRestartedServerCostsAtMostOneCommand(Client client, Atomicity way, int connections) throws Exception {
		this.backend = this.redis.backend(client,
				RedisLockSettings.defaults().commandTimeout(Patience.COMMAND).atomicity(way));
		useManyConnections(connections);
		this.redis.server().stop();
		this.redis.server().start();
		int failures = 0;
		for (int i = 0; i < 20; i++) {
			try {
				assertThat(this.backend.acquire(claim("after-" + i)).acquired()).isTrue();
			}
			catch (LockBackendException ex) {
				assertThat(ex.isRetryable()).as("retryable: %s", ex).isTrue();
				failures++;
			}
		}
		assertThat(failures).as("commands lost to dead connections").isLessThanOrEqualTo(1);
	}

	// Lettuce notices without a command.
	@Test
	void aConnectionThatTheServerClosedWhileItWasIdleCostsNothing() {
		open(Client.JEDIS, Patience.COMMAND);
		for (int i = 0; i < 3; i++) {
			assertThat(this.backend.acquire(claim("k" + i)).acquired()).isTrue();
			closeIdleConnections();
		}
	}

	// On a busy machine the test's own connections are idle for too long as well.
	private void closeIdleConnections() {
		await("all others are closed").ignoreException(JedisConnectionException.class).until(() -> {
			try (Jedis admin = this.redis.server().admin()) {
				admin.configSet("timeout", "1");
				return admin.clientList().lines().count() == 1;
			}
		});
		await("none is closed any more").ignoreException(JedisConnectionException.class).until(() -> {
			try (Jedis admin = this.redis.server().admin()) {
				return "OK".equals(admin.configSet("timeout", "0"));
			}
		});
	}

	@ParameterizedTest
	@EnumSource
	void aConnectionThatIsDroppedSilentlyCostsAtMostOneCommand(Client client) throws Exception {
		try (Relay relay = new Relay(this.redis.port())) {
			this.backend = this.redis.backend(client.connectTo(relay.port()),
					RedisLockSettings.defaults().commandTimeout(TIMEOUT.multipliedBy(5)));
			warmUp();
			relay.silence();
			assertThatExceptionOfType(LockBackendException.class).isThrownBy(() -> this.backend.acquire(claim("k")))
				.satisfies((ex) -> assertThat(ex.isRetryable()).as("retryable: %s", ex).isTrue());
			for (int i = 0; i < 3; i++) {
				assertThat(this.backend.acquire(claim("after-" + i)).acquired()).isTrue();
			}
			await().untilAsserted(() -> assertThat(relay.silent()).as("dead connections still open").isZero());
		}
	}

	@Test
	void theWaitForAnExhaustedPoolEnds() throws Exception {
		open(Client.JEDIS);
		OwnConnections connections = RedisClients.derive(Client.JEDIS.connectTo(this.redis.port()),
				TIMEOUT.multipliedBy(3));
		Lane lane = connections.exclusive().commands();
		await().ignoreExceptionsInstanceOf(DataAccessResourceFailureException.class)
			.until(() -> lane.run((link) -> true));
		int most = 64;
		CountDownLatch borrowed = new CountDownLatch(most);
		CountDownLatch over = new CountDownLatch(1);
		ExecutorService executor = Executors.newFixedThreadPool(most);
		try {
			for (int i = 0; i < most; i++) {
				// On a busy machine an opening takes longer than a caller may wait.
				executor.execute(() -> await().pollInSameThread()
					.ignoreExceptionsInstanceOf(DataAccessResourceFailureException.class)
					.until(() -> lane.run((link) -> {
						borrowed.countDown();
						Patience.await(over, "the end of the test");
						return true;
					})));
			}
			Patience.await(borrowed, "connections are borrowed");
			RuntimeException busy = catchThrowableOfType(RuntimeException.class,
					() -> lane.run((link) -> link.call(ASK)));
			assertThat(RedisFailures.translate("ask", "k", busy).isWithoutEffect()).as("nothing was sent").isTrue();
		}
		finally {
			over.countDown();
			executor.shutdown();
			connections.close();
		}
	}

	@Test
	@SuppressWarnings("deprecation") // The name that both lines of Spring Data know.
	void theTimeoutIsOursWhateverTheApplicationCustomizes() {
		JedisClientConfiguration patient = JedisClientConfiguration.builder()
			.customize((builder) -> builder.socketTimeoutMillis((int) ENDLESS))
			.readTimeout(Duration.ofMillis(ENDLESS))
			.build();
		this.backend = this.redis.backend(
				new JedisConnectionFactory(new RedisStandaloneConfiguration("localhost", this.redis.port()), patient),
				RedisLockSettings.defaults().commandTimeout(TIMEOUT));
		Jedis admin = this.redis.admin();
		admin.clientPause(ENDLESS, ClientPauseMode.WRITE);
		assertTimeoutPreemptively(Patience.PATIENCE, () -> assertThatExceptionOfType(LockBackendException.class)
			.isThrownBy(() -> this.backend.acquire(claim("k"))));
		admin.clientUnpause();
	}

	@ParameterizedTest
	@EnumSource
	void aCommandUnderWayIsNotSentAgain(Client client) throws Exception {
		open(client, Patience.COMMAND);
		warmUp();
		ExecutorService executor = Executors.newSingleThreadExecutor();
		Jedis admin = this.redis.admin();
		try {
			admin.clientPause(ENDLESS, ClientPauseMode.WRITE);
			Claim claim = claim("k");
			Future<?> attempt = executor.submit(() -> this.backend.acquire(claim));
			await().until(() -> admin.clientList().matches("(?s).*flags=b .*cmd=set .*"));
			admin.clientKill(new ClientKillParams().type(ClientType.NORMAL).skipMe(ClientKillParams.SkipMe.YES));
			assertThatExceptionOfType(CompletionException.class).isThrownBy(() -> Patience.get(attempt, "its failure"))
				.withCauseInstanceOf(LockBackendException.class);
			admin.clientUnpause();
			// The next command comes after anything that would have been sent again.
			assertThat(this.backend.acquire(claim("other")).acquired()).isTrue();
			assertThat(admin.exists("lock:{k}")).as("acquired by a command that was sent again").isFalse();
		}
		finally {
			executor.shutdown();
		}
	}

	@ParameterizedTest
	@EnumSource
	void aThreadThatIsInterruptedAlreadyCanStillGiveItsLockBack(Client client) {
		open(client, Patience.COMMAND);
		Claim claim = claim("k");
		this.backend.acquire(claim);
		Thread.currentThread().interrupt();
		try {
			assertThat(this.backend.release("k", claim.owner())).isTrue();
		}
		finally {
			assertThat(Thread.interrupted()).as("interrupt flag").isTrue();
		}
	}

	@ParameterizedTest
	@EnumSource
	void anInterruptDuringACommandKeepsTheFlag(Client client) throws Exception {
		open(client, TIMEOUT.multipliedBy(5));
		warmUp();
		AtomicReference<Object> outcome = new AtomicReference<>();
		AtomicBoolean flag = new AtomicBoolean();
		Jedis admin = this.redis.admin();
		admin.clientPause(ENDLESS, ClientPauseMode.WRITE);
		Thread thread = new Thread(() -> {
			try {
				outcome.set(this.backend.acquire(claim("k")));
			}
			catch (LockBackendException ex) {
				outcome.set(ex);
			}
			flag.set(Thread.currentThread().isInterrupted());
		});
		thread.start();
		await().until(() -> admin.clientList().matches("(?s).*flags=b .*cmd=set .*"));
		thread.interrupt();
		Patience.join(thread);
		admin.clientUnpause();
		assertThat(outcome.get()).isInstanceOf(LockBackendException.class);
		assertThat(((LockBackendException) outcome.get()).isRetryable()).as("retryable").isTrue();
		assertThat(flag).as("interrupt flag").isTrue();
	}

	// The first connection of a JVM may take longer than a command.
	private void warmUp() {
		await().ignoreException(LockBackendException.class).until(() -> !this.backend.release("warm", "nobody"));
	}

	private void open(Client client) {
		open(client, TIMEOUT);
	}

	private void open(Client client, Duration timeout) {
		this.backend = this.redis.backend(client, RedisLockSettings.defaults().commandTimeout(timeout));
	}

	// Commands that are held up keep each connection busy that there is for them. One
	// after the other, since those that come at the same time may go by the same
	// connection.
	private void useManyConnections(int connections) throws Exception {
		warmUp();
		ExecutorService executor = Executors.newFixedThreadPool(connections);
		List<Future<?>> attempts = new ArrayList<>();
		Jedis admin = this.redis.admin();
		admin.clientPause(ENDLESS, ClientPauseMode.WRITE);
		for (long busy = 1; busy <= connections; busy++) {
			attempts.add(executor.submit(() -> this.backend.acquire(claim("before"))));
			await("one more connection is busy").until(
					() -> admin.clientList().lines().filter((line) -> line.contains("flags=b")).count(),
					Predicate.isEqual(busy));
		}
		admin.clientUnpause();
		for (Future<?> attempt : attempts) {
			Patience.get(attempt, "the answer");
		}
		executor.shutdown();
	}

	private Claim claim(String key) {
		return Claim.of(key, "a:" + this.tokens.incrementAndGet(), "a", Duration.ofSeconds(30));
	}

}
