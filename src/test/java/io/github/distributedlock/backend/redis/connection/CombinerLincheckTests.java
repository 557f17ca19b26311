package io.github.distributedlock.backend.redis.connection;

import java.time.Duration;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.List;
import java.util.concurrent.atomic.AtomicBoolean;

import io.github.distributedlock.backend.redis.wire.Command;
import io.github.distributedlock.fixtures.Exploration;
import io.github.distributedlock.fixtures.Interleavings;
import org.jetbrains.lincheck.datastructures.Operation;
import org.jetbrains.lincheck.datastructures.Param;
import org.jetbrains.lincheck.datastructures.ThreadIdGen;
import org.junit.jupiter.api.Test;

/**
 * Whatever threads send at the same time, each gets the reply to its own command, no two
 * use a wire at once, and none waits for ever.
 */
@Exploration
@Param(name = "thread", gen = ThreadIdGen.class)
public class CombinerLincheckTests {

	private final Combiner combiner = new Combiner(List.of(new Echo(), new Echo()), Duration.ofDays(1), () -> 0);

	@Test
	void eachThreadGetsItsReply() {
		Interleavings.of(3, 2).check(CombinerLincheckTests.class);
	}

	@Operation
	public void call(@Param(name = "thread") int thread) {
		Command command = TestWire.command("k" + thread);
		Object reply = this.combiner.call(List.of(command), Duration.ofDays(1).toNanos()).get(0);
		Interleavings.require(reply == command, "the reply to another command");
	}

	/**
	 * A wire whose server replies to each command with the command.
	 */
	private static final class Echo implements Wire {

		private final AtomicBoolean used = new AtomicBoolean();

		private final Deque<Command> unanswered = new ArrayDeque<>();

		@Override
		public void open() {
			Interleavings.require(this.used.compareAndSet(false, true), "two threads use it");
		}

		@Override
		public void send(Command command) {
			this.unanswered.add(command);
		}

		@Override
		public Object receive(long deadline) {
			return this.unanswered.remove();
		}

		@Override
		public boolean answered() {
			return this.used.compareAndSet(true, false);
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
