package io.github.distributedlock.engine;

import java.lang.reflect.Proxy;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.List;
import java.util.Queue;
import java.util.concurrent.Semaphore;

import io.github.distributedlock.engine.Wait.Acquisition;
import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatCode;

/**
 * A thread wakes a request, and stands still before another thread is found for the
 * request. Meanwhile a third thread works on the request.
 */
class AsyncDriverAlarmTests {

	private static final Duration PAUSE = Duration.ofMillis(500);

	private static final Duration WAIT = Duration.ofSeconds(60);

	private final FakeTime time = new FakeTime();

	private final Queue<Runnable> threads = new ArrayDeque<>();

	private final NodeTasks tasks = new NodeTasks(this::thread, this.time);

	private final AsyncDriver driver = new AsyncDriver(new ReleasedKeys(), this.tasks, new Wait(this.time, WAIT, false),
			new Requester());

	private final Semaphore signal = new Semaphore(0);

	/**
	 * Runs while the next task is to get a thread.
	 */
	private Runnable standstill;

	private int asked;

	private int ended;

	private boolean lacking;

	/**
	 * Thread 1 wakes the request, and stands still. Just then the pause of the request is
	 * over, so that the request asks and pauses again. Thread 1 goes on, and must not
	 * touch the new alarm.
	 */
	@Test
	void pollIsNotLostToOneThatWokeItBefore() {
		this.driver.start(new Polling());
		workAll();
		assertThat(this.asked).isOne();
		this.standstill = () -> {
			this.time.advance(PAUSE); // The alarm of the request rings.
			workAll();
			assertThat(this.asked).as("asked while thread 1 stood still").isEqualTo(2);
			for (int i = 0; i < NodeTasks.MOST_OF_A_NODE; i++) {
				this.tasks.run("node", () -> {
				});
			}
		};
		this.signal.release();
		this.driver.wake();
		assertThat(this.standstill).isNull();
		workAll();
		int before = this.asked;
		this.time.advance(PAUSE);
		workAll();
		assertThat(this.asked).as("polls after another pause").isGreaterThan(before);
	}

	/**
	 * The waking thread finds no thread for the request, and notes that only after the
	 * request has been withdrawn.
	 */
	@Test
	void endsOnceThoughThereIsNoThreadForIt() {
		this.driver.start(new Polling());
		workAll();
		this.standstill = this.driver::cancel;
		this.lacking = true;
		this.signal.release();
		this.driver.wake();
		this.lacking = false;
		assertThat(this.ended).isOne();
		this.time.advance(WAIT);
		workAll();
		assertThat(this.ended).as("ends").isOne();
	}

	/**
	 * When the wait time is over, the request is due, and stands in the line of a node
	 * that does not answer.
	 */
	@Test
	void endsInTimeThoughTheNodeStalls() {
		Duration wait = Duration.ofSeconds(1);
		new AsyncDriver(new ReleasedKeys(), this.tasks, new Wait(this.time, wait, false), new Requester())
			.start(new Polling() {

				private final long end = AsyncDriverAlarmTests.this.time.nanoTime() + wait.toNanos();

				@Override
				public Next advance(boolean signalled) {
					return (AsyncDriverAlarmTests.this.time.nanoTime() < this.end) ? Need.ASK : Need.DONE;
				}

			});
		workAll();
		for (int i = 0; i < NodeTasks.MOST_OF_A_NODE; i++) {
			this.tasks.run("node", () -> {
			});
		}
		this.time.advance(PAUSE);
		this.time.advance(wait.minus(PAUSE).minusMillis(1));
		assertThat(this.ended).isZero();
		this.time.advance(Duration.ofMillis(1));
		assertThat(this.ended).isOne();
		assertThat(this.asked).isOne();
	}

	/**
	 * The driver is woken inside a step of a queue.
	 */
	@Test
	void wakingThrowsNothingThoughThereIsNeitherAThreadNorATimer() {
		AsyncDriver driver = new AsyncDriver(new ReleasedKeys(), this.tasks,
				new Wait(timeThatLacksAThread(), WAIT, false), new Requester());
		driver.start(new Polling());
		workAll();
		this.lacking = true;
		this.signal.release();
		assertThatCode(driver::wake).doesNotThrowAnyException();
		this.lacking = false;
		this.time.advance(PAUSE);
		workAll();
		assertThat(this.asked).as("asked when its alarm rang").isEqualTo(2);
		assertThat(this.ended).isZero();
	}

	private EngineTime timeThatLacksAThread() {
		return (EngineTime) Proxy.newProxyInstance(getClass().getClassLoader(), new Class<?>[] { EngineTime.class },
				(proxy, method, arguments) -> {
					if (this.lacking && method.getName().equals("schedule")) {
						throw new OutOfMemoryError("unable to create native thread (test)");
					}
					return method.invoke(this.time, arguments);
				});
	}

	private void thread(Runnable task) {
		Runnable meanwhile = this.standstill;
		this.standstill = null;
		if (meanwhile != null) {
			meanwhile.run();
		}
		if (this.lacking) {
			throw new OutOfMemoryError("unable to create native thread (test)");
		}
		this.threads.add(task);
	}

	private void workAll() {
		for (Runnable task = this.threads.poll(); task != null; task = this.threads.poll()) {
			task.run();
		}
	}

	/**
	 * Asks at each step, and pauses then.
	 */
	private class Polling implements Acquisition {

		@Override
		public Next advance(boolean signalled) {
			return Need.ASK;
		}

		@Override
		public Next ask() {
			AsyncDriverAlarmTests.this.asked++;
			return new Await(AsyncDriverAlarmTests.this.signal, PAUSE.toNanos());
		}

		@Override
		public String key() {
			return "k";
		}

		@Override
		public List<Hold> holds() {
			return null;
		}

		@Override
		public void end() {
		}

	}

	private final class Requester implements AsyncDriver.Client {

		@Override
		public void checkSupport() {
			// Supports each request.
		}

		@Override
		public void ended(Throwable failure) {
			AsyncDriverAlarmTests.this.ended++;
		}

	}

}
