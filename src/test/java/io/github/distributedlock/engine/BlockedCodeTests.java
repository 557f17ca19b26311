package io.github.distributedlock.engine;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.RejectedExecutionException;
import java.util.function.Consumer;

import ch.qos.logback.classic.Logger;
import ch.qos.logback.classic.spi.ILoggingEvent;
import ch.qos.logback.core.Appender;
import ch.qos.logback.core.UnsynchronizedAppenderBase;
import io.github.distributedlock.LockEvent;
import io.github.distributedlock.LockHandle;
import io.github.distributedlock.LockListener;
import io.github.distributedlock.LockRequest;
import io.github.distributedlock.backend.memory.InMemoryLockBackend;
import io.github.distributedlock.fixtures.Patience;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.parallel.Execution;
import org.junit.jupiter.api.parallel.ExecutionMode;
import org.slf4j.LoggerFactory;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Code of the application that never ends delays nothing of the library, and by default
 * no other code of the application either. On the engine's own threads.
 */
@Execution(ExecutionMode.CONCURRENT)
class BlockedCodeTests {

	/**
	 * More than the engine has threads of any kind for its own work.
	 */
	private static final int MANY = 9;

	private static final Duration LEASE = Duration.ofSeconds(30);

	private final CountDownLatch end = new CountDownLatch(1);

	private final CountDownLatch blocked = new CountDownLatch(MANY);

	private final ScriptedBackend backend = new ScriptedBackend(new InMemoryLockBackend());

	private final WallClock clock = new WallClock();

	private final ExecutorService oneThread = Executors.newSingleThreadExecutor();

	private LockEngine engine;

	@AfterEach
	void end() {
		this.end.countDown();
		this.oneThread.shutdownNow();
		if (this.engine != null) {
			this.engine.close();
		}
	}

	@Test
	void actionsThatBlockKeepNobodyFromBeingTold() {
		CountDownLatch event = new CountDownLatch(MANY + 1);
		start(LockEngine.builder(this.backend).listener(onLost(event::countDown)));
		loseManyWith((handle) -> handle.onLost(this::block));
		Patience.await(this.blocked, "all actions block");
		CountDownLatch reaction = new CountDownLatch(1);
		CountDownLatch action = new CountDownLatch(1);
		acquire("k").onLost(reaction::countDown, Runnable::run).onLost(action::countDown);
		loseAll();
		Patience.await(reaction, "a reaction of the library");
		Patience.await(action, "an action of another");
		Patience.await(event, "the events");
	}

	@Test
	void listenerThatBlocksDelaysNoOtherListenerAndNoAction() {
		CountDownLatch event = new CountDownLatch(MANY);
		CountDownLatch blocks = new CountDownLatch(1);
		start(LockEngine.builder(this.backend).listener(onLost(() -> {
			blocks.countDown();
			block();
		})).listener(onLost(event::countDown)));
		CountDownLatch action = new CountDownLatch(MANY);
		loseManyWith((handle) -> handle.onLost(action::countDown));
		Patience.await(blocks, "the listener blocks");
		Patience.await(event, "the events for the other one");
		Patience.await(action, "the actions");
	}

	@Test
	void listenerGetsItsEventsInOrderAndOneAtATime() {
		List<String> keys = new ArrayList<>();
		CountDownLatch rest = new CountDownLatch(1);
		CountDownLatch all = new CountDownLatch(3);
		start(LockEngine.builder(this.backend).listener((event) -> {
			if (event instanceof LockEvent.Lost lost) {
				Patience.await(rest, "the other lossHandler");
				keys.add(lost.key()); // The list is not thread-safe.
				all.countDown();
			}
		}));
		for (int i = 0; i < 3; i++) {
			CountDownLatch lost = new CountDownLatch(1);
			acquire("k" + i).onLost(lost::countDown);
			loseAll();
			Patience.await(lost, "loss " + i);
		}
		rest.countDown();
		Patience.await(all, "all events");
		assertThat(keys).containsExactly("k0", "k1", "k2");
	}

	@Test
	void executorWhoseThreadsBlockDelaysActionsOnly() {
		CountDownLatch event = new CountDownLatch(3);
		start(LockEngine.builder(this.backend).callbackExecutor(this.oneThread).listener(onLost(event::countDown)));
		CountDownLatch blocks = new CountDownLatch(1);
		CountDownLatch action = new CountDownLatch(1);
		CountDownLatch reaction = new CountDownLatch(1);
		acquire("a").onLost(() -> {
			blocks.countDown();
			block();
		});
		loseAll();
		Patience.await(blocks, "the executor's only thread blocks");
		acquire("b").onLost(action::countDown);
		acquire("c").onLost(reaction::countDown, Runnable::run);
		loseAll();
		Patience.await(reaction, "a reaction of the library");
		Patience.await(event, "the events");
		assertThat(action.getCount()).as("the action waits for the executor").isOne();
		this.end.countDown();
		Patience.await(action, "the action of another");
	}

	@Test
	void executorThatBlocksItselfDelaysNothing() {
		start(LockEngine.builder(this.backend).callbackExecutor(Runnable::run));
		loseManyWith((handle) -> handle.onLost(this::block));
		Patience.await(this.blocked, "all actions block");
		CountDownLatch action = new CountDownLatch(1);
		acquire("k").onLost(action::countDown);
		loseAll();
		Patience.await(action, "an action of another");
	}

	@Test
	void logThatBlocksDelaysNoRenewal() {
		start(LockEngine.builder(this.backend).watchdogTimeout(Duration.ofSeconds(5)));
		this.engine.acquire(LockRequest.of("renewed").detached(true));
		CountDownLatch blocks = new CountDownLatch(1);
		Appender<ILoggingEvent> appender = new UnsynchronizedAppenderBase<>() {

			@Override
			protected void append(ILoggingEvent event) {
				if (event.getFormattedMessage().contains("Lock 'lost-while-the-log-blocks'")) {
					blocks.countDown();
					block();
				}
			}

		};
		appender.start();
		Logger logger = (Logger) LoggerFactory.getLogger(Leases.class);
		logger.addAppender(appender);
		try {
			acquire("lost-while-the-log-blocks");
			loseAll();
			Patience.await(blocks, "the log of a loss");
			CountDownLatch renewals = new CountDownLatch(2); // One may be under way.
			this.backend.onRenew((renewal) -> renewals.countDown());
			Patience.await(renewals, "renewals");
		}
		finally {
			this.end.countDown();
			logger.detachAppender(appender);
		}
	}

	@Test
	void actionThatTheExecutorRefusesRunsAllTheSame() {
		start(LockEngine.builder(this.backend).callbackExecutor((task) -> {
			throw new RejectedExecutionException("ended");
		}));
		CountDownLatch action = new CountDownLatch(1);
		acquire("k").onLost(action::countDown);
		loseAll();
		Patience.await(action, "the action");
	}

	private void start(LockEngine.Builder builder) {
		this.engine = this.clock.build(builder);
	}

	private void loseManyWith(Consumer<LockHandle> before) {
		for (int i = 0; i < MANY; i++) {
			before.accept(acquire("many-" + i));
		}
		loseAll();
	}

	private LockHandle acquire(String key) {
		return this.engine.acquire(LockRequest.of(key).leaseTime(LEASE).detached(true));
	}

	private void loseAll() {
		this.clock.advance(LEASE);
	}

	private static LockListener onLost(Runnable action) {
		return (event) -> {
			if (event instanceof LockEvent.Lost) {
				action.run();
			}
		};
	}

	private void block() {
		this.blocked.countDown();
		Patience.await(this.end, "the end of the test");
	}

}
