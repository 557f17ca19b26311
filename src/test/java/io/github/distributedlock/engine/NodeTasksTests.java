package io.github.distributedlock.engine;

import java.time.Duration;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.List;
import java.util.Queue;

import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

/**
 * Tasks of one node run on a part of the threads only, and begin in order.
 */
class NodeTasksTests {

	private static final int MOST = NodeTasks.MOST_OF_A_NODE;

	private final List<String> done = new ArrayList<>();

	private final Queue<Runnable> threads = new ArrayDeque<>();

	private final FakeTime time = new FakeTime();

	private boolean full;

	private final NodeTasks tasks = new NodeTasks(this::thread, this.time);

	/**
	 * Tasks of listeners.
	 */
	private final NodeTasks serial = new NodeTasks(this::thread, this.time, 1);

	private Runnable onThread = () -> {
	};

	private void thread(Runnable task) {
		this.onThread.run();
		if (this.full) {
			throw new OutOfMemoryError("test: no thread");
		}
		this.threads.add(task);
	}

	@Test
	void aNodeGetsHalfOfTheThreads() {
		assertThat(2 * MOST).isEqualTo(NodeTasks.THREADS);
		for (int i = 0; i < 2 * MOST; i++) {
			add("a", "a" + i);
		}
		assertThat(this.threads).hasSize(MOST);
		add("b", "b");
		assertThat(this.threads).hasSize(MOST + 1);
	}

	@Test
	void nextTaskOfANodeBeginsBehindTasksOfOtherNodes() {
		for (int i = 0; i < MOST + 2; i++) {
			add("a", "a" + i);
		}
		add("b", "b");
		runAll();
		assertThat(this.done).containsExactly("a0", "a1", "a2", "b", "a3", "a4");
		add("a", "again");
		runAll();
		assertThat(this.done).last().isEqualTo("again");
	}

	@Test
	void nodeThatStallsKeepsOneThreadIfThereAreOthers() {
		anotherNodeHasATask();
		for (int i = 0; i < MOST + 2; i++) {
			this.tasks.run("a", this::stall);
		}
		runThese(MOST);
		assertThat(this.threads).hasSize(1);
		assertThat(this.tasks.waiting("a")).isEqualTo(1);
		add("a", "a");
		runThese(2);
		assertThat(this.done).isEmpty();
		runAll();
		assertThat(this.done).containsExactly("a");
	}

	private void anotherNodeHasATask() {
		add("b", "b");
		this.threads.remove();
	}

	@Test
	void nodeThatStallsKeepsItsThreadsIfItIsAlone() {
		for (int i = 0; i < 2 * MOST; i++) {
			this.tasks.run("a", this::stall);
		}
		runThese(MOST);
		assertThat(this.threads).hasSize(MOST);
	}

	@Test
	void nodeThatAnswersAgainGetsItsThreadsBack() {
		anotherNodeHasATask();
		for (int i = 0; i < MOST; i++) {
			this.tasks.run("a", this::stall);
		}
		for (int i = 0; i < 2 * MOST; i++) {
			add("a", "a" + i);
		}
		runThese(MOST);
		assertThat(this.threads).hasSize(1);
		runThese(1);
		assertThat(this.threads).hasSize(MOST);
		runAll();
		assertThat(this.done).containsExactly("a0", "a1", "a2", "a3", "a4", "a5");
	}

	@Test
	void taskThatFailsKeepsNoThread() {
		for (int i = 0; i < MOST; i++) {
			this.tasks.run("a", () -> {
				throw new NoClassDefFoundError("test");
			});
		}
		add("a", "next");
		runAll();
		assertThat(this.done).containsExactly("next");
	}

	@Test
	void taskThatGetsNoThreadDoesNotRun() {
		this.full = true;
		assertThatExceptionOfType(OutOfMemoryError.class).isThrownBy(() -> add("a", "refused"));
		this.full = false;
		for (int i = 0; i < MOST; i++) {
			add("a", "a" + i);
		}
		assertThat(this.threads).as("the refused one keeps no place").hasSize(MOST);
		runAll();
		assertThat(this.done).containsExactly("a0", "a1", "a2");
	}

	@Test
	void taskThatIsQueuedThoughNoThreadCanBeMadeDoesNotRunEither() {
		NodeTasks queueing = new NodeTasks((task) -> {
			this.threads.add(task);
			throw new OutOfMemoryError("test: no thread");
		}, this.time);
		assertThatExceptionOfType(OutOfMemoryError.class)
			.isThrownBy(() -> queueing.run("a", () -> this.done.add("refused")));
		runAll();
		assertThat(this.done).isEmpty();
	}

	@Test
	void taskThatRunsThoughNoThreadCanBeMadeIsNotRefused() {
		NodeTasks running = new NodeTasks((task) -> {
			task.run();
			throw new OutOfMemoryError("test: no thread");
		}, this.time);
		running.run("a", () -> this.done.add("a"));
		assertThat(this.done).containsExactly("a");
	}

	@Test
	void taskThatAnotherHasBegunIsNotRefused() {
		add("a", "a0");
		this.onThread = () -> {
			this.onThread = () -> {
			};
			add("a", "a2");
			add("a", "a3");
			throw new OutOfMemoryError("test: no thread");
		};
		assertThatExceptionOfType(OutOfMemoryError.class).isThrownBy(() -> add("a", "a1"));
		this.onThread = () -> {
			this.onThread = () -> {
			};
			this.threads.remove().run(); // Ends, and begins a4 in its place.
			throw new OutOfMemoryError("test: no thread");
		};
		add("a", "a4"); // Finds that a3 has no thread.
		runAll();
		assertThat(this.done).containsExactly("a0", "a2", "a4", "a3");
	}

	@Test
	void withoutAnotherThreadWaitingTasksRunOnThePresentOne() {
		for (int i = 0; i < MOST + 2; i++) {
			add("a", "a" + i);
		}
		this.full = true;
		this.threads.remove().run();
		assertThat(this.done).containsExactly("a0", "a3", "a4");
	}

	@Test
	void tasksThatResumeAndTasksThatBeginTakeTurns() {
		for (int i = 0; i < MOST + 4; i++) {
			add("a", "a" + i);
		}
		for (String name : List.of("x", "y")) {
			this.tasks.resume("a", () -> this.done.add(name));
		}
		assertThat(this.tasks.waiting("a")).isEqualTo(6);
		runAll();
		assertThat(this.done).containsExactly("a0", "a1", "a2", "x", "a3", "y", "a4", "a5", "a6");
		assertThat(this.tasks.waiting("a")).isZero();
	}

	@Test
	void tasksThatResumeAgainAndAgainHoldUpNoNewTask() {
		for (int i = 0; i < MOST; i++) {
			resumeAgain();
		}
		add("a", "begins");
		runThese(2 * MOST);
		assertThat(this.done).containsExactly("begins");
	}

	@Test
	void oneAtATimeTheyKeepTheirOrder() {
		this.serial.run("a", () -> {
			this.done.add("a1");
			this.serial.run("a", () -> this.done.add("a3"));
		});
		this.serial.run("a", () -> this.done.add("a2"));
		assertThat(this.threads).hasSize(1);
		runAll();
		assertThat(this.done).containsExactly("a1", "a2", "a3");
	}

	@Test
	void withoutAThreadWhatOthersHaveAddedIsKept() {
		this.onThread = () -> {
			this.onThread = () -> {
			};
			this.serial.run("a", () -> this.done.add("a2"));
			throw new OutOfMemoryError("test: no thread");
		};
		assertThatExceptionOfType(OutOfMemoryError.class)
			.isThrownBy(() -> this.serial.run("a", () -> this.done.add("a1")));
		this.full = true;
		assertThatExceptionOfType(OutOfMemoryError.class)
			.isThrownBy(() -> this.serial.run("a", () -> this.done.add("refused")));
		this.full = false;
		this.serial.run("a", () -> this.done.add("a3"));
		runAll();
		assertThat(this.done).containsExactly("a2", "a3");
	}

	private void resumeAgain() {
		this.tasks.resume("a", this::resumeAgain);
	}

	private void add(String node, String name) {
		this.tasks.run(node, () -> this.done.add(name));
	}

	private void stall() {
		this.time.pass(Duration.ofSeconds(1));
	}

	private void runThese(int number) {
		for (int i = 0; i < number; i++) {
			this.threads.remove().run();
		}
	}

	private void runAll() {
		while (!this.threads.isEmpty()) {
			this.threads.remove().run();
		}
	}

}
