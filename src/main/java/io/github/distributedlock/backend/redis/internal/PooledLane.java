package io.github.distributedlock.backend.redis.internal;

import java.time.Duration;
import java.util.Deque;
import java.util.concurrent.ConcurrentLinkedDeque;
import java.util.concurrent.Executor;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Function;
import java.util.function.Supplier;

import io.github.distributedlock.LockBackendException;
import io.github.distributedlock.internal.DaemonThreads;
import io.github.distributedlock.internal.Uninterrupted;
import org.jspecify.annotations.Nullable;

import org.springframework.dao.DataAccessException;

/**
 * A few connections, each of which is lent to one thread at a time.
 * <p>
 * A server that went away leaves all connections dead, each of which would cost one
 * command. So each connection belongs to a generation, and the first connection that
 * breaks begins the next generation: connections of earlier generations are closed when
 * they would be lent next. Connections are opened and closed in the background. A
 * connection that was opened is idle first, and goes to the quickest thread.
 * <p>
 * States of a connection: idle; lent; closed. Invariants: as many connections are lent as
 * permits are taken. Only the thread that has borrowed a connection uses the connection,
 * and writes its fields. A thread waits for a connection at most one command timeout in
 * all.
 *
 * @param <L> the connections
 */
final class PooledLane<L extends PooledLane.Pooled> implements Lane, Combiner.Wires<L> {

	private static final Executor CLOSERS = DaemonThreads.each("distributed-lock-close");

	private final Executor closers;

	private final Deque<L> idle = new ConcurrentLinkedDeque<>();

	private final AtomicInteger generation = new AtomicInteger();

	private final Semaphore free;

	private final int most;

	private final Supplier<L> opener;

	private final long timeoutNanos;

	private final Opening<L> opening;

	private volatile boolean closed;

	PooledLane(Supplier<L> opener, int most, Duration timeout) {
		this(opener, most, timeout, CLOSERS);
	}

	PooledLane(Supplier<L> opener, int most, Duration timeout, Executor closers) {
		this.opener = opener;
		this.most = most;
		this.free = new Semaphore(most, true);
		this.timeoutNanos = timeout.toNanos();
		this.opening = Opening.repeated(this::open, timeout);
		this.closers = closers;
	}

	@Override
	public <T> @Nullable T run(Function<Link, @Nullable T> step) {
		return Lane.withoutInterrupt(() -> lendTo(step));
	}

	private <T> @Nullable T lendTo(Function<Link, @Nullable T> step) {
		L link = borrow(this.timeoutNanos);
		boolean usable = false;
		boolean readOnly = false;
		try {
			T answer = step.apply(link);
			usable = true;
			return answer;
		}
		catch (LockBackendException ex) {
			usable = ex.isWithoutEffect(); // All commands were answered then.
			throw ex;
		}
		catch (DataAccessException ex) {
			readOnly = RedisRefusal.READONLY.isIn(ex);
			throw ex;
		}
		finally {
			if (usable) {
				giveBack(link);
			}
			else {
				discard(link, readOnly || link.isBroken()); // A transaction may be open.
			}
		}
	}

	@Override
	public L borrow(long nanos) {
		long end = System.nanoTime() + nanos;
		acquirePermit(nanos);
		L link = null;
		try {
			link = poll(end);
			while (link == null) {
				this.opening.await(end - System.nanoTime());
				link = poll(end);
				if (link == null && System.nanoTime() - end > 0) {
					throw new UnsentException("others took what was opened", null);
				}
			}
			return link;
		}
		finally {
			if (link == null) {
				this.free.release();
			}
		}
	}

	private void acquirePermit(long nanos) {
		if (!this.free.tryAcquire() && !Uninterrupted.tryAcquire(this.free, nanos)) {
			throw new UnsentException("all " + this.most + " connections of this kind are in use", null);
		}
	}

	// The test of a dead connection may take half of the time; the other half is for
	// opening another.
	private @Nullable L poll(long end) {
		L link = this.idle.poll();
		while (link != null) {
			long now = System.nanoTime();
			if (link.generation == this.generation.get() && link.isUsable(now - link.idleSince, (end - now) / 2)) {
				return link;
			}
			close(link, link.isBroken());
			link = this.idle.poll();
		}
		return null;
	}

	private L open() {
		int generation = this.generation.get();
		L link = this.opener.get();
		link.generation = generation;
		keep(link);
		Lane.requireOpen(this.closed);
		return link;
	}

	private void keep(L link) {
		link.idleSince = System.nanoTime();
		this.idle.push(link);
		if (this.closed) {
			closeIdle();
		}
	}

	@Override
	public void giveBack(L link) {
		keep(link);
		this.free.release();
		closeOldest();
	}

	@Override
	public void discard(L link) {
		discard(link, true);
	}

	private void discard(L link, boolean all) {
		try {
			close(link, all);
		}
		finally {
			this.free.release();
		}
	}

	private void close(L link, boolean all) {
		if (all) {
			this.generation.compareAndSet(link.generation, link.generation + 1);
		}
		try {
			this.closers.execute(link::close);
		}
		catch (OutOfMemoryError noThread) {
			link.close();
		}
	}

	// Closes a connection that was idle for too long, so that a burst leaves no
	// connection behind.
	private void closeOldest() {
		L oldest = this.idle.peekLast();
		if (oldest != null && System.nanoTime() - oldest.idleSince > Pooled.LONGEST_IDLE_NANOS
				&& this.idle.removeLastOccurrence(oldest)) {
			close(oldest, false);
		}
	}

	@Override
	public void close() {
		this.closed = true;
		closeIdle();
	}

	private void closeIdle() {
		for (L link = this.idle.poll(); link != null; link = this.idle.poll()) {
			link.close();
		}
	}

	/**
	 * A connection that can be lent.
	 */
	abstract static class Pooled implements Link {

		/**
		 * How long a connection may be idle. After that, a device on the way may have
		 * forgotten the connection.
		 */
		static final long LONGEST_IDLE_NANOS = TimeUnit.MINUTES.toNanos(1);

		int generation;

		volatile long idleSince;

		/**
		 * Returns whether the connection can be lent.
		 * @param idleNanos for how long the connection was idle, in nanoseconds
		 * @param nanos how long the test may take, in nanoseconds
		 */
		abstract boolean isUsable(long idleNanos, long nanos);

		/**
		 * Returns whether the connection is known to have ended, or to have replies that
		 * nobody waits for.
		 */
		abstract boolean isBroken();

		abstract void close();

	}

}
