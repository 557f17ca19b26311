package io.github.distributedlock.backend.redis;

import java.time.Duration;
import java.util.Optional;

import io.github.distributedlock.LockHandle;
import io.github.distributedlock.LockRequest;
import io.github.distributedlock.engine.LockEngine;
import io.github.distributedlock.fixtures.Patience;
import redis.clients.jedis.Jedis;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

/**
 * A lock that stays with one JVM, while another JVM asks for the lock now and then.
 *
 * @param here the engine of the JVM that keeps the lock
 * @param there the engine of the other JVM
 */
record StayingLock(String key, LockEngine here, LockEngine there) {

	/**
	 * A keep time that is longer than any wait of the tests for a recall.
	 */
	private static final Duration KEEP = Duration.ofMinutes(1);

	private LockRequest request() {
		return LockRequest.of(this.key).keepTime(KEEP).waitTime(Patience.PATIENCE);
	}

	private String name() {
		return "lock:{" + this.key + "}";
	}

	/**
	 * Uses the lock until the lock stays.
	 * @return the owner
	 */
	String keep() {
		LockHandle[] last = new LockHandle[1];
		await("the lock stays").until(() -> {
			last[0] = this.here.acquire(request());
			last[0].close();
			return this.here.keysKept() == 1;
		});
		return last[0].owner();
	}

	/**
	 * Asserts that a local request has what the server has, and that the lock goes when
	 * the other JVM asks.
	 * @param admin a connection to the master
	 */
	void assertUsedAndRecalled(Jedis admin) {
		try (LockHandle use = this.here.acquire(request())) {
			assertThat(admin.get(name())).isEqualTo(use.owner());
			assertThat(this.there.tryAcquire(this.key)).as("in use").isEmpty();
			assertThat(use.isHeld()).isTrue();
		}
		keep();
		this.there.acquire(this.key, KEEP.minusSeconds(10)).close();
	}

	/**
	 * Lets the other JVM take the lock, which the server has forgotten, and asserts that
	 * local requests find the lock busy, or learn that the lock is lost.
	 * @param admin a connection to the master
	 */
	void assertNotUsedUnnoticed(Jedis admin) {
		try (LockHandle theirs = this.there.acquire(this.key, Patience.PATIENCE)) {
			await("busy here").until(() -> {
				Optional<LockHandle> use = this.here.tryAcquire(request().waitTime(null));
				use.ifPresent((handle) -> {
					await("the loss is noticed").until(() -> !handle.isHeld());
					handle.close();
				});
				return use.isEmpty();
			});
			assertThat(admin.get(name())).isEqualTo(theirs.owner());
			assertThat(theirs.isHeld()).isTrue();
		}
		this.here.acquire(request()).close();
	}

}
