package io.github.distributedlock.backend.redis.internal;

import java.nio.charset.StandardCharsets;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;
import java.util.concurrent.ConcurrentLinkedDeque;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.function.UnaryOperator;

/**
 * A wire whose server replies to each command with the command's key, unless the test
 * says otherwise. The wire notes what it was used for.
 */
final class TestWire implements Combiner.Wire {

	/** The commands that were sent together, by key. */
	final List<List<String>> batches = new CopyOnWriteArrayList<>();

	/** How long the opening of the connection might take. */
	final List<Long> openings = new CopyOnWriteArrayList<>();

	/** How long replies were waited for. */
	final List<Long> waits = new CopyOnWriteArrayList<>();

	/** The events of the connection. */
	final List<String> events = new CopyOnWriteArrayList<>();

	private final List<String> batch = new ArrayList<>();

	private final Deque<String> unanswered = new ArrayDeque<>();

	private final Runnable opening;

	private final UnaryOperator<Object> server;

	/**
	 * @param opening is run whenever a thread needs the connection
	 * @param server makes the reply to a key
	 */
	TestWire(Runnable opening, UnaryOperator<Object> server) {
		this.opening = opening;
		this.server = server;
	}

	static Command command(String key) {
		return Command.of(Command.Verb.GET, key.getBytes(StandardCharsets.UTF_8));
	}

	@Override
	public void send(Command command) {
		String key = new String(command.key(), StandardCharsets.UTF_8);
		this.batch.add(key);
		this.unanswered.add(key);
	}

	@Override
	public Object receive(Command command, long nanos) {
		this.waits.add(nanos);
		return this.server.apply(this.unanswered.remove());
	}

	private void end(String how) {
		this.batches.add(List.copyOf(this.batch));
		this.events.add(how);
		this.batch.clear();
		this.unanswered.clear();
	}

	/**
	 * Lends wires, the first one first.
	 */
	static class Pool implements Combiner.Wires<TestWire> {

		private final Deque<TestWire> free = new ConcurrentLinkedDeque<>();

		Pool(TestWire... wires) {
			this.free.addAll(List.of(wires));
		}

		@Override
		public TestWire borrow(long nanos) {
			TestWire wire = this.free.remove();
			wire.openings.add(nanos);
			boolean opened = false;
			try {
				wire.opening.run();
				opened = true;
			}
			finally {
				if (!opened) {
					this.free.addFirst(wire);
				}
			}
			return wire;
		}

		@Override
		public void giveBack(TestWire wire) {
			wire.end("answered");
			this.free.addFirst(wire);
		}

		@Override
		public void discard(TestWire wire) {
			wire.end("discarded");
			this.free.addFirst(wire);
		}

		@Override
		public void close() {
			this.free.clear();
		}

	}

}
