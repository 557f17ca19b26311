package io.github.distributedlock.benchmark;

import java.util.List;
import java.util.concurrent.CyclicBarrier;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;

import io.github.distributedlock.benchmark.Locks.Mutex;
import org.jspecify.annotations.Nullable;

/**
 * Threads that take one lock again and again for some time.
 */
final class Gang {

	private final Runnable whileHeld;

	private final long durationNanos;

	private final long holdNanos;

	Gang(Runnable whileHeld, long durationMillis, long holdMicros) {
		this.whileHeld = whileHeld;
		this.durationNanos = TimeUnit.MILLISECONDS.toNanos(durationMillis);
		this.holdNanos = TimeUnit.MICROSECONDS.toNanos(holdMicros);
	}

	/**
	 * Lets them run.
	 * @param mutexes the lock in the hands of each thread
	 * @return what each of them did
	 */
	List<Member> run(List<Mutex> mutexes) throws InterruptedException {
		CyclicBarrier start = new CyclicBarrier(mutexes.size());
		List<Member> members = mutexes.stream().map((mutex) -> new Member(mutex, start)).toList();
		members.forEach(Thread::start);
		for (Member member : members) {
			member.join();
			if (member.failure != null) {
				throw new IllegalStateException("A thread ended early", member.failure);
			}
		}
		return members;
	}

	/**
	 * One of the threads.
	 */
	final class Member extends Thread {

		private final Mutex mutex;

		private final CyclicBarrier start;

		private final Durations waits = new Durations();

		private final Durations operations = new Durations();

		private volatile @Nullable Exception failure;

		private long inTime;

		private Member(Mutex mutex, CyclicBarrier start) {
			this.mutex = mutex;
			this.start = start;
		}

		@Override
		public void run() {
			try {
				this.start.await();
				long begin = System.nanoTime();
				for (long asked = begin; asked - begin < Gang.this.durationNanos;) {
					hold(asked);
					long done = System.nanoTime();
					this.operations.add(done - asked);
					asked = done;
					if (asked - begin < Gang.this.durationNanos) {
						this.inTime++;
					}
				}
			}
			catch (Exception ex) {
				this.failure = ex;
			}
		}

		private void hold(long asked) {
			this.mutex.lock();
			this.waits.add(System.nanoTime() - asked);
			Gang.this.whileHeld.run();
			if (Gang.this.holdNanos > 0) {
				LockSupport.parkNanos(Gang.this.holdNanos);
			}
			this.mutex.unlock();
		}

		/**
		 * How many operations ended before the time was over.
		 */
		long inTime() {
			return this.inTime;
		}

		/**
		 * How long each operation waited, those that ended late too.
		 */
		Durations waits() {
			return this.waits;
		}

		/**
		 * How long each operation took, with its wait.
		 */
		Durations operations() {
			return this.operations;
		}

	}

}
