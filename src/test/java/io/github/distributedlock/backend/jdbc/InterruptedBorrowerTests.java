package io.github.distributedlock.backend.jdbc;

import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Proxy;
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
import org.springframework.jdbc.datasource.DelegatingDataSource;

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

	private static DataSource keepingTime(DataSource driver) {
		return new DelegatingDataSource(driver) {

			@Override
			public Connection getConnection() throws SQLException {
				return keepingTime(super.getConnection());
			}

		};
	}

	/**
	 * H2's driver forgets the network time-out that it is given.
	 */
	private static Connection keepingTime(Connection connection) {
		AtomicInteger timeout = new AtomicInteger();
		return (Connection) Proxy.newProxyInstance(Connection.class.getClassLoader(),
				new Class<?>[] { Connection.class }, (proxy, method, arguments) -> {
					switch (method.getName()) {
						case "setNetworkTimeout":
							timeout.set((int) arguments[1]);
							return null;
						case "getNetworkTimeout":
							return timeout.get();
						default:
							try {
								return method.invoke(connection, arguments);
							}
							catch (InvocationTargetException ex) {
								throw ex.getCause();
							}
					}
				});
	}

}
