package io.github.distributedlock.multijvm;

import java.time.Duration;
import java.util.List;
import java.util.stream.IntStream;
import java.util.stream.Stream;

import io.github.distributedlock.LockHandle;
import io.github.distributedlock.LockRequest;
import io.github.distributedlock.backend.redis.RedisLockBackend;
import io.github.distributedlock.backend.redis.RedisLockSettings;
import io.github.distributedlock.backend.redis.atomic.Atomicity;
import io.github.distributedlock.engine.LockEngine;
import io.github.distributedlock.fixtures.Client;
import io.github.distributedlock.fixtures.TestRedis;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.MethodSource;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * As many keys as one request may have, on a real server: all are taken, and all are
 * given back or parked.
 */
@Tag("thorough")
class ManyKeysOnServerTests {

	@RegisterExtension
	static final TestRedis redis = new TestRedis();

	private static final int MANY = LockRequest.MOST_KEYS;

	private static final Duration LONG = Duration.ofMinutes(5);

	private static final LockRequest REQUEST = LockRequest
		.of(IntStream.range(0, MANY).mapToObj((i) -> "order:" + i).toList())
		.waitTime(LONG);

	static Stream<Arguments> ways() {
		return Stream.of(Arguments.of(Client.JEDIS, Atomicity.LUA), Arguments.of(Client.LETTUCE, Atomicity.LUA),
				Arguments.of(Client.JEDIS, Atomicity.BEST_EFFORT));
	}

	@ParameterizedTest
	@MethodSource("ways")
	void areAllGivenBack(Client client, Atomicity atomicity) {
		try (LockHandle handle = engine(client, atomicity).acquire(REQUEST)) {
			assertThat(handle.isHeld()).isTrue();
			assertThat(redis.admin().dbSize()).as("held").isEqualTo(MANY);
		}
		assertThat(redis.admin().dbSize()).as("held afterwards").isZero();
	}

	@ParameterizedTest
	@EnumSource
	void areAllParked(Client client) {
		engine(client, Atomicity.LUA).acquire(REQUEST.minHoldTime(LONG)).close();
		List<String> values = redis.admin().mget(redis.admin().keys("*").toArray(String[]::new));
		assertThat(values).hasSize(MANY).allMatch((value) -> value.startsWith("parked:"));
	}

	private static LockEngine engine(Client client, Atomicity atomicity) {
		RedisLockBackend backend = redis.backend(client, RedisLockSettings.defaults().atomicity(atomicity));
		return redis.closing(LockEngine.builder(backend).leaseTime(LONG).build());
	}

}
