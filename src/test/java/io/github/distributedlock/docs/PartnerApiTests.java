package io.github.distributedlock.docs;

import java.time.Duration;

import io.github.distributedlock.DistributedLock;
import io.github.distributedlock.LockHandle;
import io.github.distributedlock.LockRequest;
import io.github.distributedlock.engine.LockEngine;
import io.github.distributedlock.fixtures.Patience;
import io.github.distributedlock.fixtures.RedisServers;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.Test;

import org.springframework.context.ConfigurableApplicationContext;
import org.springframework.http.HttpHeaders;
import org.springframework.http.HttpStatus;
import org.springframework.http.ResponseEntity;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * A few calls of a partner at a time, and an answer for those that are too many.
 */
class PartnerApiTests {

	@Test
	void answersThoseThatAreTooMany() {
		try (RedisServers.Server redis = RedisServers.start(RedisServers.EMBEDDED);
				ConfigurableApplicationContext one = DocsApplication.start(redis, "partner.calls=2");
				ConfigurableApplicationContext two = DocsApplication.start(redis, "partner.calls=2")) {
			DistributedLock lock = one.getBean(DistributedLock.class);
			LockRequest call = LockRequest.of("partner-api").permits(2).detached(true);
			PartnerApi there = two.getBean(PartnerApi.class);
			LockHandle first = lock.acquire(call);
			assertThat(there.price("A1").getBody()).isEqualTo("price of A1");
			LockHandle second = lock.acquire(call);
			ResponseEntity<String> busy = there.price("A1");
			assertThat(busy.getStatusCode()).isEqualTo(HttpStatus.TOO_MANY_REQUESTS);
			assertThat(busy.getHeaders().getFirst(HttpHeaders.RETRY_AFTER)).isEqualTo("2");
			first.close();
			assertThat(there.price("A1").getStatusCode()).isEqualTo(HttpStatus.OK);
			second.close();
		}
	}

	/**
	 * Each call that has begun keeps the permit after the end, so nothing runs here.
	 */
	@Test
	void tenCallsBeginAndThenNoMore() {
		try (RedisServers.Server redis = RedisServers.start(RedisServers.EMBEDDED);
				ConfigurableApplicationContext one = DocsApplication.start(redis);
				ConfigurableApplicationContext two = DocsApplication.start(redis)) {
			LockRequest all = LockRequest.of("partner-rate").permits(10).minHoldTime(Duration.ofMinutes(1));
			DistributedLock lock = two.getBean(DistributedLock.class);
			assertThat(one.getBean(PartnerApi.class).offer("A1")).isEqualTo("price of A1");
			for (int call = 1; call <= 9; call++) {
				lock.run(all, () -> {
				});
			}
			// The permit of the offer may be free again by now.
			lock.tryRun(all, () -> {
			});
			assertThat(lock.tryAcquire(all)).isEmpty();
		}
	}

	@Test
	void lockStaysWithOneAndGoesToTheOtherThatAsks() {
		try (RedisServers.Server redis = RedisServers.start(RedisServers.EMBEDDED);
				ConfigurableApplicationContext one = DocsApplication.start(redis);
				ConfigurableApplicationContext two = DocsApplication.start(redis)) {
			LockEngine engine = one.getBean(LockEngine.class);
			PartnerApi here = one.getBean(PartnerApi.class);
			Awaitility.await().atMost(Patience.PATIENCE).until(() -> {
				here.cheapest("A1");
				return engine.keysTakenAgain() > 0;
			});
			assertThat(two.getBean(PartnerApi.class).cheapest("A1")).isEqualTo("price of A1");
		}
	}

}
