package io.github.distributedlock.backend.redis.connection;

import java.util.List;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.atomic.AtomicInteger;

import io.github.distributedlock.backend.redis.wire.Command.Verb;
import io.github.distributedlock.fixtures.Exploration;
import io.github.distributedlock.fixtures.Interleavings;
import io.lettuce.core.protocol.ProtocolKeyword;
import org.jetbrains.lincheck.datastructures.Operation;
import org.jetbrains.lincheck.datastructures.Validate;
import org.junit.jupiter.api.Test;

/**
 * Whatever is sent while replies come, and threads give up: each command is written once,
 * or was given up before, and none is left while there is nothing that it waits for.
 */
@Exploration
public class LettuceBatchesLincheckTests {

	private static final ProtocolKeyword VERB = new ProtocolKeyword() {

		@Override
		public byte[] getBytes() {
			return Verb.GET.bytes();
		}

	};

	private final Queue<LettuceCommand> written = new ConcurrentLinkedQueue<>();

	private final AtomicInteger wanted = new AtomicInteger();

	private final LettuceBatches batches = new LettuceBatches(this.written::addAll);

	@Test
	void everyCommandIsWritten() {
		Interleavings.of(3, 2).check(LettuceBatchesLincheckTests.class);
	}

	@Operation
	public void send() {
		this.wanted.incrementAndGet();
		this.batches.add(List.of(command()));
	}

	@Operation
	public void sendAndGiveUp() {
		LettuceCommand command = command();
		this.wanted.incrementAndGet();
		this.batches.add(List.of(command));
		if (command.claim()) {
			this.wanted.decrementAndGet();
		}
		command.cancel();
	}

	/**
	 * The client's thread reads a reply.
	 */
	@Operation
	public void answer() {
		LettuceCommand command = this.written.poll();
		if (command != null) {
			this.wanted.decrementAndGet();
			command.complete();
		}
	}

	@Validate
	public void nothingIsLeftBehind() {
		while (!this.written.isEmpty()) {
			answer();
		}
		Interleavings.require(this.wanted.get() == 0, "not every command was written once");
		this.batches.add(List.of(command()));
		this.batches.add(List.of(command()));
		Interleavings.require(this.written.size() == 2, "a batch that has ended is under way");
	}

	private static LettuceCommand command() {
		return new LettuceCommand(VERB, LettuceCommand.arguments());
	}

}
