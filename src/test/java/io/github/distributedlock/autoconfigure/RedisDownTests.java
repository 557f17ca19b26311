package io.github.distributedlock.autoconfigure;

import java.time.Duration;

import io.github.distributedlock.DistributedLock;
import io.github.distributedlock.LockBackendException;
import io.github.distributedlock.LockRequest;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

/**
 * Applications start while Redis is down, and the first lock says so.
 */
class RedisDownTests {

	@ParameterizedTest
	@ValueSource(strings = { "jedis", "lettuce" })
	void isNoticedByTheFirstLockAndNotCalledBusy(String client) {
		Contexts.withRedis()
			.withPropertyValues("spring.data.redis.client-type=" + client, "spring.data.redis.port=1",
					"distributed-lock.wait-time=200ms")
			.withBean(Greeter.class)
			.run((context) -> {
				assertThat(context).hasNotFailed();
				DistributedLock lock = context.getBean(DistributedLock.class);
				assertThatExceptionOfType(LockBackendException.class).isThrownBy(() -> lock.tryAcquire("key"))
					.withMessageContaining("'key'");
				assertThatExceptionOfType(LockBackendException.class)
					.isThrownBy(() -> lock.acquire(LockRequest.of("key").waitTime(Duration.ofMillis(100))))
					.withMessageContaining("'key'");
				assertThatExceptionOfType(LockBackendException.class)
					.isThrownBy(() -> context.getBean(Greeter.class).heldKeys())
					.withMessageContaining("'greeting'");
			});
	}

}
