package io.github.distributedlock.autoconfigure;

import io.github.distributedlock.engine.LockEngine;

import org.springframework.context.SmartLifecycle;

/**
 * Stops the engine after all that may use it, and starts it before, once the store has
 * been asked. Its end is that of its bean.
 */
final class EngineLifecycle implements SmartLifecycle {

	private final LockEngine engine;

	private final StartUpCheck check;

	private volatile boolean started;

	EngineLifecycle(LockEngine engine, StartUpCheck check) {
		this.engine = engine;
		this.check = check;
	}

	@Override
	public void start() {
		this.check.run();
		this.engine.start();
		this.started = true;
	}

	@Override
	public void stop() {
		this.engine.stop();
		this.started = false;
	}

	// The engine is open from the beginning, for beans that lock before this is started.
	@Override
	public boolean isRunning() {
		return this.started;
	}

	@Override
	public int getPhase() {
		return Integer.MIN_VALUE;
	}

}
