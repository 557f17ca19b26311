package io.github.distributedlock.engine.runtime;

import java.time.Duration;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.List;
import java.util.Queue;

import io.github.distributedlock.LockHandle;
import io.github.distributedlock.engine.EngineFixture;
import io.github.distributedlock.engine.ScriptedBackend;
import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

/**
 * Tasks of a group run one after the other, and what is told to the store in the
 * background is told node by node.
 */
class SerialTasksTests extends EngineFixture {

	private final List<String> done = new ArrayList<>();

	private final HeldBack workers = new HeldBack();

	private final SerialTasks tasks = new SerialTasks(this.workers::background, this.time);

	@Test
	void aNodeOccupiesOneWorker() {
		this.tasks.run("a", () -> this.done.add("a1"));
		this.tasks.run("a", () -> this.done.add("a2"));
		this.tasks.run("b", () -> this.done.add("b1"));
		assertThat(this.workers.queue).hasSize(2);
		this.workers.queue.remove();
		this.workers.queue.remove().run();
		assertThat(this.done).as("while the worker of a stalls").containsExactly("b1");
	}

	@Test
	void tasksOfANodeKeepTheirOrder() {
		this.tasks.run("a", () -> {
			this.done.add("a1");
			this.tasks.run("a", () -> this.done.add("a3"));
		});
		this.tasks.run("a", () -> this.done.add("a2"));
		this.workers.runAll();
		assertThat(this.done).containsExactly("a1", "a2", "a3");
		this.tasks.run("a", () -> this.done.add("a4"));
		this.workers.runAll();
		assertThat(this.done).last().isEqualTo("a4");
	}

	@Test
	void aNodeThatStallsGoesBehindTheOthersAfterEachTask() {
		for (String name : List.of("a1", "a2", "a3")) {
			this.tasks.run("a", () -> {
				this.done.add(name);
				this.time.pass(Duration.ofSeconds(1));
			});
		}
		for (String name : List.of("b1", "b2")) {
			this.tasks.run("b", () -> this.done.add(name));
		}
		this.workers.runAll();
		assertThat(this.done).containsExactly("a1", "b1", "b2", "a2", "a3");
		this.tasks.run("a", () -> this.done.add("a4"));
		this.workers.runAll();
		assertThat(this.done).last().isEqualTo("a4");
	}

	@Test
	void withoutAnotherWorkerANodeThatStallsGoesOnOnTheOneThatIsThere() {
		this.tasks.run("a", () -> {
			this.time.pass(Duration.ofSeconds(1));
			this.workers.full = true;
		});
		this.tasks.run("a", () -> this.done.add("a2"));
		this.workers.runAll();
		assertThat(this.done).containsExactly("a2");
	}

	@Test
	void aTaskThatFailsEndsNoOther() {
		this.tasks.run("a", () -> {
			throw new NoClassDefFoundError("test");
		});
		this.tasks.run("a", () -> this.done.add("a2"));
		assertThatExceptionOfType(NoClassDefFoundError.class).isThrownBy(this.workers::runAll);
		this.workers.runAll();
		assertThat(this.done).containsExactly("a2");
	}

	@Test
	void withoutAWorkerTheNextTaskTriesAgain() {
		this.workers.full = true;
		assertThatExceptionOfType(OutOfMemoryError.class)
			.isThrownBy(() -> this.tasks.run("a", () -> this.done.add("a1")));
		this.workers.full = false;
		this.tasks.run("a", () -> this.done.add("a2"));
		this.workers.runAll();
		assertThat(this.done).containsExactly("a2");
	}

	@Test
	void withoutAWorkerWhatOthersHaveQueuedIsKept() {
		this.workers.onBackground = () -> {
			this.workers.onBackground = () -> {
			};
			this.tasks.run("a", () -> this.done.add("a2"));
			throw new OutOfMemoryError("test: no thread");
		};
		assertThatExceptionOfType(OutOfMemoryError.class)
			.isThrownBy(() -> this.tasks.run("a", () -> this.done.add("a1")));
		this.tasks.run("a", () -> this.done.add("a3"));
		this.workers.runAll();
		assertThat(this.done).containsExactly("a2", "a3");
	}

	@Test
	void withoutAWorkerToGoOnWhatIsQueuedIsKept() {
		this.tasks.run("a", () -> {
			this.workers.full = true;
			throw new NoClassDefFoundError("test");
		});
		this.tasks.run("a", () -> this.done.add("a2"));
		assertThatExceptionOfType(OutOfMemoryError.class).isThrownBy(this.workers::runAll);
		this.workers.full = false;
		this.tasks.run("a", () -> this.done.add("a3"));
		this.workers.runAll();
		assertThat(this.done).containsExactly("a2", "a3");
	}

	@Test
	void releasesAtANodeThatIsDownDelayNoneAtAnother() {
		List<LockHandle> handles = new ArrayList<>();
		for (String key : List.of("node-1:a", "node-1:b", "node-1:c", "node-2:d")) {
			handles.add(this.engine.acquire(key));
			this.backend.next("release", ScriptedBackend.LOST_REQUEST);
		}
		handles.forEach(LockHandle::close);
		this.backend.forgetSteps();
		this.backend.next("release", ScriptedBackend.LOST_REQUEST);
		this.time.advance(Duration.ofMillis(1));
		assertThat(this.backend.steps()).containsExactly("release node-1:a", "release node-2:d");
	}

	private static final class HeldBack implements Workers {

		private final Queue<Runnable> queue = new ArrayDeque<>();

		private boolean full;

		private Runnable onBackground = () -> {
		};

		@Override
		public void background(Runnable task) {
			this.onBackground.run();
			if (this.full) {
				throw new OutOfMemoryError("test: no thread");
			}
			this.queue.add(task);
		}

		void runAll() {
			while (!this.queue.isEmpty()) {
				this.queue.remove().run();
			}
		}

		@Override
		public void renewal(Runnable task) {
			throw new UnsupportedOperationException();
		}

		@Override
		public void request(Runnable task) {
			throw new UnsupportedOperationException();
		}

		@Override
		public void reaction(Runnable task) {
			throw new UnsupportedOperationException();
		}

		@Override
		public void listener(Runnable task) {
			throw new UnsupportedOperationException();
		}

		@Override
		public void action(Runnable task) {
			throw new UnsupportedOperationException();
		}

		@Override
		public void callback(Runnable task) {
			throw new UnsupportedOperationException();
		}

	}

}
