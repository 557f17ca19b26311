package io.github.distributedlock.backend.redis.internal;

import java.net.URL;
import java.net.URLClassLoader;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.Supplier;

import io.github.distributedlock.fixtures.OwnThreads;
import io.github.distributedlock.fixtures.Patience;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

import org.springframework.data.redis.RedisConnectionFailureException;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.awaitility.Awaitility.await;

class OpeningTests {

	private static final Duration TIMEOUT = Duration.ofMillis(50);

	private final AtomicInteger openings = new AtomicInteger();

	@RegisterExtension
	final OwnThreads threads = new OwnThreads();

	private final CountDownLatch open = new CountDownLatch(1);

	private volatile Supplier<String> opener = () -> "opened";

	private final Opening<String> opening = new Opening<>(() -> {
		this.openings.incrementAndGet();
		return this.opener.get();
	}, TIMEOUT, Opening.FIRST);

	@AfterEach
	void letGo() {
		this.open.countDown();
	}

	@Test
	void isDoneOnceForAllWhoWantItAtTheSameTime() {
		this.opener = this::openedWhenLetGo;
		List<CompletableFuture<String>> callers = new ArrayList<>();
		for (int i = 0; i < 8; i++) {
			callers.add(CompletableFuture.supplyAsync(this.opening::await, this.threads));
		}
		await().until(() -> this.threads.all()
			.stream()
			.allMatch((thread) -> thread.getState() == Thread.State.TIMED_WAITING));
		this.open.countDown();
		assertThat(callers)
			.allSatisfy((caller) -> assertThat(Patience.get(caller, "what was opened")).isEqualTo("opened"));
		assertThat(this.openings).hasValue(1);
	}

	@Test
	void whoeverWaitsOpensWhereNoThreadCanBeHad() {
		Opening<String> limited = new Opening<>(this.opener, TIMEOUT, Opening.FIRST, 1, System::nanoTime, (task) -> {
			throw new OutOfMemoryError("unable to create native thread (test)");
		});
		assertThat(limited.await()).isEqualTo("opened");
	}

	@Test
	void theVeryFirstMayTakeLongerThanACommand() {
		this.opener = () -> {
			CompletableFuture
				.delayedExecutor(4 * TIMEOUT.toMillis(), java.util.concurrent.TimeUnit.MILLISECONDS, this.threads)
				.execute(this.open::countDown);
			return openedWhenLetGo();
		};
		assertThat(this.opening.await()).isEqualTo("opened");
	}

	@Test
	void nobodyIsPatientAfterTheVeryFirstHasFailed() {
		long timeout = TIMEOUT.toNanos();
		this.opener = () -> {
			throw new RedisConnectionFailureException("refused");
		};
		assertThatExceptionOfType(UnsentException.class).isThrownBy(this.opening::await);
		assertThat(this.opening.timeout(timeout)).as("a command timeout").isEqualTo(timeout);
		assertThat(this.opening.timeout(timeout / 4)).as("no longer than there is time").isEqualTo(timeout / 4);
	}

	@Test
	void nobodyIsPatientWithTheVeryFirstForEver() {
		AtomicLong now = new AtomicLong();
		long timeout = TIMEOUT.toNanos();
		Opening<String> stuck = new Opening<>(this::openedWhenLetGo, TIMEOUT, Opening.FIRST, 1, () -> now.get(),
				this.threads);
		Thread waiting = new Thread(() -> stuck.await());
		waiting.start();
		await("the first is begun").until(() -> waiting.getState() == Thread.State.TIMED_WAITING);
		assertThat(stuck.timeout(timeout)).isGreaterThan(10 * timeout);
		now.addAndGet(Duration.ofSeconds(5).toNanos());
		assertThat(stuck.timeout(timeout)).isEqualTo(timeout);
		this.open.countDown();
		Patience.join(waiting); // The end of the test would interrupt the opening.
	}

	@Test
	void oneThatAnotherHasPrecededIsNotGivenLonger() {
		long timeout = TIMEOUT.toNanos();
		Opening<String> second = new Opening<>(this::openedWhenLetGo, TIMEOUT);
		assertThatExceptionOfType(UnsentException.class).isThrownBy(second::await);
		assertThat(second.timeout(timeout)).as("while its first is under way").isEqualTo(timeout);
	}

	@Test
	void anotherIsWaitedForNoLongerThanACommandAndGoesOn() {
		this.opening.await();
		this.opener = this::openedWhenLetGo;
		for (int i = 0; i < 3; i++) {
			assertThatExceptionOfType(UnsentException.class).isThrownBy(this.opening::await)
				.havingCause()
				.withMessageContaining("the connection is still being opened");
		}
		await("the thread that opens has begun").until(() -> this.openings.get() > 1);
		assertThat(this.openings).as("the same one").hasValue(2);
		this.open.countDown();
		await().ignoreException(UnsentException.class).until(() -> this.opening.await().equals("opened"));
	}

	@Test
	void aConnectionIsOpenedOnceMoreBesideOneThatHangs() {
		Opening<String> repeated = Opening
			.repeated(() -> (this.openings.incrementAndGet() == 1) ? openedWhenLetGo() : "another", TIMEOUT);
		await().ignoreException(UnsentException.class).until(() -> repeated.await().equals("another"));
		assertThat(this.open.getCount()).as("the first hangs").isEqualTo(1);
	}

	@Test
	void oneThatTakesLongServesWhoWaitsThen() {
		Opening<String> repeated = Opening.repeated(() -> {
			this.openings.incrementAndGet();
			return openedWhenLetGo();
		}, TIMEOUT);
		await().until(() -> {
			assertThatExceptionOfType(UnsentException.class).isThrownBy(repeated::await);
			return this.openings.get() > 1;
		});
		this.open.countDown();
		await().ignoreException(UnsentException.class).until(() -> repeated.await().equals("opened"));
	}

	@Test
	void onlyAFewOpeningsHang() {
		AtomicLong now = new AtomicLong();
		Opening<String> repeated = new Opening<>(() -> {
			this.openings.incrementAndGet();
			return openedWhenLetGo();
		}, TIMEOUT, Duration.ZERO, Opening.MOST_REPEATED, now::get, this.threads);
		for (int i = 0; i < 20; i++) {
			repeated.begin();
			now.addAndGet(100 * TIMEOUT.toNanos());
		}
		await().until(() -> this.openings.get() == Opening.MOST_REPEATED);
	}

	@Test
	void whatFailsIsTriedAgainByTheNext() {
		this.opener = () -> {
			throw new RedisConnectionFailureException("refused");
		};
		assertThatExceptionOfType(UnsentException.class).isThrownBy(this.opening::await)
			.havingCause()
			.withMessage("refused");
		this.opener = () -> "opened";
		await().ignoreException(UnsentException.class).until(() -> this.opening.await().equals("opened"));
	}

	@Test
	void inheritsNothingOfWhoAsksFirst() {
		InheritableThreadLocal<String> user = new InheritableThreadLocal<>();
		user.set("alice");
		ClassLoader before = Thread.currentThread().getContextClassLoader();
		Thread.currentThread().setContextClassLoader(new URLClassLoader(new URL[0], before));
		try {
			this.opener = () -> user.get() + " " + Thread.currentThread().getContextClassLoader();
			assertThat(this.opening.await()).isEqualTo("null " + Opening.class.getClassLoader());
		}
		finally {
			Thread.currentThread().setContextClassLoader(before);
			user.remove();
		}
	}

	@Test
	void whoIsInterruptedWaitsOnAndKeepsTheFlag() {
		Thread caller = Thread.currentThread();
		this.opener = () -> {
			await().until(() -> !caller.isInterrupted() && caller.getState() == Thread.State.TIMED_WAITING);
			return "opened";
		};
		caller.interrupt();
		String opened = this.opening.await();
		assertThat(Thread.interrupted()).isTrue();
		assertThat(opened).isEqualTo("opened");
	}

	private String openedWhenLetGo() {
		Patience.await(this.open, "to be let go");
		return "opened";
	}

}
