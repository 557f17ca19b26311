package io.github.distributedlock.autoconfigure;

import io.github.distributedlock.engine.LockEngine;

import org.springframework.context.SmartLifecycle;

/**
 * Stops the engine after all that may use it, and starts it before, once the store has
 * been asked. A stop lasts until the calls have ended that run under a lock; how long
 * that may take is up to Spring. The engine's end is that of its bean.
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
		this.started = false;
		this.engine.stop();
	}

	@Override
	public void stop(Runnable callback) {
		this.started = false;
		this.engine.stop().thenRun(callback);
	}

	/**
	 * A pause must not refuse locks to a test whose context is cached. Overrides what
	 * Spring Framework has since 7.0.
	 */
	public boolean isPauseable() {
		return false;
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
