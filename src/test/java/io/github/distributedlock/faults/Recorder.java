package io.github.distributedlock.faults;

import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.LongAccumulator;
import java.util.function.BooleanSupplier;

import io.github.distributedlock.LockBackendException;
import io.github.distributedlock.LockEvent.Lost.Reason;
import io.github.distributedlock.LockHandle;
import io.github.distributedlock.LockLostException;
import io.github.distributedlock.LockRequest;
import io.github.distributedlock.engine.LockEngine;
import io.github.distributedlock.fixtures.Driver;
import io.github.distributedlock.fixtures.Patience;
import io.github.distributedlock.tck.History;
import io.github.distributedlock.tck.History.Hold;
import io.github.distributedlock.tck.HistoryChecker;

/**
 * Acquires locks as an application does, and writes down what an application sees of
 * these locks.
 * <p>
 * A thread looks at all open handles every few milliseconds, because a handle that is
 * lost no longer tells the former deadline. The greatest delay of that thread is the
 * noise of the machine: nothing in this JVM can be more punctual.
 */
final class Recorder implements AutoCloseable {

	/** How much earlier a lease of the trials ends here than on the server. */
	static final Duration MARGIN = Trial.LEASE.dividedBy(100);

	private static final long LOOK_MILLIS = 5;

	private static final long UNSEEN_NANOS = TimeUnit.MILLISECONDS.toNanos(50);

	private final Set<Held> open = ConcurrentHashMap.newKeySet();

	private final Overruns overruns = new Overruns();

	private final LongAccumulator orphan = new LongAccumulator(Math::max, 0);

	private final AtomicInteger losses = new AtomicInteger();

	private final LongAccumulator toldBefore = new LongAccumulator(Math::min, Long.MAX_VALUE);

	private final LongAccumulator toldAfter = new LongAccumulator(Math::max, Long.MIN_VALUE);

	private final LongAccumulator noise = new LongAccumulator(Math::max, 0);

	/** The time of the fault. A loss before that is due to a slow machine. */
	private volatile long struck = Long.MAX_VALUE;

	private final List<Path> files = new CopyOnWriteArrayList<>();

	private final History history;

	private final Thread look = new Thread(this::look, "recorder");

	Recorder(Path file) {
		this.files.add(file);
		this.history = History.write(file);
		this.look.setDaemon(true);
		this.look.start();
	}

	/**
	 * A file for the history of another JVM that takes part.
	 */
	Path another() {
		Path file = this.files.get(0).resolveSibling("history-" + this.files.size());
		this.files.add(file);
		return file;
	}

	/**
	 * Tries to acquire a lock for as long as the request says. That the store fails is
	 * nothing special here.
	 */
	Optional<Held> acquire(LockEngine engine, LockRequest request) {
		try {
			return this.overruns.in(request.waitTime(), () -> Driver.of(engine).tryAcquire(request)).map(Held::new);
		}
		catch (LockBackendException ex) {
			return Optional.empty();
		}
	}

	/** Returns whether somebody holds a key for certain. */
	boolean isHeld(String key) {
		return this.open.stream().anyMatch((held) -> held.handle.keys().contains(key) && !held.told);
	}

	/** Returns whether somebody has a handle of a key, whether lost or not. */
	boolean isOpen(String key) {
		return this.open.stream().anyMatch((held) -> held.handle.keys().contains(key));
	}

	/** A fault strikes now: damage by the fault can be noticed only from now on. */
	void strikes() {
		this.overruns.count();
		this.struck = System.nanoTime();
	}

	/** A key stayed in the server although nobody was the holder any more. */
	void orphan(long nanos) {
		this.orphan.accumulate(nanos);
	}

	/** A holder was told of the loss of the lock so long after the fault. */
	void toldAfter(long nanos) {
		this.losses.incrementAndGet();
		this.toldAfter.accumulate(nanos);
	}

	/** Something that was to last for a certain time has lasted that much longer. */
	void late(long nanos) {
		this.noise.accumulate(nanos);
	}

	/** Writes down what was seen, with what the trial has found besides. */
	Outcome outcome(int keysLeft, int threadsLeft) {
		List<Hold> holds = this.files.stream().flatMap((file) -> History.read(file).stream()).toList();
		return new Outcome(1, holds.size(), HistoryChecker.overlaps(holds), HistoryChecker.regressions(holds),
				Duration.ofNanos(this.orphan.get()), this.overruns.longest(), this.overruns.seen(), this.losses.get(),
				told(this.toldBefore, Long.MAX_VALUE), told(this.toldAfter, Long.MIN_VALUE), keysLeft, threadsLeft,
				noise());
	}

	/** How many holders were told that their lock is lost. */
	int losses() {
		return this.losses.get();
	}

	/**
	 * Returns whether a holder was told that the key is gone, and not only that the time
	 * is over.
	 */
	boolean isToldAfter() {
		return this.toldAfter.get() != Long.MIN_VALUE;
	}

	/**
	 * By how much at most a thread that only sleeps, or the end of the fault, came late.
	 */
	Duration noise() {
		return Duration.ofNanos(this.noise.get());
	}

	private static Duration told(LongAccumulator nanos, long never) {
		return (nanos.get() != never) ? Duration.ofNanos(nanos.get()) : null;
	}

	private void look() {
		try {
			long last = System.nanoTime();
			while (true) {
				Thread.sleep(LOOK_MILLIS);
				this.open.forEach(Held::look);
				this.overruns.look();
				long now = System.nanoTime();
				this.noise.accumulate(now - last - TimeUnit.MILLISECONDS.toNanos(LOOK_MILLIS));
				last = now;
			}
		}
		catch (InterruptedException ex) {
			// Closed.
		}
	}

	@Override
	public void close() {
		this.look.interrupt();
		Patience.join(this.look);
		this.history.close();
	}

	/** A lock that was acquired. */
	final class Held implements AutoCloseable {

		private final LockHandle handle;

		private final History.Entry entry;

		private volatile boolean told;

		private Held(LockHandle handle) {
			this.handle = handle;
			this.entry = Recorder.this.history.acquired(handle);
			Recorder.this.open.add(this);
			handle.onLost(this::lost);
		}

		LockHandle handle() {
			return this.handle;
		}

		/**
		 * Uses the lock until the holder is told of the loss, or somebody has had enough.
		 */
		void hold(BooleanSupplier enough) throws InterruptedException {
			while (!enough.getAsBoolean() && !this.told) {
				Thread.sleep(LOOK_MILLIS);
			}
		}

		// A user who looks at a handle whose time is over finds that out without being
		// told. Telling in time is the library's business, so nobody looks around the
		// deadline.
		private void look() {
			long left = this.entry.until() - System.nanoTime();
			if (left > UNSEEN_NANOS || left < -UNSEEN_NANOS) {
				this.entry.look();
			}
		}

		private void lost() {
			long now = System.nanoTime();
			this.entry.lost();
			try {
				this.handle.checkHeld();
			}
			catch (LockLostException ex) {
				if (now < Recorder.this.struck) {
					return;
				}
				if (ex.reason() == Reason.NOT_RENEWED) {
					Recorder.this.losses.incrementAndGet();
					Recorder.this.toldBefore.accumulate(this.entry.until() + MARGIN.toNanos() - now);
				}
				else {
					toldAfter(now - Recorder.this.struck);
				}
			}
			catch (IllegalStateException ex) {
				// The handle was closed at the same moment.
			}
			finally {
				this.told = true; // The reason is read.
			}
		}

		@Override
		public void close() {
			Recorder.this.open.remove(this);
			this.entry.end();
			this.handle.close();
		}

	}

}
