package io.github.distributedlock.backend.redis;

import io.github.distributedlock.backend.LockBackend.Renewal;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;

import io.github.distributedlock.LockBackendException;
import io.github.distributedlock.backend.AcquireResult;
import io.github.distributedlock.backend.Claim;
import io.github.distributedlock.fixtures.Client;
import io.github.distributedlock.fixtures.OwnThreads;
import io.github.distributedlock.fixtures.Patience;
import io.github.distributedlock.fixtures.TestRedis;
import io.github.distributedlock.tck.Ear;
import org.apache.commons.pool2.impl.GenericObjectPoolConfig;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import redis.clients.jedis.Jedis;

import org.springframework.data.redis.connection.RedisClusterConfiguration;
import org.springframework.data.redis.connection.RedisConnection;
import org.springframework.data.redis.connection.RedisConnectionFactory;
import org.springframework.data.redis.connection.RedisSentinelConfiguration;
import org.springframework.data.redis.connection.RedisStandaloneConfiguration;
import org.springframework.data.redis.connection.jedis.JedisClientConfiguration;
import org.springframework.data.redis.connection.jedis.JedisConnectionFactory;
import org.springframework.data.redis.connection.lettuce.LettuceConnectionFactory;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.awaitility.Awaitility.await;

/**
 * A step takes one command timeout at most, whatever the server or the application do.
 */
@Tag("failover")
class BoundedCommandsTests {

	@RegisterExtension
	final TestRedis redis = new TestRedis();

	@RegisterExtension
	static final OwnThreads THREADS = new OwnThreads();

	private static final Duration TIMEOUT = Duration.ofSeconds(1);

	private static final Duration ENDLESS = Duration.ofMinutes(10);

	private static final String LIST = "list";

	private RedisLockBackend backend;

	@ParameterizedTest
	@EnumSource
	void aStepGivesUpOnAServerThatNeverAnswersAndIsNotSentAgain(Client client) {
		this.backend = backend(client.connectTo(this.redis.port()), TIMEOUT);
		// A connection that was idle for long, as on a busy machine, is sent a PING at
		// first.
		await("a step that is sent").pollInSameThread().until(() -> {
			await().ignoreException(LockBackendException.class).until(() -> !this.backend.release("warm", "nobody"));
			this.redis.admin().configResetStat();
			this.redis.server().pause();
			for (int i = 0; i < 3; i++) {
				fails(() -> this.backend.acquire(claim("k")));
			}
			long sent = sentMeanwhile("set");
			assertThat(sent).isLessThanOrEqualTo(3);
			return sent > 0;
		});
	}

	@ParameterizedTest
	@EnumSource
	void aSubscriptionThatIsNotAcknowledgedIsAllThatAStepWaitsFor(Client client) {
		this.backend = backend(client.connectTo(this.redis.port()), TIMEOUT);
		await().ignoreException(LockBackendException.class).until(() -> !this.backend.release("warm", "nobody"));
		this.backend.listen("a", new Ear());
		this.redis.admin().configResetStat();
		this.redis.server().pause();
		fails(() -> this.backend.acquireOrRegister(claim("k")));
		assertThat(sentMeanwhile("evalsha") + sentMeanwhile("eval")).as("sent, and waited for, after that").isZero();
	}

	@ParameterizedTest
	@EnumSource
	void aServerThatIsDownHasCertainlyDoneNothing(Client client) {
		this.backend = backend(client.connectTo(this.redis.port()), TIMEOUT);
		this.redis.server().stop();
		assertThatExceptionOfType(LockBackendException.class).isThrownBy(() -> this.backend.acquire(claim("k")))
			.withMessageContaining("Redis could not acquire lock 'k'")
			.withMessageContaining("check that the server can be reached")
			.satisfies((ex) -> assertThat(ex.isRetryable()).as("retryable").isTrue())
			.satisfies((ex) -> assertThat(ex.isWithoutEffect()).as("certainly without effect: %s", ex).isTrue());
		this.redis.server().start();
		await().ignoreException(LockBackendException.class).until(() -> this.backend.acquire(claim("k")).acquired());
	}

	@ParameterizedTest
	@EnumSource
	void sentinelsThatAreDownHaveCertainlyDoneNothing(Client client) {
		this.redis.server().stop();
		this.backend = backend(
				client.connectTo(new RedisSentinelConfiguration().master("m").sentinel("localhost", this.redis.port())),
				TIMEOUT);
		assertCertainlyWithoutEffect();
	}

	@ParameterizedTest
	@EnumSource
	void aClusterThatIsDownHasCertainlyDoneNothing(Client client) {
		this.redis.server().stop();
		this.backend = backend(client.connectTo(new RedisClusterConfiguration(List.of(this.redis.server().toString()))),
				TIMEOUT);
		assertCertainlyWithoutEffect();
	}

	private void assertCertainlyWithoutEffect() {
		assertThatExceptionOfType(LockBackendException.class).isThrownBy(() -> this.backend.acquire(claim("k")))
			.satisfies((ex) -> assertThat(ex.isWithoutEffect()).as("certainly without effect: %s", ex).isTrue())
			.satisfies((ex) -> assertThat(ex.isRetryable()).as("retryable: %s", ex).isTrue());
	}

	@Test
	void anApplicationThatHasDrainedItsJedisPoolDelaysNoLock() {
		GenericObjectPoolConfig<Jedis> pool = new GenericObjectPoolConfig<>();
		pool.setMaxTotal(1);
		pool.setMaxWait(Duration.ofMillis(10));
		JedisConnectionFactory application = new JedisConnectionFactory(address(),
				JedisClientConfiguration.builder().readTimeout(ENDLESS).usePooling().poolConfig(pool).build());
		application.afterPropertiesSet();
		application.start();
		this.backend = backend(application);
		CompletableFuture<?> slow = slowCommand(application);
		assertThatExceptionOfType(RuntimeException.class).isThrownBy(() -> application.getConnection().ping());
		locksWork();
		end(slow);
		application.destroy();
	}

	@Test
	void anApplicationThatFloodsItsLettuceConnectionDelaysNoLock() {
		LettuceConnectionFactory application = new LettuceConnectionFactory(address());
		application.afterPropertiesSet();
		application.start();
		this.backend = backend(application);
		byte[] big = "big".getBytes(StandardCharsets.UTF_8);
		try (RedisConnection connection = application.getConnection()) {
			connection.stringCommands().set(big, new byte[4_000_000]);
			// All commands go over the one connection that the threads share.
			CompletableFuture<?>[] flood = new CompletableFuture<?>[32];
			for (int i = 0; i < flood.length; i++) {
				flood[i] = runAsync(() -> connection.stringCommands().get(big));
			}
			locksWork();
			Patience.get(CompletableFuture.allOf(flood), "the answers to the flood");
		}
		// A command that takes as long as a command can.
		CompletableFuture<?> slow = slowCommand(application);
		locksWork();
		end(slow);
		application.destroy();
	}

	// Keeps a connection of the application waiting for an answer until the end.
	private CompletableFuture<?> slowCommand(RedisConnectionFactory application) {
		CompletableFuture<?> slow = runAsync(() -> {
			try (RedisConnection connection = application.getConnection()) {
				connection.listCommands().bLPop((int) ENDLESS.toSeconds(), LIST.getBytes(StandardCharsets.UTF_8));
			}
		});
		await().until(() -> this.redis.admin().info("clients").contains("blocked_clients:1"));
		return slow;
	}

	private void end(CompletableFuture<?> slow) {
		assertThat(slow).isNotDone();
		this.redis.admin().rpush(LIST, "end");
		Patience.get(slow, "the end of the slow command");
	}

	private static CompletableFuture<?> runAsync(Runnable action) {
		return CompletableFuture.runAsync(action, THREADS);
	}

	private void locksWork() {
		for (int i = 0; i < 50; i++) {
			Claim claim = claim("k" + i);
			assertThat(this.backend.acquire(claim)).isEqualTo(AcquireResult.ACQUIRED);
			assertThat(this.backend.renew(List.of(Renewal.of(claim)))).containsExactly(true);
			assertThat(this.backend.release(claim.key(), claim.owner())).isTrue();
		}
	}

	private static void fails(Runnable step) {
		assertThatExceptionOfType(LockBackendException.class).isThrownBy(step::run)
			.satisfies((ex) -> assertThat(ex.isRetryable()).as("retryable: %s", ex).isTrue());
	}

	// The server carries out earlier commands, once it goes on, whoever still listens.
	private long sentMeanwhile(String command) {
		this.redis.server().resume();
		try (Jedis last = this.redis.server().admin()) {
			last.ping();
		}
		return this.redis.admin()
			.info("commandstats")
			.lines()
			.filter((line) -> line.startsWith("cmdstat_" + command + ":calls="))
			.mapToLong((line) -> Long.parseLong(line.replaceAll("^\\w+:calls=(\\d+),.*", "$1")))
			.sum();
	}

	private RedisLockBackend backend(RedisConnectionFactory application) {
		return backend(application, Patience.COMMAND);
	}

	private RedisLockBackend backend(RedisConnectionFactory application, Duration timeout) {
		return this.redis.backend(application, RedisLockSettings.defaults().commandTimeout(timeout));
	}

	private RedisStandaloneConfiguration address() {
		return new RedisStandaloneConfiguration("localhost", this.redis.port());
	}

	private static Claim claim(String key) {
		return Claim.of(key, "a:1", "a", Duration.ofSeconds(30));
	}

}
