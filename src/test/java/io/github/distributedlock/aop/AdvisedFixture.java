package io.github.distributedlock.aop;

import java.util.List;

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
	 * What the lock was used for.
	 */
	final List<String> events;

	AdvisedFixture(Class<S> type) {
		this.context = AdvisorContext.of(type);
		this.service = this.context.get(type);
		this.lock = this.context.lock();
		this.events = this.lock.events;
	}

	@AfterEach
	void close() {
		this.context.close();
	}

}
