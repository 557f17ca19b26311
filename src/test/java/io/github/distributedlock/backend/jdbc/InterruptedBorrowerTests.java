package io.github.distributedlock.backend.jdbc;

import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicInteger;

import javax.sql.DataSource;

import com.zaxxer.hikari.HikariDataSource;
import io.github.distributedlock.backend.Claim;
import io.github.distributedlock.fixtures.OwnThreads;
import io.github.distributedlock.fixtures.Patience;
import org.awaitility.Awaitility;
import org.h2.jdbcx.JdbcDataSource;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Threads that are interrupted while they wait for a connection of Hikari's pool, with a
 * driver that keeps its time: only then the thread of the caller waits for the pool.
 */
class InterruptedBorrowerTests {

	private static final int INTERRUPTS = 100;

	@RegisterExtension
	final OwnThreads threads = new OwnThreads();

	@Test
	void waitsOnAndKeepsItsFlag() throws SQLException {
		try (HikariDataSource pool = H2.pool((config) -> {
			JdbcDataSource driver = new JdbcDataSource();
			driver.setUrl(config.getJdbcUrl());
			config.setJdbcUrl(null);
			config.setDataSource(keepingTime(driver));
			config.setMaximumPoolSize(1);
			config.setConnectionTimeout(Patience.COMMAND.toMillis());
		});
				JdbcLockBackend store = new JdbcLockBackend(pool,
						JdbcLockSettings.defaults().commandTimeout(Patience.COMMAND))) {
			Claim claim = Claim.of("k", "a:1", "a", Duration.ofMinutes(10));
			store.acquire(claim);
			List<String> wrong = new ArrayList<>();
			for (int i = 0; i < INTERRUPTS; i++) {
				CompletableFuture<String> answer = new CompletableFuture<>();
				try (Connection only = pool.getConnection()) {
					assertThat(only.isClosed()).isFalse();
					this.threads.execute(() -> answer.complete(outcome(store, claim)));
					Thread thread = this.threads.all().get(i);
					Awaitility.await().pollInterval(Duration.ofMillis(1)).until(() -> waits(thread));
					thread.interrupt();
					Awaitility.await()
						.pollInterval(Duration.ofMillis(1))
						.until(() -> answer.isDone() || (!thread.isInterrupted() && waits(thread)));
				}
				String right = "true, interrupted: true";
				if (!Patience.get(answer, "the answer").equals(right)) {
					wrong.add(Patience.get(answer, "the answer"));
				}
			}
			assertThat(wrong).isEmpty();
		}
	}

	private static String outcome(JdbcLockBackend store, Claim claim) {
		String outcome;
		try {
			outcome = String.valueOf(store.acquire(claim).acquired());
		}
		catch (RuntimeException ex) {
			outcome = ex.toString();
		}
		return outcome + ", interrupted: " + Thread.interrupted();
	}

	private static boolean waits(Thread thread) {
		return thread.getState() == Thread.State.TIMED_WAITING;
	}

	/**
	 * Returns connections that keep the network time-out, which H2's driver forgets.
	 */
	private static DataSource keepingTime(DataSource driver) {
		AtomicInteger timeout = new AtomicInteger();
		return Watched.connections(driver, (connection, method, arguments) -> {
			if (method.equals("setNetworkTimeout")) {
				timeout.set((int) arguments[1]);
			}
			return method.equals("getNetworkTimeout") ? timeout.get() : null;
		});
	}

}
