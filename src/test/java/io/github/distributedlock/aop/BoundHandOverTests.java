package io.github.distributedlock.aop;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.function.Supplier;

import io.github.distributedlock.LockHandle;
import io.github.distributedlock.annotation.DistributedLock;
import io.github.distributedlock.backend.memory.InMemoryLockBackend;
import io.github.distributedlock.engine.LockEngine;
import io.github.distributedlock.fixtures.Patience;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;

import org.springframework.boot.test.system.CapturedOutput;
import org.springframework.boot.test.system.OutputCaptureExtension;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.Primary;
import org.springframework.transaction.support.TransactionTemplate;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

/**
 * A lock that is bound to a transaction or to a stage is handed on inside the JVM when
 * that has ended, and not before.
 */
@ExtendWith(OutputCaptureExtension.class)
class BoundHandOverTests {

	private final List<String> events = new CopyOnWriteArrayList<>();

	private final List<String> owners = new CopyOnWriteArrayList<>();

	private final List<Thread> threads = new ArrayList<>();

	private AdvisorContext context;

	private Service service;

	@BeforeEach
	void start() {
		this.context = AdvisorContext.of(Service.class, Engine.class);
		this.service = this.context.get(Service.class);
	}

	@AfterEach
	void stop() {
		this.threads.forEach(Patience::join);
		this.context.close();
	}

	@Test
	void afterTheTransaction() {
		new TransactionTemplate(new RecordingTransactionManager(this.events)).executeWithoutResult((status) -> {
			this.service.run(() -> hold("first"));
			awaitWaiter("second");
			this.events.add("rest");
		});
		assertHandedOn("begin", "first", "rest", "commit", "second");
	}

	@Test
	void afterTheStage() {
		CompletableFuture<String> result = new CompletableFuture<>();
		this.service.later(() -> {
			hold("first");
			return result;
		});
		awaitWaiter("second");
		this.events.add("rest");
		result.complete("done");
		assertHandedOn("first", "rest", "second");
	}

	@Test
	void afterBoth() {
		CompletableFuture<String> result = new CompletableFuture<>();
		new TransactionTemplate(new RecordingTransactionManager(this.events)).executeWithoutResult((status) -> {
			this.service.later(() -> {
				hold("first");
				return result;
			});
			awaitWaiter("second");
		});
		this.events.add("rest");
		result.complete("done");
		assertHandedOn("begin", "first", "commit", "rest", "second");
	}

	@Test
	void isReenteredWhileTheMethodRunsAndNotWhenItHasReturned(CapturedOutput output) {
		LockEngine engine = this.context.get(LockEngine.class);
		CompletableFuture<String> result = new CompletableFuture<>();
		CompletableFuture<String> returned = this.service.later(() -> {
			this.service.run(() -> hold("inner"));
			return result;
		});
		assertThat(this.events).containsExactly("inner");
		assertThat(engine.tryAcquire("k")).as("of the stage").isEmpty();
		Thread completing = new Thread(() -> result.complete("done"));
		this.threads.add(completing);
		completing.start();
		assertThat(returned).succeedsWithin(Patience.PATIENCE);
		assertThat(engine.tryAcquire("k")).hasValueSatisfying(LockHandle::close);
		assertThat(output).doesNotContain("detached");
	}

	private void assertHandedOn(String... events) {
		await().until(() -> this.owners.size() == 2);
		assertThat(this.events).containsExactly(events);
		assertThat(this.owners).as("handed on").containsOnly(this.owners.get(0));
	}

	private void hold(String name) {
		this.events.add(name);
		this.owners.add(LockHandle.current().orElseThrow().owner());
	}

	private void awaitWaiter(String name) {
		Thread thread = new Thread(() -> this.service.run(() -> hold(name)), name);
		this.threads.add(thread);
		thread.start();
		await().until(() -> thread.getState() == Thread.State.TIMED_WAITING);
	}

	static class Service {

		@DistributedLock(key = "'k'", waitTime = "1m")
		public void run(Runnable action) {
			action.run();
		}

		@DistributedLock(key = "'k'", waitTime = "1m")
		public CompletableFuture<String> later(Supplier<CompletableFuture<String>> action) {
			return action.get();
		}

	}

	@Configuration(proxyBeanMethods = false)
	static class Engine {

		@Bean
		@Primary
		LockEngine lockEngine() {
			return LockEngine.builder(new InMemoryLockBackend()).localSlice(Duration.ofMinutes(10)).build();
		}

	}

}
