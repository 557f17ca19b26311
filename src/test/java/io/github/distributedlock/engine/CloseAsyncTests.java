package io.github.distributedlock.engine;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;

import io.github.distributedlock.LockEvent;
import io.github.distributedlock.LockHandle;
import io.github.distributedlock.LockRequest;
import io.github.distributedlock.engine.EngineTime.Workers;
import io.github.distributedlock.fixtures.Patience;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * {@code closeAsync} on the engine's own threads, on a store that answers when a test
 * says so; and on the fake clock where threads do not matter.
 */
class CloseAsyncTests extends EngineFixture {

	private static final Duration PATIENCE = Patience.PATIENCE;

	private final CountDownLatch answer = new CountDownLatch(1);

	private final CountDownLatch end = new CountDownLatch(1);

	private final List<String> threads = new CopyOnWriteArrayList<>();

	private final LockEngine real = LockEngine.builder(this.backend)
		.watchdogTimeout(Duration.ofSeconds(9))
		.listener(this.events::add)
		.build();

	@AfterEach
	void end() {
		this.answer.countDown();
		this.end.countDown();
		this.real.close();
	}

	@Test
	void releasesOnAThreadOfTheEngineAndCompletesOnAnother() {
		stallNextRelease();
		LockHandle handle = this.real.acquire("k");
		CompletableFuture<Void> released = handle.closeAsync();
		released.thenRun(() -> this.threads.add(Thread.currentThread().getName()));
		assertThat(handle.isHeld()).isFalse();
		assertThat(LockHandle.current()).isEmpty();
		assertThat(released).as("while the store has not answered").isNotDone();
		this.answer.countDown();
		Awaitility.await("both threads").atMost(PATIENCE).until(() -> this.threads.size() == 2);
		assertThat(released).isCompletedWithValue(null);
		assertThat(this.threads.get(0)).startsWith("distributed-lock-background-");
		assertThat(this.threads.get(1)).startsWith("distributed-lock-callback-");
		assertThat(holderOf("k")).isNull();
	}

	@Test
	void continuationThatNeverEndsDelaysNothing() {
		int more = 9; // The engine has fewer threads of any kind for its own work.
		CountDownLatch blocked = new CountDownLatch(more);
		for (int i = 0; i < more; i++) {
			stallNextRelease();
		}
		LockHandle renewed = this.real.acquire("renewed");
		for (int i = 0; i < more; i++) {
			this.real.acquire("k" + i).closeAsync().thenRun(() -> {
				blocked.countDown();
				Patience.await(this.end, "the end of the test");
			});
		}
		this.answer.countDown();
		Patience.await(blocked, "all continuations block");
		this.backend.next("release", ScriptedBackend.LOST_REQUEST);
		assertThat(this.real.acquire("down").closeAsync()).as("a release").succeedsWithin(PATIENCE);
		Awaitility.await("a clean-up").atMost(PATIENCE).until(() -> holderOf("down") == null);
		this.backend.forgetSteps();
		Awaitility.await("a renewal").atMost(PATIENCE).until(() -> this.backend.steps().contains("renew renewed"));
		renewed.close();
	}

	@Test
	void nodeThatStallsDelaysNoOther() {
		List<CompletableFuture<Void>> stalled = new ArrayList<>();
		for (int i = 0; i < NodeTasks.MOST_OF_A_NODE; i++) {
			stallNextRelease();
		}
		for (int i = 0; i < 9; i++) {
			stalled.add(this.real.acquire("node-1:" + i).closeAsync());
		}
		Awaitility.await("as many releases as the node may have")
			.atMost(PATIENCE)
			.until(() -> releasesOfStalledNode() == NodeTasks.MOST_OF_A_NODE);
		for (int i = 0; i < 9; i++) {
			assertThat(this.real.acquire("node-2:k").closeAsync()).succeedsWithin(PATIENCE);
		}
		assertThat(releasesOfStalledNode()).isEqualTo(NodeTasks.MOST_OF_A_NODE);
		assertThat(stalled).noneMatch(CompletableFuture::isDone);
		this.answer.countDown();
		assertThat(CompletableFuture.allOf(stalled.toArray(CompletableFuture[]::new))).succeedsWithin(PATIENCE);
	}

	@Test
	void keysOfSeveralNodesAreAwaitedTogether() {
		LockHandle handle = this.real.acquire(LockRequest.of("node-1:k", "node-2:k"));
		stallNextRelease();
		CompletableFuture<Void> released = handle.closeAsync();
		Awaitility.await("the key of the node that answers")
			.atMost(PATIENCE)
			.until(() -> events(LockEvent.Released.class).size() == 1);
		assertThat(released).isNotDone();
		this.answer.countDown();
		assertThat(released).succeedsWithin(PATIENCE);
		Awaitility.await("the event of the other, which is told elsewhere")
			.atMost(PATIENCE)
			.until(() -> events(LockEvent.Released.class).size() == 2);
	}

	@Test
	void listenerIsNotToldOnAThreadOfTheEngine() {
		CompletableFuture<String> thread = new CompletableFuture<>();
		try (LockEngine engine = LockEngine.builder(this.backend).listener((event) -> {
			if (event instanceof LockEvent.Released) {
				thread.complete(Thread.currentThread().getName());
				Patience.await(this.end, "the end of the test");
			}
		}).build()) {
			assertThat(engine.acquire("k").closeAsync()).as("although the listener blocks").succeedsWithin(PATIENCE);
			assertThat(thread).succeedsWithin(PATIENCE).asString().startsWith("distributed-lock-listener-");
			this.end.countDown();
		}
	}

	@Test
	void futureCompletesWithTheEngineThoughTheStoreNeverAnswers() {
		stallNextRelease();
		CompletableFuture<Void> stalled = this.real.acquire("k").closeAsync();
		CompletableFuture<Void> behind = this.real.acquire("other").closeAsync();
		LockHandle late = this.real.acquire("late");
		this.real.close();
		assertThat(CompletableFuture.allOf(stalled, behind, late.closeAsync())).succeedsWithin(PATIENCE);
	}

	@Test
	void lockWhoseReleaseIsUnderWayIsNotLostToTheEndOfTheEngine() {
		List<Runnable> background = new ArrayList<>();
		LockEngine engine = new LockEngine(
				LockEngine.builder(this.backend).watchdogTimeout(LEASE).listener(this.events::add), this.time,
				new HeldBack(this.time, background), () -> background.forEach(Runnable::run));
		CompletableFuture<Void> released = engine.acquire("k").closeAsync();
		assertThat(released).isNotDone();
		engine.close();
		assertThat(released).isCompletedWithValue(null);
		assertThat(holderOf("k")).isNull();
		assertThat(events(LockEvent.Lost.class)).isEmpty();
	}

	@Test
	void storeThatIsDownIsLeftToTheBackground() {
		LockHandle handle = this.engine.acquire("k");
		this.backend.breaks(ScriptedBackend.LOST_REQUEST);
		assertThat(handle.closeAsync()).isCompletedWithValue(null);
		assertThat(events(LockEvent.ReleaseDeferred.class)).hasSize(1);
		this.backend.works();
		this.time.advance(Duration.ofSeconds(2));
		assertThat(holderOf("k")).isNull();
	}

	@Test
	void onlyTheFirstOfTheTwoHasAnEffect() {
		LockHandle first = this.engine.acquire("a");
		first.closeAsync();
		first.close();
		assertThat(first.closeAsync()).isCompleted();
		LockHandle second = this.engine.acquire("b");
		second.close();
		assertThat(second.closeAsync()).isCompleted();
		assertThat(this.backend.steps()).containsExactly("acquire a", "release a", "acquire b", "release b");
	}

	@Test
	void innerHandleLeavesTheLockToTheOuterOne() {
		LockHandle outer = this.engine.acquire("k");
		assertThat(this.engine.acquire("k").closeAsync()).isCompleted();
		assertThat(outer.isHeld()).isTrue();
		assertThat(this.backend.steps()).containsExactly("acquire k");
		outer.closeAsync();
		assertThat(holderOf("k")).isNull();
	}

	@Test
	void keysThatAreGivenBackInOneStepAreStill() {
		this.backend.releasesTogether(true);
		this.engine.acquire(LockRequest.of("a", "b")).closeAsync();
		assertThat(this.backend.steps()).containsExactly("acquire a", "acquire b", "release-all 2");
	}

	@Test
	void lockIsHandedOnInsideTheJvm() {
		LockHandle handle = this.engine.acquire("k");
		CompletableFuture<LockHandle> next = acquiring(waiting("k", Duration.ofSeconds(5)));
		handle.closeAsync();
		assertThat(next).succeedsWithin(PATIENCE).extracting(LockHandle::owner).isEqualTo(handle.owner());
		assertThat(this.backend.steps()).doesNotContain("release k");
	}

	private long releasesOfStalledNode() {
		return this.backend.steps().stream().filter((step) -> step.startsWith("release node-1:")).count();
	}

	private void stallNextRelease() {
		this.backend.before("release", () -> {
			this.threads.add(Thread.currentThread().getName());
			Patience.await(this.answer, "the test lets the store answer");
		});
	}

	/**
	 * Keeps what the engine does in the background.
	 */
	private record HeldBack(Workers workers, List<Runnable> background) implements Workers {

		@Override
		public void prepareRenewals() {
			this.workers.prepareRenewals();
		}

		@Override
		public void renewal(Runnable task) {
			this.workers.renewal(task);
		}

		@Override
		public void background(Runnable task) {
			this.background.add(task);
		}

		@Override
		public void request(Runnable task) {
			this.workers.request(task);
		}

		@Override
		public void listener(Runnable task) {
			this.workers.listener(task);
		}

		@Override
		public void interrupt(Runnable task) {
			this.workers.interrupt(task);
		}

		@Override
		public void action(Runnable task) {
			this.workers.action(task);
		}

		@Override
		public void callback(Runnable task) {
			this.workers.callback(task);
		}

	}

}
