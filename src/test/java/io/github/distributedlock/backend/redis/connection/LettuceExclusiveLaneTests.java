package io.github.distributedlock.backend.redis.connection;

import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.stream.IntStream;

import io.github.distributedlock.LockBackendException;
import io.github.distributedlock.backend.redis.wire.Command;
import io.github.distributedlock.backend.redis.wire.KeyNames;
import io.github.distributedlock.backend.redis.wire.Link;
import io.github.distributedlock.backend.redis.wire.UnsentException;
import io.github.distributedlock.fixtures.OwnThreads;
import io.github.distributedlock.fixtures.Patience;
import io.github.distributedlock.fixtures.TestRedis;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

import org.springframework.dao.QueryTimeoutException;
import org.springframework.data.redis.connection.RedisStandaloneConfiguration;
import org.springframework.data.redis.connection.lettuce.LettuceClientConfiguration;
import org.springframework.data.redis.connection.lettuce.LettuceConnectionFactory;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.awaitility.Awaitility.await;

/**
 * Tests for {@link LettuceExclusiveLane}.
 */
class LettuceExclusiveLaneTests {

	@RegisterExtension
	final TestRedis redis = new TestRedis();

	@RegisterExtension
	final OwnThreads threads = new OwnThreads();

	private static final Duration PATIENCE = Patience.PATIENCE;

	private LettuceExclusiveLane lane;

	@BeforeEach
	void startServer() {
		this.lane = new LettuceExclusiveLane(new Lazy<>(this::factory, LettuceConnectionFactory::destroy),
				Duration.ofSeconds(1));
	}

	@AfterEach
	void stopServer() {
		this.lane.close();
	}

	@Test
	void aConnectionIsNotWaitedForLongerThanACommandAndKept() {
		assertThatExceptionOfType(QueryTimeoutException.class).isThrownBy(() -> this.lane.run((link) -> {
			throw new QueryTimeoutException("closes the only connection");
		}));
		this.redis.server().pause();
		// Opening one takes as long as the factory has patience.
		assertThatExceptionOfType(UnsentException.class).isThrownBy(this::ping)
			.havingCause()
			.withMessage("the connection is still being opened");
		this.redis.server().resume();
		await().ignoreException(UnsentException.class).untilAsserted(() -> assertThat(ping()).isNull());
	}

	@Test
	void eachThreadHasAConnectionOfItsOwn() {
		CountDownLatch together = new CountDownLatch(4);
		List<CompletableFuture<Object>> threads = IntStream.range(0, 4)
			.mapToObj((i) -> CompletableFuture.supplyAsync(() -> this.lane.run((link) -> {
				together.countDown();
				await().until(() -> together.getCount() == 0);
				return channel(link);
			}), this.threads))
			.toList();
		assertThat(threads.stream().map((one) -> Patience.get(one, "its connection"))).doesNotHaveDuplicates();
	}

	@Test
	void aConnectionIsKeptAfterARefusalAlone() {
		Object first = channel();
		assertThatExceptionOfType(LockBackendException.class).isThrownBy(() -> this.lane.run((link) -> {
			throw LockBackendException.of("all was answered").retryable(true).notCarriedOut(true).build();
		}));
		assertThat(channel()).isSameAs(first);
		assertThatExceptionOfType(LockBackendException.class).isThrownBy(() -> this.lane.run((link) -> {
			throw LockBackendException.of("something was not answered").retryable(true).build();
		}));
		assertThat(channel()).isNotSameAs(first);
	}

	private Object channel() {
		return this.lane.run(LettuceExclusiveLaneTests::channel);
	}

	private static Object channel(Link link) {
		return ((LettuceLink) link).sender();
	}

	private Object ping() {
		return this.lane.run((link) -> link.call(Command.of(Command.Verb.GET, KeyNames.bytes("k"))));
	}

	private LettuceConnectionFactory factory() {
		LettuceConnectionFactory factory = new LettuceConnectionFactory(
				new RedisStandaloneConfiguration("localhost", this.redis.port()),
				LettuceClientConfiguration.builder().commandTimeout(PATIENCE).build());
		factory.setShareNativeConnection(false);
		factory.afterPropertiesSet();
		factory.start();
		return factory;
	}

}
