package io.github.distributedlock.backend.jdbc;

import java.net.URL;
import java.net.URLClassLoader;
import java.sql.SQLException;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;

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

}
