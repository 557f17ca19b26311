package io.github.distributedlock.demo;

import java.nio.file.Path;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

import io.github.distributedlock.fixtures.JvmProcess;
import io.github.distributedlock.tck.History;
import io.github.distributedlock.tck.History.Hold;

/**
 * A {@link Shop} in a JVM of its own, from the outside.
 */
final class Branch implements AutoCloseable {

	private final String name;

	private final Path history;

	private final JvmProcess process;

	private Branch(String name, Path history, JvmProcess process) {
		this.name = name;
		this.history = history;
		this.process = process;
	}

	/**
	 * Starts one, which takes some seconds.
	 */
	static Branch start(String name, String store, Map<String, String> server, Path directory) {
		Path history = directory.resolve(name);
		// The history is deleted also if somebody ends this program early: the files
		// first, then the directory.
		history.toFile().deleteOnExit();
		Map<String, String> properties = new HashMap<>(server);
		properties.putAll(Map.of("spring.config.name", "flash-sale", "spring.application.name", name,
				"spring.profiles.active", store, "flash-sale.history", history.toString()));
		return new Branch(name, history, JvmProcess.start(Shop.class, properties));
	}

	void awaitStart() {
		this.process.awaitLine(Shop.READY);
	}

	String name() {
		return this.name;
	}

	void send(String order) {
		this.process.send(order);
	}

	/**
	 * Returns whether the buyers have gone home because there is nothing left.
	 */
	boolean isClosed(String sku) {
		return hasSaid(Shop.CLOSED + sku);
	}

	/**
	 * Returns whether a sale has stopped half-way.
	 */
	boolean hasFainted() {
		return hasSaid(Shop.FAINTED);
	}

	private boolean hasSaid(String line) {
		List<String> said = this.process.output();
		if (!said.contains(line) && !this.process.isAlive()) {
			throw new IllegalStateException(this.name + " has ended:\n" + String.join("\n", said));
		}
		return said.contains(line);
	}

	/**
	 * Kills the JVM on the spot (SIGKILL), without a chance to give anything back.
	 */
	void kill() {
		this.process.kill();
	}

	/**
	 * When the lock was held here, also if the JVM was killed.
	 */
	List<Hold> holds() {
		return History.read(this.history);
	}

	@Override
	public void close() {
		this.process.close();
	}

}
