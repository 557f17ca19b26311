package io.github.distributedlock.backend.redis.internal;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.locks.LockSupport;

import io.github.distributedlock.fixtures.OwnThreads;
import io.github.distributedlock.fixtures.Patience;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

import org.springframework.dao.QueryTimeoutException;
import org.springframework.data.redis.RedisConnectionFailureException;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

class CombinerTests {

	private static final Duration TIMEOUT = Duration.ofMinutes(10);

	@RegisterExtension
	final OwnThreads threads = new OwnThreads();

	/** Holds up the opening of the connection. */
	private final CountDownLatch opened = new CountDownLatch(1);

	/** Holds up the reply to "slow". */
	private final CountDownLatch slow = new CountDownLatch(1);

	/** Open until a thread waits for that reply. */
	private final CountDownLatch leading = new CountDownLatch(1);

	private final AtomicLong now = new AtomicLong();

	private final TestWire wire = new TestWire(() -> {
	}, this::reply);

	private final TestWire closed = new TestWire(() -> Patience.await(this.opened, "the connection"), this::reply);

	@Test
	void whatComesWhileAWireIsInUseIsSentTogether() {
		Combiner<?> combiner = combiner(this.wire);
		CompletableFuture<Object> first = leadSlowly(combiner);
		List<CompletableFuture<Object>> others = new ArrayList<>();
		for (int i = 0; i < 10; i++) {
			others.add(callAndWait(combiner, "k" + i));
		}
		this.slow.countDown();
		assertThat(Patience.get(first, "the first reply")).isEqualTo("slow");
		for (int i = 0; i < 10; i++) {
			assertThat(Patience.get(others.get(i), "a reply")).isEqualTo("k" + i);
		}
		assertThat(this.wire.batches).hasSize(2);
		assertThat(this.wire.batches.get(1)).hasSize(10).startsWith("k0", "k1");
	}

	@Test
	void whatIsTooMuchForOneBatchGoesWithTheNext() {
		Combiner<?> combiner = combiner(this.wire);
		CompletableFuture<Object> first = leadSlowly(combiner);
		List<CompletableFuture<Object>> others = new ArrayList<>();
		for (int i = 0; i < 3; i++) {
			others.add(callAndWait(combiner, "k" + i + "-" + "x".repeat(32_768)));
		}
		this.slow.countDown();
		Patience.get(first, "the first reply");
		others.forEach((other) -> Patience.get(other, "a reply"));
		assertThat(this.wire.batches).hasSize(4).allSatisfy((batch) -> assertThat(batch).hasSize(1));
	}

	@Test
	void aThreadTakesTheWireThatIsFree() {
		TestWire other = new TestWire(() -> {
		}, this::reply);
		Combiner<?> combiner = combiner(this.wire, other);
		CompletableFuture<Object> first = leadSlowly(combiner);
		assertThat(Patience.get(call(combiner, "k"), "the reply on the other wire")).isEqualTo("k");
		this.slow.countDown();
		Patience.get(first, "the first reply");
		assertThat(other.batches).containsExactly(List.of("k"));
	}

	@Test
	void anErrorIsThatOfOneCommandAlone() {
		Combiner<?> combiner = combiner(this.wire);
		assertThat(combiner.exchange(TestWire.command("error"))).isInstanceOf(IllegalArgumentException.class);
		assertThat(combiner.exchange(TestWire.command("k"))).isEqualTo("k");
		assertThat(this.wire.events).containsExactly("answered", "answered");
	}

	@Test
	void whatWasNotTakenInTimeIsNeverSent() {
		Combiner<?> combiner = combiner(this.wire);
		CompletableFuture<Object> first = leadSlowly(combiner);
		CompletableFuture<Object> late = callAndWait(combiner, "late");
		pass(TIMEOUT);
		assertFails(late, UnsentException.class);
		this.slow.countDown();
		Patience.get(first, "the first reply");
		Patience.get(call(combiner, "next"), "the next reply");
		assertThat(this.wire.batches).containsExactly(List.of("slow"), List.of("next"));
	}

	@Test
	void noThreadWaitsForALeaderLongerThanItsOwnTime() {
		Combiner<?> combiner = combiner(this.closed);
		CompletableFuture<Object> leader = call(combiner, "slow");
		awaitWaiting(0);
		CompletableFuture<Object> taken = callAndWait(combiner, "taken");
		this.opened.countDown();
		Patience.await(this.leading, "the leader to wait for its reply");
		pass(TIMEOUT.dividedBy(2));
		awaitWaiting(1);
		assertThat(taken).isNotDone();
		pass(TIMEOUT.dividedBy(2));
		// The command may have been carried out.
		assertFails(taken, QueryTimeoutException.class);
		this.slow.countDown();
		assertThat(Patience.get(leader, "its reply")).isEqualTo("slow");
		assertThat(this.closed.batches).containsExactly(List.of("slow", "taken"));
	}

	@Test
	void aLostConnectionFailsWhatHasGotNoReplyAndNoMore() {
		Combiner<?> combiner = combiner(this.closed);
		CompletableFuture<Object> leader = call(combiner, "leader");
		awaitWaiting(0);
		CompletableFuture<Object> lost = callAndWait(combiner, "lost");
		CompletableFuture<Object> behind = callAndWait(combiner, "behind");
		this.opened.countDown();
		assertThat(Patience.get(leader, "the reply before")).isEqualTo("leader");
		assertFails(lost, RedisConnectionFailureException.class);
		assertFails(behind, RedisConnectionFailureException.class);
		assertThat(Patience.get(call(combiner, "next"), "the next reply")).isEqualTo("next");
		assertThat(this.closed.events).containsSubsequence("discarded", "answered");
	}

	@Test
	void aThreadThatEndsWhileItOpensAConnectionLeavesNothingBehind() {
		AtomicBoolean fails = new AtomicBoolean(true);
		TestWire other = new TestWire(() -> {
			if (fails.getAndSet(false)) {
				throw new InternalError("as if no thread could be had");
			}
		}, this::reply);
		Combiner<?> combiner = combiner(other);
		assertThatThrownBy(() -> combiner.exchange(TestWire.command("gone"))).isInstanceOf(InternalError.class);
		assertThat(combiner.exchange(TestWire.command("k"))).isEqualTo("k");
		assertThat(other.batches).containsExactly(List.of("k"));
	}

	@Test
	void aThreadThatDiesWithAConnectionGivesTheConnectionBack() {
		AtomicInteger openings = new AtomicInteger();
		AtomicBoolean fails = new AtomicBoolean();
		TestWire other = new TestWire(() -> fails.set(openings.incrementAndGet() == 1), this::reply);
		Combiner<?> combiner = new Combiner<>(new TestWire.Pool(other), 1, TIMEOUT, () -> {
			if (fails.getAndSet(false)) {
				throw new InternalError("as if there were no memory left");
			}
			return this.now.get();
		});
		assertThatThrownBy(() -> combiner.exchange(TestWire.command("gone"))).isInstanceOf(InternalError.class);
		assertThat(combiner.exchange(TestWire.command("k"))).isEqualTo("k");
		assertThat(other.events).containsExactly("discarded", "answered");
	}

	@Test
	void aThreadThatEndsFailsTheCallsOfOthersFirst() {
		Combiner<?> combiner = new Combiner<>(new TestWire.Pool(this.closed) {

			@Override
			public void discard(TestWire wire) {
				super.discard(wire);
				throw new InternalError("as if no thread could be had");
			}

		}, 1, TIMEOUT, this.now::get);
		CompletableFuture<Object> leader = call(combiner, "lost");
		awaitWaiting(0);
		CompletableFuture<Object> behind = callAndWait(combiner, "behind");
		this.opened.countDown();
		assertFails(behind, RedisConnectionFailureException.class);
		assertThatThrownBy(() -> Patience.get(leader, "its end")).hasRootCauseInstanceOf(InternalError.class);
	}

	@Test
	void whatIsBehindAThreadThatOpensAConnectionGoesOnTheOther() {
		Combiner<?> combiner = combiner(this.wire, this.closed);
		CompletableFuture<Object> first = leadSlowly(combiner);
		CompletableFuture<Object> opener = callAndWait(combiner, "opener");
		CompletableFuture<Object> behind = callAndWait(combiner, "behind");
		this.slow.countDown();
		Patience.get(first, "the first reply");
		assertThat(Patience.get(behind, "the reply on the wire that is free")).isEqualTo("behind");
		this.opened.countDown();
		assertThat(Patience.get(opener, "the reply on the new connection")).isEqualTo("opener");
	}

	@Test
	void aConnectionIsToBeOpenedInTimeForTheCommand() {
		Combiner<?> combiner = combiner(this.wire);
		Patience.get(call(combiner, "first"), "the first reply");
		pass(TIMEOUT);
		Patience.get(call(combiner, "second"), "the second reply");
		assertThat(this.wire.openings).containsExactly(TIMEOUT.toNanos(), TIMEOUT.toNanos());
	}

	@Test
	void theTimeToOpenAConnectionCountsOnlyForTheOpener() {
		Combiner<?> combiner = combiner(this.closed);
		CompletableFuture<Object> opener = call(combiner, "opener");
		awaitWaiting(0);
		pass(TIMEOUT.dividedBy(4).multipliedBy(3));
		this.opened.countDown();
		assertThat(Patience.get(opener, "the opener's reply")).isEqualTo("opener");
		assertThat(this.closed.waits).as("a whole command timeout").containsExactly(TIMEOUT.toNanos());
	}

	@Test
	void aThreadWithLittleTimeLeftReadsForNobodyElse() {
		Combiner<?> combiner = combiner(this.wire);
		CompletableFuture<Object> first = leadSlowly(combiner);
		CompletableFuture<Object> late = callAndWait(combiner, "late");
		pass(TIMEOUT.dividedBy(4).multipliedBy(3));
		awaitWaiting(1);
		CompletableFuture<Object> other = callAndWait(combiner, "other");
		this.slow.countDown();
		Patience.get(first, "the first reply");
		assertThat(Patience.get(late, "the late one's reply")).isEqualTo("late");
		assertThat(Patience.get(other, "the other's reply")).isEqualTo("other");
		assertThat(this.wire.batches).containsExactly(List.of("slow"), List.of("late"), List.of("other"));
	}

	@Test
	void aThreadThatFindsNoConnectionFailsAlone() {
		AtomicInteger openings = new AtomicInteger();
		TestWire refused = new TestWire(() -> {
			if (openings.incrementAndGet() == 1) {
				Patience.await(this.opened, "the connection");
				throw new UnsentException(new IllegalStateException("thrown by the test"));
			}
		}, this::reply);
		Combiner<?> combiner = combiner(refused);
		CompletableFuture<Object> first = call(combiner, "first");
		awaitWaiting(0);
		CompletableFuture<Object> second = callAndWait(combiner, "second");
		this.opened.countDown();
		assertFails(first, UnsentException.class);
		assertThat(Patience.get(second, "the reply to the second")).isEqualTo("second");
	}

	@Test
	void anInterruptedThreadGetsItsReplyAndStaysInterrupted() {
		Combiner<?> combiner = combiner(this.wire);
		CompletableFuture<Object> first = leadSlowly(combiner);
		AtomicBoolean interrupted = new AtomicBoolean();
		CompletableFuture<Object> second = CompletableFuture.supplyAsync(() -> {
			Object reply = combiner.exchange(TestWire.command("k"));
			interrupted.set(Thread.currentThread().isInterrupted());
			return reply;
		}, this.threads);
		awaitWaiting(1);
		this.threads.all().get(1).interrupt();
		this.slow.countDown();
		Patience.get(first, "the first reply");
		assertThat(Patience.get(second, "its reply")).isEqualTo("k");
		assertThat(interrupted).isTrue();
	}

	private Combiner<?> combiner(TestWire... wires) {
		return new Combiner<>(new TestWire.Pool(wires), wires.length, TIMEOUT, this.now::get);
	}

	private CompletableFuture<Object> call(Combiner<?> combiner, String key) {
		Command command = TestWire.command(key);
		return CompletableFuture.supplyAsync(() -> combiner.exchange(command), this.threads);
	}

	private CompletableFuture<Object> callAndWait(Combiner<?> combiner, String key) {
		CompletableFuture<Object> call = call(combiner, key);
		awaitWaiting(this.threads.all().size() - 1);
		return call;
	}

	private CompletableFuture<Object> leadSlowly(Combiner<?> combiner) {
		CompletableFuture<Object> first = call(combiner, "slow");
		Patience.await(this.leading, "the first to wait for its reply");
		return first;
	}

	private void awaitWaiting(int thread) {
		await("thread " + thread + " waits")
			.until(() -> this.threads.all().get(thread).getState() == Thread.State.TIMED_WAITING);
	}

	private void pass(Duration time) {
		this.now.addAndGet(time.toNanos());
		this.threads.all().forEach(LockSupport::unpark);
	}

	private static void assertFails(CompletableFuture<?> call, Class<? extends Exception> failure) {
		assertThatExceptionOfType(RuntimeException.class).isThrownBy(() -> Patience.get(call, "its failure"))
			.withCauseInstanceOf(failure);
	}

	private Object reply(Object key) {
		switch ((String) key) {
			case "slow" -> {
				this.leading.countDown();
				Patience.await(this.slow, "the reply");
			}
			case "error" -> {
				return new IllegalArgumentException("thrown by the test");
			}
			case "lost" -> throw new IllegalStateException("thrown by the test");
			default -> {
			}
		}
		return key;
	}

}
