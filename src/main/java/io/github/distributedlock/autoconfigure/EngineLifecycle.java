package io.github.distributedlock.autoconfigure;

import io.github.distributedlock.LockBackendException;
import io.github.distributedlock.aop.DistributedLockAdvisor;
import io.github.distributedlock.backend.LockBackend;
import io.github.distributedlock.engine.LockEngine;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

import org.springframework.beans.factory.ObjectProvider;
import org.springframework.context.SmartLifecycle;

/**
 * Starts the engine before all that may use it, and stops it afterwards. A stop lasts
 * until the calls have ended that run under a lock; how long that may take is up to
 * Spring. The engine's end is that of its bean.
 * <p>
 * A start asks the store first whether it allows what locks need, and what the
 * annotations ask for, so that an application whose locks could never work does not
 * start. A server that does not answer now does not keep the application from starting:
 * the first lock asks it again. It may take 5 seconds to answer, or a command timeout if
 * that is more. Annotations of beans that are made later are refused when they are
 * called.
 */
final class EngineLifecycle implements SmartLifecycle {

	private static final Logger logger = LoggerFactory.getLogger(EngineLifecycle.class);

	private final LockEngine engine;

	private final LockBackend backend;

	private final ObjectProvider<DistributedLockAdvisor> advisor;

	private volatile boolean started;

	EngineLifecycle(LockEngine engine, LockBackend backend, ObjectProvider<DistributedLockAdvisor> advisor) {
		this.engine = engine;
		this.backend = backend;
		this.advisor = advisor;
	}

	@Override
	public void start() {
		checkStore();
		checkAnnotations();
		this.engine.start();
		this.started = true;
	}

	private void checkStore() {
		try {
			this.backend.check();
		}
		catch (LockBackendException ex) {
			if (ex.isNotCarriedOut() && !ex.isRetryable()) {
				throw ex;
			}
			logger.warn("{}. The application starts, and its first lock asks again: until the store answers, a request"
					+ " fails after its wait time", ex.getMessage());
		}
	}

	private void checkAnnotations() {
		DistributedLockAdvisor found = this.advisor.getIfUnique();
		try {
			if (found != null) {
				found.require(this.engine, this.backend::checkSupport);
			}
		}
		catch (LockBackendException ex) {
			logger.debug("The annotations are not checked, since the store does not answer", ex);
		}
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
