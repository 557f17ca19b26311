package io.github.distributedlock.backend.redis.internal;

import java.time.Duration;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;

import io.github.distributedlock.fixtures.Exploration;
import io.github.distributedlock.fixtures.Interleavings;
import org.jetbrains.lincheck.datastructures.Operation;
import org.jetbrains.lincheck.datastructures.Param;
import org.jetbrains.lincheck.datastructures.ThreadIdGen;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * Threads send at the same time: each gets the reply to its own command, no two use a
 * wire at once, and none waits for ever.
 */
@Exploration
@Tag("optimized")
class CombinerLincheckTests {

	// A failure takes two threads, each of them stopped at a certain place.
	@ParameterizedTest
	@ValueSource(classes = { OneWire.class, TwoWires.class })
	void eachThreadGetsItsReply(Class<?> wires) {
		Interleavings.check(Interleavings.of(2, 2).invocationsPerIteration(1_000), wires);
	}

	@Param(name = "thread", gen = ThreadIdGen.class)
	public static class OneWire {

		private final Combiner<Echo> combiner;

		public OneWire() {
			this(1);
		}

		OneWire(int wires) {
			this.combiner = new Combiner<>(new Echoes(wires), wires, Duration.ofDays(1), () -> 0);
		}

		@Operation
		public void call(@Param(name = "thread") int thread) {
			Command command = TestWire.command("k" + thread);
			Object reply = this.combiner.exchange(command);
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
	 * Wires whose server replies to each command with the command.
	 */
	private static final class Echoes implements Combiner.Wires<Echo> {

		private final List<Echo> free = new ArrayList<>();

		Echoes(int wires) {
			for (int i = 0; i < wires; i++) {
				this.free.add(new Echo());
			}
		}

		@Override
		public synchronized Echo borrow(long nanos) {
			Interleavings.require(!this.free.isEmpty(), "more lead than there are wires");
			return this.free.remove(0);
		}

		@Override
		public synchronized void giveBack(Echo wire) {
			this.free.add(wire);
		}

		@Override
		public void discard(Echo wire) {
			throw new IllegalStateException("nothing fails here");
		}

		@Override
		public void close() {
		}

	}

	private static final class Echo implements Combiner.Wire {

		private final Deque<Command> unanswered = new ArrayDeque<>();

		@Override
		public void send(Command command) {
			this.unanswered.add(command);
		}

		@Override
		public Object receive(Command command, long nanos) {
			return this.unanswered.remove();
		}

	}

}
