package io.github.distributedlock.backend.jdbc;

import java.net.URL;
import java.net.URLClassLoader;
import java.sql.SQLException;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.Stream;

import io.github.distributedlock.backend.jdbc.Calls.NoAnswerException;
import io.github.distributedlock.fixtures.BlockedDelays;
import io.github.distributedlock.fixtures.OwnThreads;
import io.github.distributedlock.fixtures.Patience;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowable;

class CallsTests {

	@RegisterExtension
	final OwnThreads threads = new OwnThreads();

	@Test
	void callEndsInTimeWhateverBlocksTheDelaysOfTheJdk() {
		CountDownLatch end = new CountDownLatch(1);
		try (Calls calls = new Calls(Duration.ofMillis(100)); BlockedDelays blocked = new BlockedDelays()) {
			CompletableFuture<Throwable> failure = CompletableFuture
				.supplyAsync(() -> catchThrowable(() -> calls.call("look", 1, () -> {
					Patience.await(end, "the end of the test");
					return "";
				}, (late) -> {
				})), this.threads);
			assertThat(Patience.get(failure, "the end of the call")).isInstanceOf(NoAnswerException.class)
				.hasMessage("No answer in 100 ms to an attempt to look");
		}
		finally {
			end.countDown();
		}
	}

	@Test
	void callInheritsNothingOfWhoMakesIt() throws SQLException {
		InheritableThreadLocal<String> tenant = new InheritableThreadLocal<>();
		tenant.set("alice");
		ClassLoader before = Thread.currentThread().getContextClassLoader();
		Thread.currentThread().setContextClassLoader(new URLClassLoader(new URL[0], before));
		try (Calls calls = new Calls(Patience.COMMAND)) {
			String seen = calls.call("look", 1,
					() -> tenant.get() + " " + Thread.currentThread().getContextClassLoader(), (late) -> {
					});
			assertThat(seen).isEqualTo("null " + Calls.class.getClassLoader());
		}
		finally {
			Thread.currentThread().setContextClassLoader(before);
			tenant.remove();
		}
	}

	@Test
	void statementIsNotCancelledWhileAnotherCancellationIsUnderWay() {
		CountDownLatch end = new CountDownLatch(1);
		CountDownLatch first = new CountDownLatch(1);
		CountDownLatch last = new CountDownLatch(1);
		AtomicInteger others = new AtomicInteger();
		try (Calls calls = new Calls(Duration.ofMillis(100)); Calls clock = new Calls(Duration.ofMillis(100))) {
			calls.begin(() -> {
				first.countDown();
				Patience.await(end, "the end of the other statements");
			});
			Patience.await(first, "the first cancellation");
			List<Calls.Execution> executions = Stream.generate(() -> calls.begin(others::incrementAndGet))
				.limit(3)
				.toList();
			for (int i = 0; i < 4; i++) { // The other statements are overdue then.
				CountDownLatch tick = new CountDownLatch(1);
				clock.begin(tick::countDown);
				Patience.await(tick, "the time of a statement");
			}
			executions.forEach(Calls.Execution::end);
			end.countDown();
			calls.begin(last::countDown);
			Patience.await(last, "the last cancellation");
			assertThat(others).hasValue(0);
		}
		finally {
			end.countDown();
		}
	}

}
