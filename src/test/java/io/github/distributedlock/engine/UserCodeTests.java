package io.github.distributedlock.engine;

import java.io.IOException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Stream;

import ch.qos.logback.classic.Level;
import ch.qos.logback.classic.Logger;
import ch.qos.logback.classic.spi.ILoggingEvent;
import ch.qos.logback.core.Appender;
import ch.qos.logback.core.AppenderBase;
import io.github.distributedlock.LockEvent;
import io.github.distributedlock.LockHandle;
import io.github.distributedlock.LockListener;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import org.slf4j.LoggerFactory;

import org.springframework.boot.test.system.CapturedOutput;
import org.springframework.boot.test.system.OutputCaptureExtension;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Exceptions of a listener or an action matter to nobody else.
 */
@ExtendWith(OutputCaptureExtension.class)
class UserCodeTests extends EngineFixture {

	private final List<LockEvent> heard = new ArrayList<>();

	static Stream<Throwable> throwables() {
		return Stream.of(new IllegalStateException("mine"), new IOException("sneaky"), new NotImplementedError(),
				new StackOverflowError("mine"), new OutOfMemoryError("mine"), new LinkageError("mine"),
				new NoMessage());
	}

	@ParameterizedTest
	@MethodSource("throwables")
	void listenerThatThrowsCostsNobodyTheHandleAndNobodyTheEvent(Throwable thrown) {
		LockEngine engine = engine(new Thrower(thrown), this.heard::add);
		try (LockHandle handle = engine.acquire("k")) {
			assertThat(handle.isHeld()).isTrue();
			assertThat(engine(this.heard::add).tryAcquire("k")).isEmpty();
		}
		assertThat(holderOf("k")).isNull();
		this.store.acquire(io.github.distributedlock.backend.Claim.of("k", "other#1:1", "other#1", LEASE));
		assertThat(engine.tryAcquire("k")).isEmpty();
		assertThat(this.heard).extracting((event) -> event.getClass().getSimpleName())
			.containsExactly("Acquired", "NotAcquired", "Released", "NotAcquired");
	}

	@ParameterizedTest
	@MethodSource("throwables")
	void whatThrowsAtALossKeepsNobodyElseFromBeingTold(Throwable thrown) {
		LockEngine engine = engine(new Thrower(thrown), this.heard::add);
		List<String> told = new ArrayList<>();
		List<LockHandle> handles = new ArrayList<>();
		for (String key : List.of("a", "b")) {
			LockHandle handle = engine.acquire(request(key).leaseTime(Duration.ofSeconds(1)));
			handle.onLost(() -> sneak(thrown)).onLost(() -> told.add(key));
			handle.onLost(() -> sneak(thrown), Runnable::run).onLost(() -> told.add(key + " at once"), Runnable::run);
			handle.onLost(() -> told.add("never"), (task) -> sneak(thrown));
			handles.add(handle);
		}
		this.time.advance(Duration.ofSeconds(1));
		assertThat(told).containsExactlyInAnyOrder("a", "a at once", "b", "b at once");
		assertThat(this.heard).filteredOn(LockEvent.Lost.class::isInstance).hasSize(2);
		handles.get(0).onLost(() -> sneak(thrown));
		handles.forEach(LockHandle::close);
	}

	@Test
	void whatAListenerThrowsIsLoggedWithItsClassAndTheEvent(CapturedOutput output) {
		engine(new Thrower(new NotImplementedError())).acquire("k").close();
		assertThat(output)
			.contains("Lock listener " + Thrower.class.getName() + " on Acquired[request=LockRequest[keys=[k]")
			.contains("An operation is not implemented");
	}

	@Test
	void logThatThrowsCostsNobodyTheHandle() {
		withBrokenLog(() -> engine(new Thrower(new IllegalStateException("mine"))).acquire("k").close());
		assertThat(holderOf("k")).isNull();
	}

	@Test
	void logThatThrowsAtEachStepCostsNobodyTheHandle() {
		Logger logger = (Logger) LoggerFactory.getLogger(LockEngine.class.getPackageName());
		Level level = logger.getLevel();
		logger.setLevel(Level.DEBUG);
		try {
			withBrokenLog(() -> this.engine.acquire("k").close());
		}
		finally {
			logger.setLevel(level);
		}
		assertThat(holderOf("k")).isNull();
	}

	@Test
	void logThatThrowsKeepsNoHandleFromBeingClosedElsewhere() {
		LockHandle handle = inThread(() -> this.engine.acquire("k")).join();
		withBrokenLog(handle::close);
		assertThat(holderOf("k")).isNull();
	}

	/**
	 * Runs something while the log throws on the calling thread, as an appender may that
	 * was told not to ignore exceptions.
	 */
	private static void withBrokenLog(Runnable action) {
		Logger logger = (Logger) LoggerFactory.getLogger(LockEngine.class.getPackageName());
		Thread here = Thread.currentThread();
		Appender<ILoggingEvent> broken = new AppenderBase<>() {

			@Override
			public void doAppend(ILoggingEvent event) {
				if (Thread.currentThread() == here) {
					throw new NotImplementedError();
				}
			}

			@Override
			protected void append(ILoggingEvent event) {
			}

		};
		logger.addAppender(broken);
		try {
			action.run();
		}
		finally {
			logger.detachAppender(broken);
		}
	}

	@Test
	void interruptThatAListenerTurnsIntoAnExceptionIsKept() {
		engine(new Thrower(new InterruptedException())).acquire("k").close();
		assertThat(Thread.interrupted()).isTrue();
	}

	/**
	 * The same goes for an executor that throws after running a task.
	 */
	@Test
	void actionRunsOnceWhateverItsExecutorDoes() {
		List<String> told = new ArrayList<>();
		LockHandle handle = this.engine.acquire(request("k").leaseTime(Duration.ofSeconds(1)));
		handle.onLost(() -> told.add("k"), (task) -> {
			task.run();
			task.run();
		});
		this.time.advance(Duration.ofSeconds(1));
		assertThat(told).containsExactly("k");
		handle.close();
	}

	@Test
	void actionThatTakesLongIsLoggedWithWhereItIs(CapturedOutput output) {
		LockHandle handle = this.engine.acquire(request("k").leaseTime(Duration.ofSeconds(1)));
		handle.onLost(() -> {
			this.time.advance(Duration.ofMillis(9_999));
			assertThat(output).doesNotContain("has been running");
			this.time.advance(Duration.ofMillis(1));
		});
		this.time.advance(Duration.ofSeconds(1));
		assertThat(output).containsOnlyOnce("An onLost action of lock [k] has been running for 10 s")
			.contains("actionThatTakesLongIsLoggedWithWhereItIs");
		handle.close();
	}

	@Test
	void actionThatEndsInTimeIsNotLogged(CapturedOutput output) {
		LockHandle handle = this.engine.acquire(request("k").leaseTime(Duration.ofSeconds(1)));
		handle.onLost(() -> this.time.advance(Duration.ofSeconds(9)));
		this.time.advance(Duration.ofMinutes(1));
		assertThat(output).contains("Lock 'k' of").doesNotContain("has been running");
		handle.close();
	}

	@Test
	void actionRunsEvenIfNoThreadCanWatchIt() {
		List<String> told = new ArrayList<>();
		LockHandle handle = this.engine.acquire(request("k").leaseTime(Duration.ofSeconds(1)));
		handle.onLost(() -> told.add("k"), (task) -> {
			this.time.lackAThread("timer");
			task.run();
		});
		this.time.advance(Duration.ofSeconds(1));
		assertThat(told).containsExactly("k");
		handle.close();
	}

	@Test
	void listenerThatTakesLongWithALossIsLogged(CapturedOutput output) {
		LockEngine engine = engine((event) -> {
			if (event instanceof LockEvent.Lost) {
				this.time.advance(Duration.ofSeconds(10));
			}
		});
		LockHandle handle = engine.acquire(request("k").leaseTime(Duration.ofSeconds(1)));
		this.time.advance(Duration.ofSeconds(1));
		assertThat(output).containsPattern("Lock listener .* on Lost.* has been running for 10 s");
		handle.close();
	}

	private LockEngine engine(LockListener... listeners) {
		LockEngine.Builder builder = LockEngine.builder(this.backend).watchdogTimeout(LEASE);
		for (LockListener listener : listeners) {
			builder.listener(listener);
		}
		return build(builder);
	}

	@SuppressWarnings("unchecked")
	private static <T extends Throwable> void sneak(Throwable thrown) throws T {
		throw (T) thrown;
	}

	private record Thrower(Throwable thrown) implements LockListener {

		@Override
		public void onEvent(LockEvent event) {
			sneak(this.thrown);
		}

		@Override
		public String toString() {
			throw new IllegalStateException("no text");
		}

	}

	/**
	 * An error like that of Kotlin's {@code TODO()}.
	 */
	private static final class NotImplementedError extends Error {

		private NotImplementedError() {
			super("An operation is not implemented");
		}

	}

	private static final class NoMessage extends RuntimeException {

		@Override
		public String getMessage() {
			throw new IllegalStateException("no message");
		}

	}

}
