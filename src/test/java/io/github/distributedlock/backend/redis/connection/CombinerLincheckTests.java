package io.github.distributedlock.backend.redis.connection;

import java.time.Duration;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.List;
import java.util.concurrent.atomic.AtomicReference;
import java.util.stream.Stream;

import io.github.distributedlock.backend.redis.wire.Command;
import io.github.distributedlock.fixtures.Exploration;
import io.github.distributedlock.fixtures.Interleavings;
import org.jetbrains.lincheck.datastructures.Operation;
import org.jetbrains.lincheck.datastructures.Param;
import org.jetbrains.lincheck.datastructures.ThreadIdGen;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * Whatever threads send at the same time, each gets the reply to its own command, no two
 * use a wire at once, and none waits for ever.
 */
@Exploration
class CombinerLincheckTests {

	// What must not happen takes two threads, but each of them to be stopped at a certain
	// place.
	@ParameterizedTest
	@ValueSource(classes = { OneWire.class, TwoWires.class })
	void eachThreadGetsItsReply(Class<?> wires) {
		Interleavings.of(2, 2).invocationsPerIteration(1_000).check(wires);
	}

	@Param(name = "thread", gen = ThreadIdGen.class)
	public static class OneWire {

		private final Combiner combiner;

		public OneWire() {
			this(1);
		}

		OneWire(int wires) {
			this.combiner = new Combiner(Stream.generate(Echo::new).limit(wires).toList(), Duration.ofDays(1), () -> 0);
		}

		@Operation
		public void call(@Param(name = "thread") int thread) {
			Command command = TestWire.command("k" + thread);
			Object reply = this.combiner.call(List.of(command), Duration.ofDays(1).toNanos()).get(0);
			Interleavings.require(reply == command, "the reply to another command");
		}

	}

	/**
	 * A wire for each thread.
	 */
	@Param(name = "thread", gen = ThreadIdGen.class)
	public static class TwoWires extends OneWire {

		public TwoWires() {
			super(2);
		}

	}

	/**
	 * A wire whose server replies to each command with the command.
	 */
	private static final class Echo implements Wire {

		private final AtomicReference<Thread> user = new AtomicReference<>();

		private final Deque<Command> unanswered = new ArrayDeque<>();

		@Override
		public void open(long deadline) {
		}

		@Override
		public void send(Command command) {
			Thread before = this.user.getAndSet(Thread.currentThread());
			Interleavings.require(before == null || before == Thread.currentThread(), "two threads use it");
			this.unanswered.add(command);
		}

		@Override
		public Object receive(long deadline) {
			return this.unanswered.remove();
		}

		@Override
		public boolean answered() {
			this.user.set(null);
			return true;
		}

		@Override
		public void abandon() {
			throw new IllegalStateException("nothing fails here");
		}

		@Override
		public void tidy() {
		}

	}

}
