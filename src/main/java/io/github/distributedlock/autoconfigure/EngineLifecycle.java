package io.github.distributedlock.autoconfigure;

import io.github.distributedlock.engine.LockEngine;

import org.springframework.context.SmartLifecycle;

/**
 * Stops the engine after all that may use it, and starts it before. Its end is that of
 * its bean.
 */
final class EngineLifecycle implements SmartLifecycle {

	private final LockEngine engine;

	EngineLifecycle(LockEngine engine) {
		this.engine = engine;
	}

	@Override
	public void start() {
		this.engine.start();
	}

	@Override
	public void stop() {
		this.engine.stop();
	}

	@Override
	public boolean isRunning() {
		return this.engine.isRunning();
	}

	@Override
	public int getPhase() {
		return Integer.MIN_VALUE;
	}

}
