package io.github.distributedlock.concurrent;

import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.Lock;
import java.util.function.Function;
import java.util.stream.Stream;

import io.github.distributedlock.backend.memory.InMemoryLockBackend;
import io.github.distributedlock.engine.LockEngine;
import io.github.distributedlock.fixtures.Client;
import io.github.distributedlock.fixtures.OwnThreads;
import io.github.distributedlock.fixtures.Patience;
import io.github.distributedlock.fixtures.TestRedis;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.MethodSource;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatNullPointerException;

/**
 * The promises of {@link Lock} and {@link java.util.concurrent.locks.ReadWriteLock}, of
 * the JDK's own locks and of ours.
 */
class LockContractTests {

	@RegisterExtension
	static final TestRedis redis = new TestRedis();

	@RegisterExtension
	final OwnThreads threads = new OwnThreads();

	enum Maker {

		JDK, IN_MEMORY, IN_REDIS

	}

	/**
	 * A lock, and one that excludes it.
	 */
	enum Sort {

		MUTEX(Locks::mutex, Locks::mutex), FAIR(Locks::fair, Locks::fair),
		WRITE((locks) -> locks.readWrite().writeLock(), (locks) -> locks.readWrite().writeLock()),
		READ((locks) -> locks.readWrite().readLock(), (locks) -> locks.readWrite().writeLock());

		private final Function<Locks, Lock> lock;

		private final Function<Locks, Lock> rival;

		Sort(Function<Locks, Lock> lock, Function<Locks, Lock> rival) {
			this.lock = lock;
			this.rival = rival;
		}

	}

	static Stream<Arguments> all() {
		return Stream.of(Maker.values())
			.flatMap((maker) -> Stream.of(Sort.values()).map((sort) -> Arguments.of(maker, sort)));
	}

	@AfterEach
	void noInterruptIsLeft() {
		assertThat(Thread.interrupted()).isFalse();
	}

	@ParameterizedTest
	@MethodSource("all")
	void isHeldUntilItWasUnlockedAsOftenAsLocked(Maker maker, Sort sort) throws InterruptedException {
		Locks locks = make(maker);
		Lock lock = sort.lock.apply(locks);
		lock.lock();
		lock.lockInterruptibly();
		assertThat(lock.tryLock()).isTrue();
		assertThat(lock.tryLock(0, TimeUnit.SECONDS)).isTrue();
		for (int i = 0; i < 4; i++) {
			assertThat(isFree(locks, sort)).as("unlocked %s times of 4", i).isFalse();
			lock.unlock();
		}
		assertThat(isFree(locks, sort)).isTrue();
	}

	@ParameterizedTest
	@MethodSource("all")
	void isNotUnlockedWithoutBeingLocked(Maker maker, Sort sort) {
		Lock lock = sort.lock.apply(make(maker));
		assertThatExceptionOfType(IllegalMonitorStateException.class).isThrownBy(lock::unlock);
		lock.lock();
		lock.unlock();
		assertThatExceptionOfType(IllegalMonitorStateException.class).isThrownBy(lock::unlock);
	}

	@ParameterizedTest
	@MethodSource("all")
	void isNotUnlockedByAnotherThread(Maker maker, Sort sort) {
		Locks locks = make(maker);
		Lock lock = sort.lock.apply(locks);
		lock.lock();
		CompletableFuture<?> other = inThread(() -> {
			lock.unlock();
			return null;
		});
		assertThatExceptionOfType(CompletionException.class).isThrownBy(() -> Patience.get(other, "the other thread"))
			.withCauseInstanceOf(IllegalMonitorStateException.class);
		assertThat(isFree(locks, sort)).isFalse();
		lock.unlock();
	}

	@ParameterizedTest
	@MethodSource("all")
	void isNotAcquiredWhileItIsBusy(Maker maker, Sort sort) {
		Locks locks = make(maker);
		Lock lock = sort.lock.apply(locks);
		Lock rival = sort.rival.apply(locks);
		rival.lock();
		assertThat(resultOf(() -> lock.tryLock())).isFalse();
		assertThat(resultOf(() -> lock.tryLock(0, TimeUnit.SECONDS))).isFalse();
		assertThat(resultOf(() -> lock.tryLock(Long.MIN_VALUE, TimeUnit.DAYS))).isFalse();
		assertThat(resultOf(() -> lock.tryLock(1, TimeUnit.MILLISECONDS))).isFalse();
		rival.unlock();
		untilItIsFree(locks, sort);
		assertThat(resultOf(() -> lockedAndUnlocked(lock, lock.tryLock()))).isTrue();
		assertThat(resultOf(() -> lockedAndUnlocked(lock, lock.tryLock(-1, TimeUnit.SECONDS)))).isTrue();
	}

	@ParameterizedTest
	@MethodSource("all")
	void isWaitedFor(Maker maker, Sort sort) {
		Locks locks = make(maker);
		Lock lock = sort.lock.apply(locks);
		Lock rival = sort.rival.apply(locks);
		List<Callable<Boolean>> waits = List.of(() -> {
			lock.lock();
			return lockedAndUnlocked(lock, true);
		}, () -> {
			lock.lockInterruptibly();
			return lockedAndUnlocked(lock, true);
		}, () -> lockedAndUnlocked(lock, lock.tryLock(Long.MAX_VALUE, TimeUnit.DAYS)));
		for (Callable<Boolean> wait : waits) {
			rival.lock();
			CompletableFuture<Boolean> waiting = inThread(wait);
			untilItWaits(lastThread());
			assertThat(waiting).isNotDone();
			rival.unlock();
			assertThat(Patience.get(waiting, "the lock")).isTrue();
		}
	}

	@ParameterizedTest
	@MethodSource("all")
	void ignoresAnInterrupt(Maker maker, Sort sort) {
		Locks locks = make(maker);
		Lock lock = sort.lock.apply(locks);
		Lock rival = sort.rival.apply(locks);
		Thread.currentThread().interrupt();
		lock.lock();
		assertThat(Thread.currentThread().isInterrupted()).isTrue();
		assertThat(lock.tryLock()).isTrue();
		assertThat(Thread.currentThread().isInterrupted()).isTrue();
		lock.unlock();
		lock.unlock();
		assertThat(Thread.interrupted()).isTrue();
		rival.lock();
		CompletableFuture<Boolean> waiting = inThread(() -> {
			lock.lock();
			return lockedAndUnlocked(lock, Thread.currentThread().isInterrupted());
		});
		Thread thread = lastThread();
		untilItWaits(thread);
		thread.interrupt();
		untilItIsNoted(thread);
		rival.unlock();
		assertThat(Patience.get(waiting, "the lock")).as("the interrupt flag").isTrue();
	}

	@ParameterizedTest
	@MethodSource("all")
	void isNotAcquiredByAnInterruptedThread(Maker maker, Sort sort) {
		Locks locks = make(maker);
		Lock lock = sort.lock.apply(locks);
		for (boolean held : List.of(false, true)) {
			Thread.currentThread().interrupt();
			assertThatExceptionOfType(InterruptedException.class).as("held before: %s", held)
				.isThrownBy(lock::lockInterruptibly);
			assertThat(Thread.interrupted()).isFalse();
			Thread.currentThread().interrupt();
			assertThatExceptionOfType(InterruptedException.class).isThrownBy(() -> lock.tryLock(1, TimeUnit.SECONDS));
			assertThat(Thread.interrupted()).isFalse();
			lock.lock();
		}
		lock.unlock();
		lock.unlock();
		assertThat(isFree(locks, sort)).isTrue();
	}

	@ParameterizedTest
	@MethodSource("all")
	void waitIsEndedByAnInterrupt(Maker maker, Sort sort) {
		Locks locks = make(maker);
		Lock lock = sort.lock.apply(locks);
		Lock rival = sort.rival.apply(locks);
		List<Callable<Void>> waits = List.of(() -> {
			lock.lockInterruptibly();
			return null;
		}, () -> {
			lock.tryLock(1, TimeUnit.HOURS);
			return null;
		});
		for (Callable<Void> wait : waits) {
			rival.lock();
			CompletableFuture<Boolean> interrupted = inThread(() -> {
				assertThatExceptionOfType(InterruptedException.class).isThrownBy(wait::call);
				return Thread.currentThread().isInterrupted();
			});
			untilItWaits(lastThread());
			lastThread().interrupt();
			assertThat(Patience.get(interrupted, "the interrupt")).as("the interrupt flag").isFalse();
			rival.unlock();
			untilItIsFree(locks, sort);
		}
	}

	@ParameterizedTest
	@MethodSource("all")
	void hasATimeOnlyWithAUnit(Maker maker, Sort sort) {
		Lock lock = sort.lock.apply(make(maker));
		assertThatNullPointerException().isThrownBy(() -> lock.tryLock(1, null));
	}

	@ParameterizedTest
	@EnumSource
	void lockKeepsItsPlaceInAFairLine(Maker maker) {
		Locks locks = make(maker);
		locks.fair().lock();
		List<String> served = new CopyOnWriteArrayList<>();
		CompletableFuture<?> first = serve("first", locks, served);
		Thread interrupted = lastThread();
		CompletableFuture<?> second = serve("second", locks, served);
		interrupted.interrupt();
		untilItIsNoted(interrupted);
		locks.fair().unlock();
		Patience.get(first, "the first");
		Patience.get(second, "the second");
		assertThat(served).containsExactly("first", "second");
	}

	@ParameterizedTest
	@EnumSource
	void readersReadTogetherAndWritersWriteAlone(Maker maker) {
		Locks locks = make(maker);
		Lock read = locks.readWrite().readLock();
		Lock write = locks.readWrite().writeLock();
		read.lock();
		assertThat(resultOf(() -> lockedAndUnlocked(read, read.tryLock()))).isTrue();
		assertThat(resultOf(() -> write.tryLock())).isFalse();
		read.unlock();
		write.lock();
		assertThat(resultOf(() -> read.tryLock())).isFalse();
		assertThat(resultOf(() -> write.tryLock())).isFalse();
		write.unlock();
	}

	@ParameterizedTest
	@EnumSource
	void readerReentersWhileAWriterWaits(Maker maker) {
		Locks locks = make(maker);
		Lock read = locks.readWrite().readLock();
		Lock write = locks.readWrite().writeLock();
		read.lock();
		CompletableFuture<Boolean> writer = inThread(() -> {
			write.lock();
			return lockedAndUnlocked(write, true);
		});
		untilItWaits(lastThread());
		read.lock();
		read.unlock();
		assertThat(writer).isNotDone();
		read.unlock();
		assertThat(Patience.get(writer, "the writer")).isTrue();
	}

	@ParameterizedTest
	@EnumSource
	void writerMayReadAndGoOnAsReader(Maker maker) {
		Locks locks = make(maker);
		Lock read = locks.readWrite().readLock();
		Lock write = locks.readWrite().writeLock();
		write.lock();
		read.lock();
		CompletableFuture<Boolean> reader = inThread(() -> {
			read.lock();
			return lockedAndUnlocked(read, true);
		});
		untilItWaits(lastThread());
		assertThat(reader).isNotDone();
		write.unlock();
		assertThat(Patience.get(reader, "another reader")).isTrue();
		assertThat(isFree(locks, Sort.READ)).as("free for another writer").isFalse();
		assertThat(write.tryLock()).as("a reader writes again").isFalse();
		assertThatExceptionOfType(IllegalMonitorStateException.class).isThrownBy(write::unlock);
		read.unlock();
		assertThat(isFree(locks, Sort.READ)).isTrue();
	}

	@ParameterizedTest
	@EnumSource
	void readerMayNotTryToWrite(Maker maker) throws InterruptedException {
		Locks locks = make(maker);
		Lock read = locks.readWrite().readLock();
		Lock write = locks.readWrite().writeLock();
		read.lock();
		assertThat(write.tryLock()).isFalse();
		assertThat(write.tryLock(1, TimeUnit.MILLISECONDS)).isFalse();
		read.unlock();
		assertThat(write.tryLock()).isTrue();
		write.unlock();
	}

	@ParameterizedTest
	@EnumSource
	void readLockHasNoConditions(Maker maker) {
		Lock read = make(maker).readWrite().readLock();
		assertThatExceptionOfType(UnsupportedOperationException.class).isThrownBy(read::newCondition);
	}

	private Locks make(Maker maker) {
		return switch (maker) {
			case JDK -> new Locks.Jdk();
			case IN_MEMORY -> Locks.Ours.of(redis.closing(LockEngine.builder(new InMemoryLockBackend()).build()));
			case IN_REDIS -> Locks.Ours.of(redis.engine(Client.JEDIS));
		};
	}

	private CompletableFuture<?> serve(String name, Locks locks, List<String> served) {
		int before = locks.inLine();
		CompletableFuture<?> serving = inThread(() -> {
			locks.fair().lock();
			served.add(name);
			locks.fair().unlock();
			return null;
		});
		Awaitility.await("the place in the line").until(() -> locks.inLine() == before + 1);
		untilItWaits(lastThread());
		return serving;
	}

	/**
	 * Returns whether another thread gets what excludes a lock.
	 */
	private boolean isFree(Locks locks, Sort sort) {
		Lock rival = sort.rival.apply(locks);
		return resultOf(() -> lockedAndUnlocked(rival, rival.tryLock()));
	}

	/**
	 * Ours may still be kept for one that has given up, until the store is told.
	 */
	private void untilItIsFree(Locks locks, Sort sort) {
		Awaitility.await("the lock is free").until(() -> isFree(locks, sort));
	}

	private static boolean lockedAndUnlocked(Lock lock, boolean result) {
		if (result) {
			lock.unlock();
		}
		return result;
	}

	private <T> T resultOf(Callable<T> code) {
		return Patience.get(inThread(code), "another thread");
	}

	private <T> CompletableFuture<T> inThread(Callable<T> code) {
		CompletableFuture<T> result = new CompletableFuture<>();
		CountDownLatch begun = new CountDownLatch(1);
		this.threads.execute(() -> {
			begun.countDown();
			try {
				result.complete(code.call());
			}
			catch (Throwable ex) {
				result.completeExceptionally(ex);
			}
		});
		Patience.await(begun, "a thread");
		return result;
	}

	private Thread lastThread() {
		List<Thread> all = this.threads.all();
		return all.get(all.size() - 1);
	}

	private static void untilItWaits(Thread thread) {
		Awaitility.await("the thread waits")
			.until(() -> List.of(Thread.State.WAITING, Thread.State.TIMED_WAITING).contains(thread.getState()));
	}

	private static void untilItIsNoted(Thread thread) {
		Awaitility.await("the interrupt is noted").until(() -> !thread.isInterrupted());
		untilItWaits(thread);
	}

}
