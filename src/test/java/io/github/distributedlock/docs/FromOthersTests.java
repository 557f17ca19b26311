package io.github.distributedlock.docs;

import java.time.Duration;
import java.util.OptionalLong;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Predicate;

import io.github.distributedlock.DistributedLock;
import io.github.distributedlock.LockHandle;
import io.github.distributedlock.LockMode;
import io.github.distributedlock.LockRequest;
import io.github.distributedlock.backend.LockBackend;
import io.github.distributedlock.engine.LockEngine;
import io.github.distributedlock.fixtures.OwnThreads;
import io.github.distributedlock.fixtures.Patience;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

import org.springframework.beans.factory.annotation.Autowired;
import org.springframework.boot.test.context.SpringBootTest;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * The replacements for locks of other libraries do what those locks do.
 */
@SpringBootTest(properties = "distributed-lock.backend=memory")
class FromOthersTests {

	@RegisterExtension
	final OwnThreads threads = new OwnThreads();

	@Autowired
	private FromOthers service;

	@Autowired
	private DistributedLock lock;

	@Autowired
	private LockBackend store;

	@Test
	void annotationsLockTheKeysThatTheySay() {
		assertThat(this.service.lock4j("7")).containsExactly("order:7");
		assertThat(this.service.klock("7")).containsExactly("order:7");
		assertThat(this.service.lock4jOfTwo("a", "b")).containsExactly("pair:a:b");
		assertThat(this.service.wholeMethod()).containsExactly("k");
	}

	@Test
	void aJobRunsOnce() {
		assertThat(this.service.shedLock()).containsExactly("report");
		assertThat(this.service.shedLock()).as("skipped").isEmpty();
	}

	@Test
	void locksByHand() {
		try (LockEngine otherJvm = LockEngine.builder(this.store).build(); LockHandle held = this.service.lock()) {
			assertThat(held.isHeld()).isTrue();
			assertThat(otherJvm.tryAcquire("k")).isEmpty();
		}
		AtomicInteger runs = new AtomicInteger();
		try (LockEngine otherJvm = LockEngine.builder(this.store).build(); LockHandle held = otherJvm.acquire("k")) {
			assertThat(this.service.ifTryLock(runs::incrementAndGet)).isFalse();
		}
		assertThat(this.service.ifTryLock(runs::incrementAndGet)).isTrue();
		assertThat(runs).hasValue(1);
		try (LockHandle held = this.service.tryLock().orElseThrow()) {
			assertThat(held.isHeld()).isTrue();
		}
		try (LockHandle held = this.service.tryLockForTwoSeconds().orElseThrow()) {
			assertThat(held.isHeld()).isTrue();
		}
	}

	@Test
	void requestsGetWhatTheyAskFor() {
		holds(this.service.leased(), (handle) -> handle.remaining().compareTo(Duration.ofSeconds(10)) <= 0);
		holds(this.service.waitingAndLeased(), (handle) -> handle.remaining().compareTo(Duration.ofSeconds(10)) <= 0);
		assertThat(this.service.waitingAndLeased().waitTime()).isEqualTo(Duration.ofSeconds(2));
		holds(this.service.several(), (handle) -> handle.keys().size() == 2);
		holds(this.service.fenced(), (handle) -> !handle.fencingToken().equals(OptionalLong.empty()));
		holds(this.service.detached(), (handle) -> LockHandle.current().isEmpty());
		assertThat(this.service.fair().fair()).isTrue();
		holds(this.service.fair(), LockHandle::isHeld);
		assertThat(this.service.reading().mode()).isEqualTo(LockMode.SHARED);
		try (LockHandle reading = this.lock.acquire(this.service.reading())) {
			CompletableFuture<Void> another = CompletableFuture
				.runAsync(() -> holds(this.service.reading(), LockHandle::isHeld), this.threads);
			Patience.get(another, "another reader");
		}
		try (LockHandle limited = this.lock.acquire(this.service.limited().detached(true))) {
			holds(this.service.limited(), (another) -> !another.owner().equals(limited.owner()));
		}
		assertThat(this.service.rateLimited().permits()).isEqualTo(10);
		assertThat(this.service.rateLimited().minHoldTime()).isEqualTo(Duration.ofSeconds(1));
	}

	private void holds(LockRequest request, Predicate<LockHandle> condition) {
		try (LockHandle handle = this.lock.acquire(request)) {
			assertThat(handle).matches(condition);
		}
	}

}
