package io.github.distributedlock.docs;

import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Future;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicLong;

import io.github.distributedlock.DistributedLock;
import io.github.distributedlock.LockHandle;
import io.github.distributedlock.LockLostException;
import io.github.distributedlock.LockNotAcquiredException;
import io.github.distributedlock.LockRequest;
import io.github.distributedlock.fixtures.OwnThreads;
import io.github.distributedlock.fixtures.Patience;
import io.github.distributedlock.fixtures.TestRedis;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

import org.springframework.context.ConfigurableApplicationContext;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.awaitility.Awaitility.await;

/**
 * The replacements for home-made locks, in two applications that are in each other's way.
 */
class MigratedTests {

	@RegisterExtension
	final OwnThreads threads = new OwnThreads();

	@RegisterExtension
	static final TestRedis redis = new TestRedis();

	private static final Duration WATCHDOG = Duration.ofSeconds(3);

	private static ConfigurableApplicationContext application;

	private static ConfigurableApplicationContext other;

	@BeforeAll
	static void start() {
		application = DocsApplication.start(redis.server(),
				"distributed-lock.watchdog-timeout=" + WATCHDOG.toSeconds() + "s",
				"distributed-lock.redis.command-timeout=1700ms");
		other = DocsApplication.start(redis.server());
	}

	@AfterAll
	static void stop() {
		other.close();
		application.close();
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
		AtomicBoolean ran = new AtomicBoolean();
		acquiresOnceFree("order:2", () -> fixedLease("2", () -> ran.set(true)), ran);
		assertThat(redis.admin().exists("lock:{order:2}")).isFalse();
	}

	@Test
	void fixedLeaseIsNotRenewed() {
		fixedLease("3", () -> {
			LockHandle handle = LockHandle.current().orElseThrow();
			assertThat(redis.admin().pttl("lock:{order:3}")).isLessThanOrEqualTo(3000L);
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
		AtomicBoolean ran = new AtomicBoolean();
		this.migrated.work().add(() -> ran.set(true));
		try (LockHandle held = this.otherJvm.acquire("busy")) {
			this.migrated.giveUp("busy");
			assertThat(ran).as("ran though %s is held", held.keys()).isFalse();
		}
		acquiresOnceFree("busy", () -> this.migrated.goOnTrying("busy"), ran);
	}

	// Tries again if the test stood still for longer than the wait time.
	private void acquiresOnceFree(String key, Runnable waiting, AtomicBoolean ran) {
		await("'" + key + "' is acquired by whoever waits for it").until(() -> {
			LockHandle held = this.otherJvm.acquire(key);
			Future<Void> waiter = CompletableFuture.runAsync(waiting, this.threads);
			await().until(() -> waiter.isDone() || redis.admin().exists("lock-waiters:{" + key + "}"));
			assertThat(ran).as("ran while it is held").isFalse();
			held.close();
			await().until(waiter::isDone);
			return ran.get();
		});
	}

	// lockWatchdogTimeout, maxRenewTimes, ifExpireWhenFinish

	@Test
	void watchdogKeepsTheLockBeyondALeaseButNotBeyondTheLongestHold() {
		AtomicBoolean lost = new AtomicBoolean();
		this.migrated.work().add(() -> {
			LockHandle handle = LockHandle.current().orElseThrow();
			handle.onLost(() -> lost.set(true));
			awaitRenewal("lock:{watched}");
			await().until(() -> !handle.isHeld());
			await().untilTrue(lost);
			assertThatExceptionOfType(LockLostException.class).isThrownBy(handle::checkHeld)
				.withMessageContaining("its maxHoldTime of 4 s was reached");
			LockRequest patient = LockRequest.of("watched").waitTime(Patience.PATIENCE);
			try (LockHandle next = this.otherJvm.acquire(patient)) {
				assertThat(next.isHeld()).isTrue();
			}
		});
		this.migrated.watchdog("watched");
	}

	// Only a renewed lease has more time left than before.
	private static void awaitRenewal(String lock) {
		AtomicLong before = new AtomicLong(Long.MAX_VALUE);
		await("a renewal").pollInterval(Duration.ofMillis(10)).until(() -> {
			long left = redis.admin().pttl(lock);
			return before.getAndSet(left) < left;
		});
	}

	@Test
	void watchdogLeavesTheKeyToRunOut() {
		AtomicBoolean ran = new AtomicBoolean();
		Migrated patient = other.getBean(Migrated.class);
		patient.work().add(() -> ran.set(true));
		patient.watchdog("left");
		assertThat(ran).isTrue();
		DistributedLock another = application.getBean(DistributedLock.class);
		// Still blocked, by nobody, and no longer renewed.
		assertThat(another.tryAcquire("left")).isEmpty();
		assertThat(redis.admin().get("lock:{left}")).startsWith("parked:");
		redis.admin().pexpire("lock:{left}", 1);
		try (LockHandle next = another.acquire(LockRequest.of("left").waitTime(Patience.PATIENCE))) {
			assertThat(next.isHeld()).isTrue();
		}
	}

}
