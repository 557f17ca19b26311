package io.github.distributedlock.engine;

import java.time.Duration;
import java.util.Collections;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.TimeUnit;
import java.util.function.Function;
import java.util.stream.IntStream;

import ch.qos.logback.classic.Level;
import ch.qos.logback.classic.Logger;
import ch.qos.logback.classic.spi.ILoggingEvent;
import ch.qos.logback.core.read.ListAppender;
import io.github.distributedlock.LockEvent;
import io.github.distributedlock.LockHandle;
import io.github.distributedlock.LockRequest;
import io.github.distributedlock.backend.Holder;
import io.github.distributedlock.fixtures.Patience;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;
import org.slf4j.LoggerFactory;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

/**
 * Tests for a request with the greatest number of keys: given back in batches where the
 * store can, on a small stack, and with one line in the log if the store fails.
 */
class ManyKeysTests extends EngineFixture {

	private static final int MANY = LockRequest.MOST_KEYS;

	private static final int BATCHES = MANY / 200;

	private static final int SMALL_STACK = 256 * 1024;

	private final Logger logger = (Logger) LoggerFactory.getLogger(LockEngine.class.getPackageName());

	private final ListAppender<ILoggingEvent> log = new ListAppender<>();

	@BeforeEach
	void listen() {
		this.log.list = new CopyOnWriteArrayList<>();
		this.log.start();
		this.logger.addAppender(this.log);
	}

	@AfterEach
	void stopListening() {
		this.logger.detachAppender(this.log);
	}

	@Test
	void areGivenBackInBatchesWhereThatIsOneStep() throws Exception {
		this.backend.releasesTogether(true);
		LockHandle handle = this.engine.acquire(many("k"));
		assertThat(handle.isHeld()).isTrue();
		closeOnASmallStack(handle);
		assertThat(this.backend.steps().subList(MANY, MANY + BATCHES)).containsOnly("release-all 200");
		assertThat(this.backend.steps()).hasSize(MANY + BATCHES);
		assertThat(events(LockEvent.Acquired.class)).hasSize(1);
		assertThat(events(LockEvent.Released.class)).hasSize(MANY);
		assertAllFree("k");
	}

	@ParameterizedTest
	@ValueSource(booleans = { true, false })
	void areGivenBackAllIfOneIsBusy(boolean together) {
		this.backend.releasesTogether(together);
		String busy = many("k").keys().stream().sorted().toList().get(MANY / 2);
		ownedElsewhere(busy, LEASE);
		assertThat(this.engine.tryAcquire(many("k"))).isEmpty();
		releasedElsewhere(busy);
		assertAllFree("k");
	}

	@Test
	void areGivenBackOneByOneWhereItTakesSeveralSteps() throws Exception {
		closeOnASmallStack(this.engine.acquire(many("k")));
		assertThat(this.backend.steps()).hasSize(2 * MANY);
		assertAllFree("k");
	}

	@Test
	void areParkedIfTheyHaveToRest() throws Exception {
		this.backend.releasesTogether(true);
		LockHandle handle = this.engine.acquire(many("k").minHoldTime(Duration.ofSeconds(1)));
		closeOnASmallStack(handle);
		assertThat(this.backend.steps()).filteredOn((step) -> step.startsWith("expire ")).hasSize(MANY);
		this.time.advance(Duration.ofSeconds(2));
		assertAllFree("k");
	}

	static List<ScriptedBackend.Fault> faults() {
		return List.of(ScriptedBackend.LOST_REQUEST, ScriptedBackend.LOST_REPLY, ScriptedBackend.NOT_NOW);
	}

	@ParameterizedTest
	@MethodSource("faults")
	void areGivenBackLaterWithOneLineInTheLogIfTheStoreFails(ScriptedBackend.Fault fault) throws Exception {
		for (boolean together : List.of(true, false)) {
			this.backend.releasesTogether(together);
			String prefix = "k" + together;
			LockHandle handle = this.engine.acquire(many(prefix));
			this.log.list.clear();
			this.backend.breaks(fault);
			closeOnASmallStack(handle);
			assertThat(warnings(prefix)).singleElement()
				.satisfies(
						(line) -> assertThat(line.getFormattedMessage()).startsWith("Could not release lock '" + prefix)
							.contains("trying again until the lease has run out in 30 s: "))
				.satisfies((line) -> assertThat(line.getThrowableProxy()).as("stack trace").isNull());
			this.backend.works();
			this.time.advance(Duration.ofSeconds(1));
			assertAllFree(prefix);
		}
		assertThat(events(LockEvent.ReleaseDeferred.class)).hasSize(2 * MANY);
	}

	@Test
	void aLeaseThatHasRunOutMeanwhileIsNotTriedForLonger() {
		LockHandle handle = this.engine.acquire(LockRequest.of("k").leaseTime(Duration.ofSeconds(2)));
		this.log.list.clear();
		this.backend.next("release", (step) -> {
			this.time.advance(Duration.ofSeconds(3));
			return ScriptedBackend.LOST_REQUEST.apply(step);
		});
		handle.close();
		assertThat(warnings("k'")).extracting((line) -> line.getFormattedMessage())
			.noneMatch((line) -> line.contains("in -"))
			.anyMatch((line) -> line.contains("whose lease has run out meanwhile: "));
	}

	@Test
	void areNotEachAskedForAtANodeThatDoesNotAnswer() {
		LockHandle handle = this.engine.acquire(LockRequest.of("node-1:a", "node-1:b", "node-1:c", "node-2:d"));
		this.backend.forgetSteps();
		this.backend.next("release", (step) -> step.get());
		this.backend.next("release", ScriptedBackend.LOST_REQUEST);
		handle.close();
		assertThat(this.backend.steps()).containsExactly("release node-2:d", "release node-1:c");
		assertThat(warnings("node-1:")).hasSize(1);
		this.time.advance(Duration.ofSeconds(1));
		assertThat(List.of("node-1:a", "node-1:b", "node-1:c")).extracting(this::holderOf).containsOnlyNulls();
	}

	@Test
	void areRefusedIfThereAreMore() {
		List<String> keys = IntStream.rangeClosed(0, MANY).mapToObj((i) -> "k" + i).toList();
		assertThatIllegalArgumentException().isThrownBy(() -> LockRequest.of(keys))
			.withMessageStartingWith("A lock of 10001 keys was requested, but at most 10000 are allowed");
		assertThat(LockRequest.of(Collections.nCopies(MANY + 1, "k")).keys()).as("repeated").hasSize(1);
	}

	private static LockRequest many(String prefix) {
		return LockRequest.of(IntStream.range(0, MANY).mapToObj((i) -> prefix + i).toList()).detached(true);
	}

	/**
	 * Threads of an earlier test may still write about its locks.
	 */
	private List<ILoggingEvent> warnings(String key) {
		return this.log.list.stream()
			.filter((line) -> line.getLevel().isGreaterOrEqual(Level.WARN))
			.filter((line) -> line.getFormattedMessage().contains(" lock '" + key))
			.toList();
	}

	private void assertAllFree(String prefix) {
		assertThat(many(prefix).keys()).extracting((Function<String, Holder>) this::holderOf).containsOnlyNulls();
		assertThat(this.engine.hasQueues()).isFalse();
	}

	private static void closeOnASmallStack(LockHandle handle) throws Exception {
		CompletableFuture<Void> closed = new CompletableFuture<>();
		new Thread(null, () -> {
			try {
				handle.close();
				closed.complete(null);
			}
			catch (Throwable ex) {
				closed.completeExceptionally(ex);
			}
		}, "closing", SMALL_STACK).start();
		closed.get(Patience.PATIENCE.toSeconds(), TimeUnit.SECONDS);
	}

}
