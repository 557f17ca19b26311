package io.github.distributedlock.demo.live;

import java.io.File;
import java.time.Duration;
import java.util.Map;
import java.util.Optional;

import io.github.distributedlock.fixtures.JvmProcess;

/**
 * A {@link Market} in a separate JVM, which can be started again.
 */
final class MarketJvm implements AutoCloseable {

	private final int number;

	private final int redisPort;

	private JvmProcess process;

	private Optional<Actuator> actuator;

	private Rate rate;

	private boolean paused;

	MarketJvm(int number, int redisPort) {
		this.number = number;
		this.redisPort = redisPort;
		launch();
	}

	private void launch() {
		this.process = JvmProcess.start(Market.class,
				Map.of("spring.config.name", "live-view", "spring.application.name", Holder.APPLICATION + this.number,
						"spring.data.redis.port", String.valueOf(this.redisPort)));
		this.actuator = Optional.empty();
		this.rate = new Rate();
		this.paused = false;
	}

	void start() {
		require(!this.process.isAlive(), "runs already");
		launch();
	}

	void pause() {
		require(this.process.isAlive(), "is dead");
		require(!this.paused, "is paused");
		if (File.separatorChar == '\\') {
			throw new IllegalStateException("Pausing needs the signals of POSIX, which Windows has not.");
		}
		this.process.pause();
		this.paused = true;
	}

	void resume() {
		require(this.paused && this.process.isAlive(), "is not paused");
		this.process.resume();
		this.paused = false;
	}

	/**
	 * Kills the JVM on the spot (SIGKILL), without a chance to give anything back.
	 */
	void kill() {
		require(this.process.isAlive(), "is dead");
		this.process.kill();
	}

	private void require(boolean condition, String otherwise) {
		if (!condition) {
			throw new IllegalStateException("JVM " + this.number + " " + otherwise + ".");
		}
	}

	Look.Jvm look(Duration at) {
		State state = state();
		Optional<Locks> locks = (state == State.RUNNING) ? this.actuator.flatMap(Actuator::locks) : Optional.empty();
		if (state == State.RUNNING && locks.isEmpty()) {
			state = State.SILENT;
		}
		double perSecond = locks.isPresent() ? this.rate.update(this.actuator.orElseThrow().acquired(), at) : 0;
		return new Look.Jvm(this.number, state, perSecond, locks);
	}

	Optional<Holder> holder(String key) {
		return this.actuator.flatMap((endpoints) -> endpoints.holder(key));
	}

	private State state() {
		if (!this.process.isAlive()) {
			return State.KILLED;
		}
		if (this.paused) {
			return State.PAUSED;
		}
		if (this.actuator.isEmpty()) {
			this.actuator = port().map(Actuator::new);
		}
		return this.actuator.isPresent() ? State.RUNNING : State.STARTING;
	}

	private Optional<Integer> port() {
		return this.process.output()
			.stream()
			.filter((line) -> line.startsWith(Market.READY))
			.map((line) -> Integer.valueOf(line.substring(Market.READY.length())))
			.findFirst();
	}

	String output() {
		return String.join("\n", this.process.output());
	}

	@Override
	public void close() {
		this.process.close();
	}

}
