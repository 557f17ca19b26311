package io.github.distributedlock.engine;

import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Consumer;

import io.github.distributedlock.LockBackendException;
import io.github.distributedlock.LockEvent;
import io.github.distributedlock.LockHandle;
import io.github.distributedlock.LockRequest;
import io.github.distributedlock.backend.memory.InMemoryLockBackend;
import io.github.distributedlock.engine.EngineThreads.CallbackThreads;
import io.github.distributedlock.fixtures.Patience;
import io.github.distributedlock.internal.LossOutcome;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

/**
 * The engine's work in a process that can have no more threads, for as long as a test
 * says so.
 */
class ThreadLimitTests {

	private static final InheritableThreadLocal<String> USER = new InheritableThreadLocal<>();

	private volatile boolean limited;

	private final AtomicInteger refused = new AtomicInteger();

	private final EngineThreads threads = new EngineThreads(null, this::thread);

	private final List<String> done = new CopyOnWriteArrayList<>();

	private final List<LockEvent> events = new CopyOnWriteArrayList<>();

	private final ScriptedBackend backend = new ScriptedBackend(new InMemoryLockBackend());

	private Thread thread(Runnable task) {
		if (this.limited) {
			this.refused.incrementAndGet();
			throw new OutOfMemoryError("unable to create native thread (test)");
		}
		return new Thread(null, task, "lock", 0, false);
	}

	private LockEngine engine(Duration lease) {
		LockEngine.Builder settings = LockEngine.builder(this.backend)
			.watchdogTimeout(lease)
			.waitTime(Duration.ZERO)
			.listener(this.events::add);
		return new LockEngine(settings, this.threads, this.threads, this.threads::close);
	}

	@AfterEach
	void end() {
		this.limited = false;
		USER.remove();
		this.threads.close();
	}

	@Test
	void renewalsShareTheThreadThatLives() {
		this.threads.prepareRenewals();
		this.limited = true;
		CountDownLatch renewed = new CountDownLatch(2);
		this.threads.renewal(renewed::countDown);
		this.threads.renewal(renewed::countDown);
		Patience.await(renewed, "two renewals");
	}

	/**
	 * The limit is reached before the first renewal.
	 */
	@Test
	void heldLockIsRenewedWithoutANewThread() {
		// A machine that stands still must not look like a renewal that does not come.
		LockEngine engine = engine(Duration.ofSeconds(6));
		LockHandle handle = engine.acquire(LockRequest.of("k").detached(true));
		this.limited = true;
		Awaitility.await("two renewals")
			.until(() -> this.backend.steps().stream().filter((step) -> step.startsWith("renew")).count() >= 2);
		assertThat(handle.isHeld()).isTrue();
		handle.close();
	}

	/**
	 * A round of renewals that throws must not end the thread that lives.
	 */
	@Test
	void threadForRenewalsOutlivesARoundThatThrows() {
		this.threads.prepareRenewals();
		this.limited = true;
		this.threads.renewal(() -> {
			throw new OutOfMemoryError("unable to create native thread (test)");
		});
		CountDownLatch renewed = new CountDownLatch(1);
		this.threads.renewal(renewed::countDown);
		Patience.await(renewed, "the next round");
	}

	@Test
	void renewalIsRefusedIfNoThreadLives() {
		this.limited = true;
		AtomicInteger renewals = new AtomicInteger();
		assertThatThrownBy(() -> this.threads.renewal(renewals::incrementAndGet)).isInstanceOf(OutOfMemoryError.class);
		this.limited = false;
		CountDownLatch next = new CountDownLatch(1);
		this.threads.renewal(next::countDown);
		Patience.await(next, "the next renewal");
		assertThat(renewals).as("runs of the one that was refused").hasValue(0);
	}

	@ParameterizedTest
	@ValueSource(strings = { "listener", "action", "callback" })
	void taskIsKeptUntilAThreadCanBeHad(String kind) {
		Consumer<Runnable> way = switch (kind) {
			case "listener" -> this.threads::listener;
			case "action" -> this.threads::action;
			default -> this.threads::callback;
		};
		timerLives();
		this.limited = true;
		way.accept(() -> this.done.add("first"));
		way.accept(() -> this.done.add("second"));
		int before = this.refused.get();
		Awaitility.await("tries again").until(() -> this.refused.get() > before);
		assertThat(this.done).isEmpty();
		this.limited = false;
		Awaitility.await("both ran").until(() -> this.done.size() == 2);
		assertThat(this.done).containsExactlyInAnyOrder("first", "second");
	}

	/**
	 * Keeps the timer's thread alive, as a lock does that is held.
	 */
	private void timerLives() {
		this.threads.schedule(() -> {
		}, Duration.ofHours(1).toNanos());
	}

	@Test
	void callbackIsRefusedIfNothingWouldTryAgain() {
		this.limited = true;
		assertThatThrownBy(() -> this.threads.callback(() -> this.done.add("refused")))
			.isInstanceOf(OutOfMemoryError.class);
		this.limited = false;
		this.threads.callback(() -> this.done.add("next"));
		Awaitility.await("the next one").until(() -> this.done.equals(List.of("next")));
	}

	/**
	 * Earlier callbacks block their threads, and the timer has none to watch them.
	 */
	@Test
	void callbackThatIsQueuedRunsOnceAndIsNotRefused() {
		CountDownLatch begun = new CountDownLatch(CallbackThreads.FEW);
		CountDownLatch end = new CountDownLatch(1);
		for (int i = 0; i < CallbackThreads.FEW; i++) {
			this.threads.callback(() -> {
				begun.countDown();
				Patience.await(end, "the end of the task, from the test");
			});
		}
		Patience.await(begun, "the callbacks");
		this.limited = true;
		this.threads.callback(() -> this.done.add("queued"));
		assertThat(this.refused).as("the timer asked for a thread").hasPositiveValue();
		end.countDown();
		Awaitility.await("the task ran").until(() -> !this.done.isEmpty());
		this.limited = false;
		this.threads.close();
		assertThat(this.done).containsExactly("queued");
	}

	@Test
	void timerThatGotNoThreadRunsWhatIsKeptLater() {
		this.limited = true;
		this.threads.listener(() -> this.done.add("kept"));
		this.limited = false;
		this.threads.schedule(() -> {
		}, 0);
		Awaitility.await("the task ran").until(() -> this.done.equals(List.of("kept")));
	}

	@Test
	void livingListenerTakesWhatIsKept() {
		CountDownLatch begun = new CountDownLatch(1);
		CountDownLatch end = new CountDownLatch(1);
		this.threads.listener(() -> {
			begun.countDown();
			Patience.await(end, "the end of the task, from the test");
		});
		Patience.await(begun, "a listener is called");
		this.limited = true;
		this.threads.listener(() -> this.done.add("kept"));
		end.countDown();
		Awaitility.await("the task ran").until(() -> this.done.equals(List.of("kept")));
	}

	@Test
	void interruptIsGivenByTheCallingThread() {
		this.limited = true;
		this.threads.interrupt(() -> this.done.add(Thread.currentThread().getName()));
		assertThat(this.done).containsExactly(Thread.currentThread().getName());
	}

	@Test
	void endRunsWhatIsKept() {
		this.limited = true;
		this.threads.action(() -> this.done.add("before the end"));
		this.threads.close();
		this.threads.action(() -> this.done.add("after it"));
		assertThat(this.done).containsExactly("before the end", "after it");
	}

	@Test
	void requestWithoutAThreadFailsWithTheReasonAndTheRemedy() {
		LockEngine engine = engine(Duration.ofSeconds(30));
		this.limited = true;
		assertThatExceptionOfType(LockBackendException.class).isThrownBy(() -> engine.acquire("k"))
			.withMessageContaining("'k'")
			.withMessageContaining("no more threads")
			.withMessageContaining("pids.max")
			.matches(LockBackendException::isRetryable);
		CompletableFuture<LockHandle> acquired = engine.acquireAsync(LockRequest.of("a"));
		this.limited = false;
		assertThat(acquired).failsWithin(Patience.PATIENCE)
			.withThrowableThat()
			.withCauseInstanceOf(LockBackendException.class)
			.withMessageContaining("no more threads");
	}

	@Test
	void lossIsToldAtTheLimit() {
		LockEngine engine = engine(Duration.ofSeconds(1));
		LockHandle handle = engine.acquire(LockRequest.of("k").detached(true));
		CountDownLatch interrupted = new CountDownLatch(1);
		handle.onLost(interrupted::countDown, LossOutcome.INTERRUPT);
		handle.onLost(() -> this.done.add("action"));
		handle.onLost(() -> this.done.add("on its executor"), Runnable::run);
		this.limited = true;
		this.backend.release("k", handle.owner());
		Patience.await(interrupted, "the interrupt, at the limit");
		Awaitility.await("tries to start the others").until(() -> this.refused.get() > 3);
		this.limited = false;
		Awaitility.await("the actions and the event").until(() -> this.done.size() == 2 && lost() == 1);
	}

	private long lost() {
		return this.events.stream().filter(LockEvent.Lost.class::isInstance).count();
	}

	@Test
	void threadsInheritNothingOfTheOneThatStartsThem() throws InterruptedException {
		ClassLoader known = Thread.currentThread().getContextClassLoader();
		EngineThreads real = new EngineThreads(null);
		List<Consumer<Runnable>> kinds = List.of(real::renewal, real::background, real::request, real::listener,
				real::action, real::callback, (task) -> real.schedule(task, 0));
		List<String> users = new CopyOnWriteArrayList<>();
		List<ClassLoader> loaders = new CopyOnWriteArrayList<>();
		CountDownLatch ran = new CountDownLatch(kinds.size());
		Thread caller = new Thread(() -> {
			USER.set("somebody");
			Thread.currentThread().setContextClassLoader(new ClassLoader(null) {
			});
			kinds.forEach((kind) -> kind.accept(() -> {
				users.add(String.valueOf(USER.get()));
				loaders.add(Thread.currentThread().getContextClassLoader());
				ran.countDown();
			}));
		});
		caller.start();
		Patience.await(ran, "a task of each kind");
		real.close();
		assertThat(users).containsOnly("null");
		assertThat(loaders).containsOnly(known);
	}

}
