package io.github.distributedlock.aop;

import java.util.List;

import io.github.distributedlock.DistributedLock;
import org.junit.jupiter.api.AfterEach;

/**
 * A service with annotated methods behind the advisor, and a lock that records.
 *
 * @param <S> the service
 */
abstract class AdvisedFixture<S> {

	final AdvisorContext context;

	final S service;

	final RecordingLock lock;

	/**
	 * The uses of the lock, oldest first.
	 */
	final List<String> events;

	AdvisedFixture(Class<S> type) {
		this.context = AdvisorContext.of(type);
		this.service = service(this.context.get(type), this.context.lock());
		this.lock = this.context.lock();
		this.events = this.lock.events;
	}

	/**
	 * Returns the service to test: the annotated bean, unless a subclass locks in code.
	 */
	S service(S advised, DistributedLock lock) {
		return advised;
	}

	@AfterEach
	void close() {
		this.context.close();
	}

}
