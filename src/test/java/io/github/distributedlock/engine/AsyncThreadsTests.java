package io.github.distributedlock.engine;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.stream.IntStream;

import io.github.distributedlock.LockBackendException;
import io.github.distributedlock.LockEvent;
import io.github.distributedlock.LockHandle;
import io.github.distributedlock.fixtures.Patience;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * On which threads requests go on that no thread waits for, and what delays them: on the
 * engine's own threads, and a store that answers when a test lets it.
 */
class AsyncThreadsTests extends EngineFixture {

	private static final Duration WAIT = Duration.ofSeconds(60);

	private final CountDownLatch answer = new CountDownLatch(1);

	private final CountDownLatch end = new CountDownLatch(1);

	private final LockEngine real = LockEngine.builder(this.backend).build();

	@AfterEach
	void end() {
		this.answer.countDown();
		this.end.countDown();
		this.real.close();
	}

	@Test
	void nodeThatStallsOccupiesHalfOfTheThreadsAndDelaysNoOther() {
		for (int i = 0; i < NodeTasks.MOST_OF_A_NODE; i++) {
			stallNext("acquire");
		}
		List<CompletableFuture<LockHandle>> stalled = new ArrayList<>();
		for (int i = 0; i < 100; i++) {
			stalled.add(this.real.acquireAsync(waiting("node-1:" + i, WAIT)));
		}
		Awaitility.await("as many commands as the node may have")
			.until(() -> this.backend.steps().size() == NodeTasks.MOST_OF_A_NODE);
		for (String node : List.of("node-2:", "node-3:")) {
			for (int i = 0; i < 100; i++) {
				Patience.get(this.real.acquireAsync(waiting(node + i, WAIT)), "a key of another node").close();
			}
		}
		assertThat(this.backend.steps().stream().filter((step) -> step.startsWith("acquire node-1:")))
			.hasSize(NodeTasks.MOST_OF_A_NODE);
		assertThat(stalled).noneMatch(CompletableFuture::isDone);
		this.answer.countDown();
		stalled.forEach((acquired) -> Patience.get(acquired, "a key of the node that stalled").close());
	}

	@Test
	void whatDependsOnTheFutureMayBlock() {
		int more = 600;
		CountDownLatch blocked = new CountDownLatch(more);
		List<String> threads = new ArrayList<>();
		List<LockHandle> held = IntStream.range(0, more).mapToObj((i) -> this.real.acquire("k" + i)).toList();
		for (int i = 0; i < more; i++) {
			this.real.acquireAsync(waiting("k" + i, WAIT)).thenAccept((handle) -> {
				synchronized (threads) {
					threads.add(Thread.currentThread().getName());
				}
				blocked.countDown();
				Patience.await(this.end, "the end of the test");
			});
		}
		held.forEach(LockHandle::close);
		Patience.await(blocked, "all continuations block");
		LockHandle other = Patience.get(this.real.acquireAsync(waiting("other", WAIT)), "another key");
		assertThat(other.closeAsync()).succeedsWithin(PATIENCE);
		synchronized (threads) {
			assertThat(threads).hasSize(more).allMatch((thread) -> thread.startsWith("distributed-lock-callback-"));
		}
	}

	@Test
	void codeAndListenersRunWhereTheApplicationSays() {
		List<Thread> threads = new ArrayList<>();
		ExecutorService own = Executors.newSingleThreadExecutor();
		try (LockEngine engine = LockEngine.builder(this.backend).callbackExecutor(own).listener((event) -> {
			if (event instanceof LockEvent.Acquired) {
				threads.add(Thread.currentThread());
			}
		}).build()) {
			CompletableFuture<Thread> code = engine.executeAsync(request("k"), () -> {
				threads.add(Thread.currentThread());
				return CompletableFuture.completedFuture(Thread.currentThread());
			});
			Thread thread = Patience.get(code, "the code");
			assertThat(threads).containsExactly(thread, thread);
			assertThat(thread.getName()).doesNotStartWith("distributed-lock-");
		}
		finally {
			own.shutdown();
		}
	}

	@Test
	void endOfTheEngineCompletesEveryFuture() {
		stallNext("acquire");
		CompletableFuture<LockHandle> asks = this.real.acquireAsync(waiting("asks", WAIT));
		Awaitility.await("the command").until(() -> this.backend.steps().contains("acquire asks"));
		LockHandle handle = this.real.acquire("held");
		CompletableFuture<LockHandle> queues = this.real.acquireAsync(waiting("held", WAIT));
		Awaitility.await("waits").until(() -> this.real.snapshot().requestsWaiting() == 2);
		this.real.close();
		CompletableFuture<LockHandle> late = this.real.acquireAsync(waiting("late", WAIT));
		this.answer.countDown();
		for (CompletableFuture<LockHandle> failed : List.of(asks, queues, late)) {
			assertFails(failed, LockBackendException.class, "stopped");
		}
		handle.close();
	}

	private void stallNext(String step) {
		this.backend.next(step, (stalled) -> {
			Patience.await(this.answer, "the test lets the store answer");
			return stalled.get();
		});
	}

}
