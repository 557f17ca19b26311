package io.github.distributedlock.autoconfigure;

import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;

import io.github.distributedlock.LockEvent;
import io.github.distributedlock.LockHandle;
import io.github.distributedlock.LockListener;
import io.github.distributedlock.LockLostException;
import io.github.distributedlock.OnLost;
import io.github.distributedlock.annotation.DistributedLock;
import io.github.distributedlock.fixtures.Patience;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;

import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.boot.test.system.CapturedOutput;
import org.springframework.boot.test.system.OutputCaptureExtension;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

/**
 * A fixed lease that runs out inside the method is a loss, and the message says what to
 * do.
 */
@ExtendWith(OutputCaptureExtension.class)
class LeaseTooShortTests {

	private static final String ADVICE = "its fixed lease of 1 s ran out before it was released (leave the"
			+ " leaseTime empty to have the lease renewed for as long as the work takes)";

	private final List<LockEvent> events = new CopyOnWriteArrayList<>();

	private final ApplicationContextRunner runner = Contexts.inMemory()
		.withBean(LockListener.class, () -> this.events::add)
		.withBean(Service.class);

	@Test
	void report(CapturedOutput output) {
		this.runner.run((context) -> {
			assertThat(context.getBean(Service.class).report(LeaseTooShortTests::outlastTheLock)).isEqualTo("done");
			assertTold(output);
		});
	}

	@Test
	void interrupt(CapturedOutput output) {
		this.runner.run((context) -> {
			assertThatExceptionOfType(InterruptedException.class)
				.isThrownBy(() -> context.getBean(Service.class).interrupt(() -> {
					new CountDownLatch(1).await(Patience.PATIENCE.toSeconds(), TimeUnit.SECONDS);
					return "done";
				}))
				.satisfies((ex) -> assertThat(ex.getSuppressed()).singleElement().satisfies(this::isLoss));
			assertThat(Thread.currentThread().isInterrupted()).isFalse();
			assertTold(output);
		});
	}

	@Test
	void interruptComesThoughAListenerIsSlow() {
		CountDownLatch end = new CountDownLatch(1);
		this.runner.withBean("slow", LockListener.class, () -> (event) -> {
			if (event instanceof LockEvent.Lost) {
				Patience.await(end, "the end of the test");
			}
		}).run((context) -> {
			for (int call = 0; call < 2; call++) {
				assertThatExceptionOfType(InterruptedException.class)
					.isThrownBy(() -> context.getBean(Service.class).interrupt(() -> {
						new CountDownLatch(1).await(Patience.PATIENCE.toSeconds(), TimeUnit.SECONDS);
						return "done";
					}));
			}
			end.countDown();
		});
	}

	@Test
	void fail(CapturedOutput output) {
		this.runner.run((context) -> {
			assertThatExceptionOfType(LockLostException.class)
				.isThrownBy(() -> context.getBean(Service.class).fail(LeaseTooShortTests::outlastTheLock))
				.satisfies(this::isLoss);
			assertTold(output);
		});
	}

	@Test
	void innerMethodThatReentersLooksAtTheSameLock() {
		this.runner.run((context) -> {
			Service service = context.getBean(Service.class);
			assertThat(service.report(() -> {
				assertThatExceptionOfType(LockLostException.class)
					.isThrownBy(() -> service.inner(LeaseTooShortTests::outlastTheLock))
					.satisfies(this::isLoss);
				return "went on";
			})).isEqualTo("went on");
			assertThat(this.events).as("acquired once").filteredOn(LockEvent.Acquired.class::isInstance).hasSize(1);
		});
	}

	private void isLoss(Throwable thrown) {
		assertThat(thrown).isInstanceOf(LockLostException.class)
			.hasMessageStartingWith("Lock 'k' of ")
			.hasMessageEndingWith("was lost: " + ADVICE);
		assertThat(((LockLostException) thrown).reason()).isEqualTo(LockEvent.Lost.Reason.LEASE_EXPIRED);
	}

	private void assertTold(CapturedOutput output) {
		Awaitility.await("the loss").until(() -> lost().findAny().isPresent());
		assertThat(lost()).singleElement()
			.extracting(LockEvent.Lost::reason)
			.isEqualTo(LockEvent.Lost.Reason.LEASE_EXPIRED);
		// The method may be interrupted before the loss is logged. The loss of another
		// test may be logged late, too, but has another owner.
		String owner = lost().map(LockEvent.Lost::owner).findAny().orElseThrow();
		Awaitility.await("the log")
			.until(() -> output.getAll()
				.lines()
				.filter((line) -> line.contains(owner + " was lost after ") && line.endsWith(ADVICE))
				.count() == 1);
	}

	private Stream<LockEvent.Lost> lost() {
		return this.events.stream().filter(LockEvent.Lost.class::isInstance).map(LockEvent.Lost.class::cast);
	}

	private static String outlastTheLock() {
		LockHandle handle = LockHandle.current().orElseThrow();
		Awaitility.await().until(() -> !handle.isHeld());
		return "done";
	}

	static class Service {

		@DistributedLock(key = "'k'", leaseTime = "1s")
		public String report(Callable<String> body) throws Exception {
			return body.call();
		}

		@DistributedLock(key = "'k'", leaseTime = "1s", onLost = OnLost.INTERRUPT)
		public String interrupt(Callable<String> body) throws Exception {
			return body.call();
		}

		@DistributedLock(key = "'k'", leaseTime = "1s", onLost = OnLost.THROW)
		public String fail(Callable<String> body) throws Exception {
			return body.call();
		}

		@DistributedLock(key = "'k'", onLost = OnLost.THROW)
		public String inner(Callable<String> body) throws Exception {
			return body.call();
		}

	}

}
