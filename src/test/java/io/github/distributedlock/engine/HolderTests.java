package io.github.distributedlock.engine;

import java.time.Duration;
import java.time.Instant;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.atomic.AtomicReference;

import ch.qos.logback.classic.Level;
import ch.qos.logback.classic.Logger;
import ch.qos.logback.classic.spi.ILoggingEvent;
import ch.qos.logback.core.read.ListAppender;
import io.github.distributedlock.EngineSnapshot;
import io.github.distributedlock.LockEvent;
import io.github.distributedlock.LockHandle;
import io.github.distributedlock.LockMode;
import io.github.distributedlock.LockNotAcquiredException;
import io.github.distributedlock.LockRequest;
import io.github.distributedlock.backend.Claim;
import io.github.distributedlock.backend.Holder;
import io.github.distributedlock.tck.Ear;
import org.junit.jupiter.api.Test;
import org.slf4j.LoggerFactory;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * The named holder of a busy lock, and the log and the counts of locks.
 */
class HolderTests extends EngineFixture {

	private static final Duration SECOND = Duration.ofSeconds(1);

	@Test
	void isKnownInTheSameJvmWithoutAskingTheStore() {
		LockHandle handle = this.engine.acquire("k");
		this.backend.forgetSteps();
		CompletableFuture<LockHandle> acquiring = acquiring(waiting("k", SECOND));
		this.time.advance(SECOND);
		assertThat(busy(acquiring).holder()).contains(handle.owner());
		assertThat(busy(acquiring)).hasMessageEndingWith(
				", held by " + handle.owner() + ", which is another thread, chain or coroutine of this JVM");
		CompletableFuture<Boolean> trying = inThread(() -> this.engine.tryAcquire("k").isPresent());
		assertThat(trying).succeedsWithin(PATIENCE).isEqualTo(false);
		assertThat(events(LockEvent.NotAcquired.class)).extracting(LockEvent.NotAcquired::holder)
			.containsOnly(handle.owner());
		assertThat(this.backend.steps()).isEmpty();
	}

	@Test
	void isTheOwnerOfALockThatRunsOut() {
		LockHandle handle = engine(this.store, "other").acquire(request("k").minHoldTime(SECOND));
		handle.close();
		assertThat(holderOf("k").state()).isEqualTo(Holder.State.EXPIRING);
		assertThat(holderOfBusy("k")).isEqualTo(handle.owner());
	}

	@Test
	void isTheOwnerOfALockThatIsShared() {
		LockHandle handle = engine(this.store, "other").acquire(request("k").mode(LockMode.SHARED));
		assertThat(holderOfBusy("k")).isEqualTo(handle.owner());
	}

	@Test
	void isNobodyWhileALockIsKeptForTheNext() {
		ownedElsewhere("k", LEASE);
		this.store.listen("third#1", new Ear());
		this.store.acquireOrRegister(Claim.of("k", "third#1:1", "third#1", LEASE));
		releasedElsewhere("k");
		assertThat(holderOf("k").isReservation()).isTrue();
		assertThat(holderOfBusy("k")).isNull();
	}

	@Test
	void eachStepIsALineOfTheLog() {
		Logger logger = (Logger) LoggerFactory.getLogger(LockEngine.class.getPackageName());
		ListAppender<ILoggingEvent> lines = new ListAppender<>();
		lines.list = new CopyOnWriteArrayList<>();
		lines.start();
		Level before = logger.getLevel();
		logger.setLevel(Level.DEBUG);
		logger.addAppender(lines);
		try {
			LockHandle handle = this.engine.acquire("k");
			CompletableFuture<LockHandle> acquiring = acquiring(waiting("k", SECOND));
			this.time.advance(SECOND);
			busy(acquiring);
			handle.close();
			assertThat(lines.list).extracting(ILoggingEvent::getFormattedMessage)
				// Threads of an earlier test may still write about its locks.
				.filteredOn((line) -> line.contains(handle.owner()))
				.hasSize(3)
				.allMatch((line) -> line.contains("k"));
		}
		finally {
			logger.detachAppender(lines);
			logger.setLevel(before);
		}
	}

	@Test
	void locksAndRequestsAreCounted() {
		LockHandle handle = this.engine.acquire(LockRequest.of("k", "other"));
		CompletableFuture<LockHandle> acquiring = acquiring(waiting("k", SECOND));
		assertThat(this.engine.snapshot().holds()).hasSize(2);
		assertThat(this.engine.snapshot().requestsWaiting()).isOne();
		assertThat(this.engine.keysHeld()).isEqualTo(2);
		assertThat(this.engine.requestsWaiting()).isOne();
		assertThat(this.engine.snapshot().queues())
			.containsOnly(Map.entry("k", new EngineSnapshot.Queue(1, Duration.ZERO)));
		assertThat(this.engine.snapshot().holds()).containsExactlyInAnyOrder(hold("k", handle), hold("other", handle));
		this.time.advance(SECOND);
		busy(acquiring);
		handle.close();
		assertThat(this.engine.snapshot().queues()).isEmpty();
		assertThat(this.engine.snapshot().holds()).isEmpty();
		assertThat(this.engine.snapshot().requestsWaiting()).isZero();
		assertThat(this.engine.keysHeld()).isZero();
		assertThat(this.engine.requestsWaiting()).isZero();
	}

	private EngineSnapshot.Hold hold(String key, LockHandle handle) {
		return new EngineSnapshot.Hold(key, handle.owner(), "unnamed", LockMode.EXCLUSIVE, 1, handle.remaining(),
				Instant.ofEpochSecond(0, this.time.wallNanos()), Duration.ZERO, 0, Thread.currentThread().getName(),
				null);
	}

	private String holderOfBusy(String key) {
		assertThat(this.engine.tryAcquire(key)).isEmpty();
		return events(LockEvent.NotAcquired.class).get(0).holder();
	}

	private static LockNotAcquiredException busy(CompletableFuture<LockHandle> acquiring) {
		AtomicReference<LockNotAcquiredException> busy = new AtomicReference<>();
		assertThat(acquiring).failsWithin(PATIENCE)
			.withThrowableThat()
			.havingCause()
			.isInstanceOfSatisfying(LockNotAcquiredException.class, busy::set);
		return busy.get();
	}

}
