package io.github.distributedlock.docs;

import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicBoolean;

import io.github.distributedlock.DistributedLock;
import io.github.distributedlock.LockHandle;
import io.github.distributedlock.LockLostException;
import io.github.distributedlock.LockNotAcquiredException;
import io.github.distributedlock.LockRequest;
import io.github.distributedlock.fixtures.OwnThreads;
import io.github.distributedlock.fixtures.Patience;
import io.github.distributedlock.fixtures.RedisServers;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import redis.clients.jedis.Jedis;

import org.springframework.context.ConfigurableApplicationContext;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.awaitility.Awaitility.await;

/**
 * What home-made locks do, done with ours: one application works, another is in its way.
 */
class MigratedTests {

	@RegisterExtension
	final OwnThreads threads = new OwnThreads();

	private static final Duration WATCHDOG = Duration.ofMillis(1_800);

	private static RedisServers.Server redis;

	private static ConfigurableApplicationContext application;

	private static ConfigurableApplicationContext other;

	private static Jedis admin;

	@BeforeAll
	static void start() {
		redis = RedisServers.start(RedisServers.EMBEDDED);
		String[] properties = { "distributed-lock.lease-time=" + WATCHDOG.toMillis() + "ms",
				"distributed-lock.redis.command-timeout=1700ms" };
		application = DocsApplication.start(redis, properties);
		other = DocsApplication.start(redis, properties);
		admin = redis.admin();
	}

	@AfterAll
	static void stop() {
		admin.close();
		other.close();
		application.close();
		redis.close();
	}

	private final Migrated migrated = application.getBean(Migrated.class);

	private final DistributedLock otherJvm = other.getBean(DistributedLock.class);

	// lockKey, lockTime, waitTime

	@Test
	void fixedLeaseFailsOnceItHasWaitedForABusyKey() {
		try (LockHandle held = this.otherJvm.acquire("order:1")) {
			assertThatExceptionOfType(LockNotAcquiredException.class).isThrownBy(() -> fixedLease("1", () -> {
				throw new AssertionError("ran without the lock");
			})).satisfies((busy) -> {
				assertThat(busy.waited()).isGreaterThanOrEqualTo(Duration.ofMillis(900));
				assertThat(busy.holder()).contains(held.owner());
				assertThat(busy.keys()).containsExactly("order:1");
			});
		}
	}

	@Test
	void fixedLeaseGetsAKeyThatComesFreeWhileItWaits() {
		LockHandle held = this.otherJvm.acquire("order:2");
		CompletableFuture<Void> waiting = CompletableFuture.runAsync(() -> fixedLease("2", () -> {
		}), this.threads);
		await().until(() -> admin.exists("lock-waiters:{order:2}"));
		assertThat(waiting).isNotDone();
		held.close();
		assertThat(waiting).succeedsWithin(Patience.PATIENCE);
		assertThat(admin.exists("lock:{order:2}")).isFalse();
	}

	@Test
	void fixedLeaseIsNotRenewed() {
		fixedLease("3", () -> {
			LockHandle handle = LockHandle.current().orElseThrow();
			assertThat(admin.pttl("lock:{order:3}")).isBetween(1L, 3000L);
			await().until(() -> !handle.isHeld());
			await().until(() -> this.otherJvm.tryAcquire("order:3").map((taken) -> {
				taken.close();
				return true;
			}).orElse(false));
		});
	}

	private void fixedLease(String id, Runnable work) {
		this.migrated.work().add(work);
		try {
			this.migrated.fixedLease(id);
		}
		finally {
			this.migrated.work().remove(work);
		}
	}

	// keepMills, action, retryTimes, sleepMills

	@Test
	void givesUpAtOnceOrGoesOnTrying() {
		LockHandle held = this.otherJvm.acquire("busy");
		this.migrated.giveUp("busy");
		AtomicBoolean ran = new AtomicBoolean();
		this.migrated.work().add(() -> ran.set(true));
		CompletableFuture<Void> trying = CompletableFuture.runAsync(() -> this.migrated.goOnTrying("busy"),
				this.threads);
		await().until(() -> admin.exists("lock-waiters:{busy}"));
		held.close();
		assertThat(trying).succeedsWithin(Patience.PATIENCE);
		assertThat(ran).isTrue();
	}

	// lockWatchdogTimeout, maxRenewTimes, ifExpireWhenFinish

	@Test
	void watchdogKeepsTheLockBeyondALeaseButNotBeyondTheLongestHold() {
		AtomicBoolean lost = new AtomicBoolean();
		this.migrated.work().add(() -> {
			LockHandle handle = LockHandle.current().orElseThrow();
			handle.onLost(() -> lost.set(true));
			LockRequest patient = LockRequest.of("watched").waitTime(Duration.ofMillis(2_500));
			// Longer than the lease: without a watchdog, the key would have run out.
			assertThat(this.otherJvm.tryAcquire(patient)).isEmpty();
			assertThat(handle.isHeld()).isTrue();
			await().until(() -> !handle.isHeld());
			await().untilTrue(lost);
			assertThatExceptionOfType(LockLostException.class).isThrownBy(handle::checkHeld)
				.withMessageContaining("its maxHoldTime of 4000 ms was reached");
			try (LockHandle next = this.otherJvm.acquire(patient.waitTime(Patience.PATIENCE))) {
				assertThat(next.isHeld()).isTrue();
			}
		});
		this.migrated.watchdog("watched");
	}

	@Test
	void watchdogLeavesTheKeyToRunOut() {
		CountDownLatch ran = new CountDownLatch(1);
		this.migrated.work().add(ran::countDown);
		this.migrated.watchdog("left");
		assertThat(ran.getCount()).isZero();
		// Still blocked, by nobody, and no longer renewed.
		assertThat(this.otherJvm.tryAcquire("left")).isEmpty();
		assertThat(admin.get("lock:{left}")).startsWith("parked:");
		LockRequest patient = LockRequest.of("left").waitTime(Patience.PATIENCE);
		try (LockHandle next = this.otherJvm.acquire(patient)) {
			assertThat(next.isHeld()).isTrue();
		}
	}

}
