package io.github.distributedlock.backend.redis.connection;

import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.function.UnaryOperator;

import io.github.distributedlock.backend.redis.wire.Command;
import io.github.distributedlock.backend.redis.wire.KeyNames;

/**
 * A wire whose server replies to each command with its key, unless the test makes
 * something else of it, and which notes what it was used for.
 */
final class TestWire implements Wire {

	/** What was sent together, by key. */
	final List<List<String>> batches = new CopyOnWriteArrayList<>();

	/** Until when the connection was to be opened. */
	final List<Long> openings = new CopyOnWriteArrayList<>();

	/** Until when replies were waited for. */
	final List<Long> deadlines = new CopyOnWriteArrayList<>();

	/** What happened to the connection. */
	final List<String> events = new CopyOnWriteArrayList<>();

	private final List<String> batch = new ArrayList<>();

	private final Deque<String> unanswered = new ArrayDeque<>();

	private final Runnable opening;

	private final UnaryOperator<Object> server;

	/**
	 * Creates it.
	 * @param opening is run whenever a thread needs the connection
	 * @param server makes the reply to a key
	 */
	TestWire(Runnable opening, UnaryOperator<Object> server) {
		this.opening = opening;
		this.server = server;
	}

	static Command command(String key) {
		return Command.of(Command.Verb.GET, KeyNames.bytes(key));
	}

	@Override
	public void open(long deadline) {
		this.openings.add(deadline);
		this.opening.run();
	}

	@Override
	public void send(Command command) {
		String key = KeyNames.text(command.key());
		this.batch.add(key);
		this.unanswered.add(key);
	}

	@Override
	public Object receive(long deadline) {
		this.deadlines.add(deadline);
		return this.server.apply(this.unanswered.remove());
	}

	@Override
	public boolean answered() {
		end("answered");
		return true;
	}

	@Override
	public void abandon() {
		end("abandoned");
	}

	private void end(String how) {
		this.batches.add(List.copyOf(this.batch));
		this.events.add(how);
		this.batch.clear();
		this.unanswered.clear();
	}

	@Override
	public void tidy() {
		this.events.add("tidied");
	}

}
