package io.github.distributedlock.aop;

import java.time.Duration;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.Semaphore;
import java.util.concurrent.SynchronousQueue;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.Stream;

import io.github.distributedlock.LockLostException;
import io.github.distributedlock.OnLost;
import io.github.distributedlock.annotation.DistributedLock;
import io.github.distributedlock.backend.memory.InMemoryLockBackend;
import io.github.distributedlock.engine.LockEngine;
import io.github.distributedlock.engine.WallClock;
import io.github.distributedlock.fixtures.OwnThreads;
import io.github.distributedlock.fixtures.Patience;
import io.github.distributedlock.fixtures.StubHandle;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.Primary;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

/**
 * {@code onLost = INTERRUPT} interrupts the method, and nothing after the method.
 */
class InterruptTests extends AdvisedFixture<InterruptTests.Service> {

	@RegisterExtension
	final OwnThreads threads = new OwnThreads();

	private static final int ROUNDS = 5_000;

	InterruptTests() {
		super(Service.class);
	}

	@AfterEach
	void stop() {
		assertThat(Thread.interrupted()).as("an interrupt reached beyond the method").isFalse();
	}

	@Test
	void methodThatWaitsIsInterruptedByAnotherThread() {
		CountDownLatch running = new CountDownLatch(1);
		CompletableFuture<Void> loss = CompletableFuture.runAsync(() -> {
			Patience.await(running, "the method runs");
			this.lock.lose();
		}, this.threads);
		assertThatExceptionOfType(InterruptedException.class).isThrownBy(() -> this.service.run(() -> {
			running.countDown();
			new CountDownLatch(1).await(Patience.PATIENCE.toSeconds(), TimeUnit.SECONDS);
		}))
			.satisfies((ex) -> assertThat(ex.getSuppressed()).singleElement()
				.isInstanceOf(LockLostException.class)
				.extracting(Throwable::getMessage)
				.isEqualTo("lost: [a]"));
		Patience.get(loss, "the loss");
		assertThat(this.lock.events).containsExactly("acquire", "lost", "release");
	}

	/**
	 * The library's own reaction has a thread, though the application's executor never
	 * has one.
	 */
	@Test
	void interruptDoesNotWaitForActionsOfTheApplication() {
		try (AdvisorContext withEngine = AdvisorContext.of(Service.class, EngineWithoutCallbacks.class)) {
			Service locked = withEngine.get(Service.class);
			WallClock clock = withEngine.get(WallClock.class);
			assertThatExceptionOfType(InterruptedException.class).isThrownBy(() -> locked.fixed(() -> {
				clock.advance(Duration.ofSeconds(30));
				new CountDownLatch(1).await(Patience.PATIENCE.toSeconds(), TimeUnit.SECONDS);
			}));
		}
	}

	@Test
	void resultIsReturnedAsItIs() throws Exception {
		assertThat(this.service.returning(() -> {
			this.lock.lose();
			assertThat(Thread.currentThread().isInterrupted()).isTrue();
			return "done";
		})).isEqualTo("done");
		assertThat(Thread.currentThread().isInterrupted()).isFalse();
	}

	@Test
	void methodThatReportsOnlyIsNotInterrupted() throws Exception {
		this.service.report(() -> {
			this.lock.lose();
			assertThat(Thread.currentThread().isInterrupted()).isFalse();
		});
	}

	@Test
	void lossAfterTheMethodInterruptsNobody() {
		RunningCall method = new RunningCall(new StubHandle(List.of("k")), false);
		method.close();
		method.interrupt();
		assertThat(Thread.currentThread().isInterrupted()).isFalse();
	}

	@Test
	void interruptOfSomebodyElseIsKept() throws Exception {
		this.service.run(() -> {
			Thread.currentThread().interrupt();
		});
		assertThat(Thread.interrupted()).as("there was no loss").isTrue();
		this.service.run(() -> {
			Thread.currentThread().interrupt();
			this.lock.lose();
		});
		assertThat(Thread.interrupted()).as("the interrupt came before the loss").isTrue();
		this.service.run(() -> {
			this.lock.lose();
			assertThat(Thread.interrupted()).isTrue();
		});
		assertThat(Thread.interrupted()).as("only the loss").isFalse();
	}

	/**
	 * The calls of the inner method come one after the other. Each loses keys, or takes
	 * the interrupt.
	 */
	@ParameterizedTest
	@CsvSource(textBlock = """
			a,              true
			a b,            true
			b a,            true
			b take a,       true
			a b take,       true
			b a take,       true
			a take b take,  true
			b take a take,  true
			a take,         false
			a take; b take, false
			b,              false
			b take,         false
			""")
	void interruptOfTheOuterMethodAfterInnerOnes(String calls, boolean interrupted) throws Exception {
		this.service.run(() -> {
			for (String call : calls.split("; ")) {
				this.service.inner(() -> Stream.of(call.split(" ")).forEach(this::step));
			}
			assertThat(Thread.interrupted()).isEqualTo(interrupted);
			this.service.inner(() -> {
			});
			assertThat(Thread.currentThread().isInterrupted()).as("a second time").isFalse();
		});
	}

	private void step(String step) {
		if (step.equals("take")) {
			assertThat(Thread.interrupted()).isTrue();
		}
		else {
			this.lock.lose(step);
		}
	}

	@Test
	void eachOfThreeMethodsIsInterrupted() throws Exception {
		this.service.run(() -> {
			this.service.inner(() -> {
				this.service.innermost(() -> {
					this.lock.lose();
					assertThat(Thread.interrupted()).isTrue();
				});
				assertThat(Thread.interrupted()).as("the method between").isTrue();
			});
			assertThat(Thread.interrupted()).as("the outermost method").isTrue();
		});
	}

	@Test
	void methodBetweenDoesNotTakeTheInterruptOfTheOutermostOne() throws Exception {
		this.service.run(() -> {
			this.service.inner(() -> this.service.innermost(() -> {
				this.lock.lose("c");
				this.lock.lose("a");
			}));
			assertThat(Thread.currentThread().isInterrupted()).isTrue();
		});
	}

	/**
	 * The end of the method and the loss of the lock race. Whichever wins, no interrupt
	 * is left when the method has ended, and none comes later.
	 */
	@Test
	void interruptNeverReachesBeyondTheMethod() throws Exception {
		SynchronousQueue<Integer> rounds = new SynchronousQueue<>();
		SynchronousQueue<Integer> ends = new SynchronousQueue<>();
		Thread thief = new Thread(() -> {
			try {
				for (int round = rounds.poll(Patience.PATIENCE.toSeconds(), TimeUnit.SECONDS); round > 0; round = rounds
					.poll(Patience.PATIENCE.toSeconds(), TimeUnit.SECONDS)) {
					spin();
					this.lock.lose();
					ends.put(round);
				}
			}
			catch (InterruptedException ex) {
				throw new IllegalStateException(ex);
			}
		});
		thief.setDaemon(true);
		thief.start();
		AtomicInteger interrupted = new AtomicInteger();
		for (int round = 1; round <= ROUNDS; round++) {
			int current = round;
			this.service.run(() -> {
				rounds.put(current);
				spin();
				if (Thread.currentThread().isInterrupted()) {
					interrupted.incrementAndGet();
				}
			});
			assertThat(Thread.currentThread().isInterrupted()).as("after the method").isFalse();
			assertThat(ends.poll(Patience.PATIENCE.toSeconds(), TimeUnit.SECONDS))
				.as("what blocks next is not interrupted")
				.isEqualTo(round);
			assertThat(Thread.currentThread().isInterrupted()).as("after the loss").isFalse();
			new Semaphore(0).tryAcquire(1, TimeUnit.NANOSECONDS);
		}
		rounds.put(0);
		Patience.join(thief);
		assertThat(interrupted).as("losses that came in time").hasPositiveValue();
	}

	private static void spin() {
		for (int i = ThreadLocalRandom.current().nextInt(2_000); i > 0; i--) {
			Thread.onSpinWait();
		}
	}

	@Configuration(proxyBeanMethods = false)
	static class EngineWithoutCallbacks {

		@Bean
		WallClock clock() {
			return new WallClock();
		}

		@Bean
		@Primary
		LockEngine engine(WallClock clock) {
			return clock.build(LockEngine.builder(new InMemoryLockBackend()).callbackExecutor((task) -> {
			}));
		}

	}

	interface Body {

		void run() throws Exception;

	}

	static class Service {

		@DistributedLock(key = "'a'", onLost = OnLost.INTERRUPT)
		public Object returning(Callable<Object> body) throws Exception {
			return body.call();
		}

		@DistributedLock(key = "'a'", onLost = OnLost.INTERRUPT)
		public void run(Body body) throws Exception {
			body.run();
		}

		@DistributedLock(key = "'b'", onLost = OnLost.INTERRUPT)
		public void inner(Body body) throws Exception {
			body.run();
		}

		@DistributedLock(key = "'c'", onLost = OnLost.INTERRUPT)
		public void innermost(Body body) throws Exception {
			body.run();
		}

		@DistributedLock(key = "'a'", leaseTime = "30s", onLost = OnLost.INTERRUPT)
		public void fixed(Body body) throws Exception {
			body.run();
		}

		@DistributedLock(key = "'a'")
		public void report(Body body) throws Exception {
			body.run();
		}

	}

}
