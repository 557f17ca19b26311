package com.example.locks;

import java.lang.reflect.Proxy;
import java.sql.Connection;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.atomic.AtomicInteger;

import javax.sql.DataSource;

import io.github.distributedlock.LockBackendException;
import io.github.distributedlock.LockHandle;
import io.github.distributedlock.LockRequest;
import io.github.distributedlock.backend.AcquireResult;
import io.github.distributedlock.backend.Claim;
import io.github.distributedlock.engine.LockEngine;
import io.github.distributedlock.fixtures.Patience;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

/**
 * Tests for a store of four methods under the engine, which adds the rest.
 */
class JdbcLockEngineTests {

	private final AtomicInteger attempts = new AtomicInteger();

	private final JdbcLocks store = new JdbcLocks(JdbcLocksTests.database()) {

		@Override
		public AcquireResult acquire(Claim claim) {
			JdbcLockEngineTests.this.attempts.incrementAndGet();
			return super.acquire(claim);
		}

	};

	private final LockEngine engine = LockEngine.builder(this.store).localSlice(Patience.PATIENCE).build();

	private final LockEngine other = LockEngine.builder(this.store).build();

	private final ExecutorService threads = Executors.newCachedThreadPool();

	@AfterEach
	void end() {
		this.threads.shutdownNow();
		this.engine.close();
		this.other.close();
	}

	@Test
	void aBusyLockIsWaitedForByPolling() {
		LockHandle held = this.engine.acquire("k");
		assertThat(this.other.tryAcquire("k")).isEmpty();
		CompletableFuture<Boolean> waiter = acquiring(this.other);
		Awaitility.await("polls").until(() -> this.attempts.get() > 4);
		assertThat(waiter).isNotDone();
		held.close();
		assertThat(waiter).succeedsWithin(Patience.PATIENCE).isEqualTo(true);
	}

	@Test
	void aLockIsReenteredAndHandedOnWithoutAskingTheStore() {
		LockHandle held = this.engine.acquire("k");
		this.engine.acquire("k").close();
		CompletableFuture<Boolean> next = acquiring(this.engine);
		Awaitility.await("queued up").until(() -> this.engine.snapshot().requestsWaiting() == 1);
		held.close();
		assertThat(next).succeedsWithin(Patience.PATIENCE).isEqualTo(true);
		assertThat(this.attempts).hasValue(1);
	}

	@Test
	void severalKeysAreLockedOneAfterTheOther() {
		try (LockHandle both = this.engine.acquire(LockRequest.of("a", "b"))) {
			assertThat(this.other.tryAcquire("b")).isEmpty();
		}
		assertThat(this.other.tryAcquire("b")).hasValueSatisfying(LockHandle::close);
	}

	@Test
	void whatTheStoreDoesNotOfferIsRefusedBeforeItIsAsked() {
		assertThatExceptionOfType(LockBackendException.class)
			.isThrownBy(() -> this.engine.acquire(LockRequest.of("k").fenced(true)))
			.withMessageContainingAll("Lock [k] was requested as fenced", "does not offer", "request it without");
		assertThat(this.attempts).hasValue(0);
	}

	/**
	 * As with {@code spring.datasource.hikari.auto-commit=false}.
	 */
	@Test
	void eachStepIsCommittedThoughTheApplicationCommitsByItself() {
		DataSource pool = JdbcLocksTests.database();
		DataSource application = (DataSource) Proxy.newProxyInstance(DataSource.class.getClassLoader(),
				new Class<?>[] { DataSource.class }, (proxy, method, arguments) -> {
					Connection connection = pool.getConnection();
					connection.setAutoCommit(false);
					return connection;
				});
		try (LockEngine here = LockEngine.builder(new JdbcLocks(application)).build();
				LockEngine there = LockEngine.builder(new JdbcLocks(application)).build();
				LockHandle held = here.acquire("k")) {
			assertThat(there.tryAcquire("k")).as("a second holder").isEmpty();
			assertThat(held.release()).isTrue();
			assertThat(there.tryAcquire("k")).hasValueSatisfying(LockHandle::close);
		}
	}

	private CompletableFuture<Boolean> acquiring(LockEngine engine) {
		return CompletableFuture.supplyAsync(() -> {
			try (LockHandle handle = engine.acquire(LockRequest.of("k").waitTime(Patience.PATIENCE))) {
				return handle.isHeld();
			}
		}, this.threads);
	}

}
