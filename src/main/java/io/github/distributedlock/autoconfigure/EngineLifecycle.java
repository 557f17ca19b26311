package io.github.distributedlock.autoconfigure;

import java.util.stream.Collectors;

import io.github.distributedlock.LockBackendException;
import io.github.distributedlock.LockRequest;
import io.github.distributedlock.aop.DistributedLockAdvisor;
import io.github.distributedlock.backend.LockBackend;
import io.github.distributedlock.engine.LockEngine;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

import org.springframework.beans.factory.ListableBeanFactory;
import org.springframework.beans.factory.ObjectProvider;
import org.springframework.context.SmartLifecycle;

/**
 * Starts the engine before all beans that may use the engine, and stops the engine after
 * them. A stop lasts until the calls that run under a lock have ended; Spring limits how
 * long that may take. The stop then closes all connections, so that a snapshot can be
 * taken of the process (Spring stops its beans before a checkpoint of CRaC, and starts
 * them after the restore). The engine itself is closed when its bean is destroyed.
 * <p>
 * A start asks the store first whether it allows what locks and annotations need, so that
 * an application whose locks could never work does not start. A server that does not
 * answer now does not keep the application from starting: the first lock asks the server
 * again. The server may take 5 seconds to answer, or a command timeout if that is more.
 * An annotation of a bean that is made later is refused when its method is called.
 */
final class EngineLifecycle implements SmartLifecycle {

	private static final Logger logger = LoggerFactory.getLogger(EngineLifecycle.class);

	private final LockEngine engine;

	private final LockBackend backend;

	private final ObjectProvider<DistributedLockAdvisor> advisor;

	private final ObjectProvider<StorePool> pools;

	private final ListableBeanFactory beanFactory;

	private volatile boolean started;

	EngineLifecycle(LockEngine engine, LockBackend backend, ObjectProvider<DistributedLockAdvisor> advisor,
			ObjectProvider<StorePool> pools, ListableBeanFactory beanFactory) {
		this.beanFactory = beanFactory;
		this.engine = engine;
		this.backend = backend;
		this.advisor = advisor;
		this.pools = pools;
	}

	@Override
	public synchronized void start() {
		this.pools.forEach(StorePool::connect);
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
			if (ex.isWithoutEffect() && !ex.isRetryable()) {
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
				found.require(this.engine, this::checkSupport);
			}
		}
		catch (LockBackendException ex) {
			logger.debug("The annotations are not checked, since the store does not answer", ex);
		}
	}

	/**
	 * Refuses a request that the store does not offer, and names another store that does.
	 */
	private void checkSupport(LockRequest request) {
		try {
			this.backend.checkSupport(request);
		}
		catch (LockBackendException ex) {
			String others = (ex.isWithoutEffect() && !ex.isRetryable()) ? othersFor(request) : "";
			if (others.isEmpty()) {
				throw ex;
			}
			throw LockBackendException.of(ex.problem())
				.remedy(others + ex.remedy().map((remedy) -> ", or " + remedy).orElse(""))
				.withoutEffect(true)
				.build();
		}
	}

	private String othersFor(LockRequest request) {
		String others = this.beanFactory.getBeansOfType(EngineLifecycle.class)
			.entrySet()
			.stream()
			.filter((other) -> other.getValue().backend != this.backend && other.getValue().offers(request))
			.map((other) -> storeOf(other.getKey()))
			.collect(Collectors.joining(" or "));
		if (!others.isEmpty()) {
			return "write " + others + ", which offers that";
		}
		return this.backend.details().containsKey("table") // A database, whichever.
				? "add redis to distributed-lock.backend and write store = \"redisLock\", which offers that" : "";
	}

	private boolean offers(LockRequest request) {
		try {
			this.backend.checkSupport(request);
			return true;
		}
		catch (LockBackendException ex) {
			return false;
		}
	}

	/**
	 * Returns how an annotation names the lock of a lifecycle bean.
	 */
	private String storeOf(String bean) {
		String lock = bean.substring(0, bean.length() - "Lifecycle".length());
		String[] names = this.beanFactory.getAliases("distributedLockEngine");
		boolean isDefault = lock.equals("distributedLock");
		return "store = \"" + (isDefault ? (names.length > 0) ? names[0] : "distributedLockEngine" : lock) + "\"";
	}

	@Override
	public void stop() {
		stop(() -> {
		});
	}

	@Override
	public void stop(Runnable callback) {
		this.started = false;
		this.engine.stop().thenRun(this::disconnect).whenComplete((done, failure) -> callback.run());
	}

	/**
	 * Closes the connections, unless a start has come in between: the end of a stop may
	 * come late, after the next start has begun.
	 */
	private synchronized void disconnect() {
		if (!this.started) {
			try {
				this.backend.disconnect();
				this.pools.forEach(StorePool::disconnect);
			}
			catch (RuntimeException ex) {
				logger.warn("Connections for locks stay open", ex);
			}
		}
	}

	/**
	 * Returns {@code false}: a pause must not refuse locks to a test whose context is
	 * cached. Overrides a method that Spring Framework has since 7.0.
	 */
	public boolean isPauseable() {
		return false;
	}

	// The engine accepts requests even before this lifecycle starts, for beans that lock
	// early.
	@Override
	public boolean isRunning() {
		return this.started;
	}

	@Override
	public int getPhase() {
		return Integer.MIN_VALUE;
	}

	/**
	 * Connections for a store that are kept open outside of the store.
	 */
	interface StorePool {

		/**
		 * Closes idle connections, and keeps none open until {@link #connect()}.
		 */
		void disconnect();

		/**
		 * Keeps connections open again.
		 */
		void connect();

	}

}
