package io.github.distributedlock.aop;

import java.time.Duration;
import java.util.Deque;
import java.util.List;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentLinkedDeque;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.atomic.AtomicBoolean;

import io.github.distributedlock.CurrentLock;
import io.github.distributedlock.DistributedLock;
import io.github.distributedlock.LockEvent;
import io.github.distributedlock.LockHandle;
import io.github.distributedlock.LockLostException;
import io.github.distributedlock.LockNotAcquiredException;
import io.github.distributedlock.LockRequest;

/**
 * A lock that is free, or busy, or broken, as it is told, and writes down what happens.
 */
class RecordingLock implements DistributedLock {

	final List<String> events = new CopyOnWriteArrayList<>();

	final List<LockRequest> requests = new CopyOnWriteArrayList<>();

	volatile boolean busy;

	volatile RuntimeException failure;

	volatile RuntimeException failureOnClose;

	/**
	 * When it is not null, a release in the background ends with it.
	 */
	volatile CompletableFuture<Void> released;

	private final Deque<Handle> open = new ConcurrentLinkedDeque<>();

	/**
	 * All that is held is lost, and those concerned are told by this thread.
	 */
	void lose() {
		this.events.add("lost");
		this.open.forEach(Handle::lose);
	}

	/**
	 * A key is lost, and those concerned are told by this thread.
	 */
	void lose(String key) {
		this.open.stream().filter((handle) -> handle.keys().contains(key)).forEach(Handle::lose);
	}

	LockRequest request() {
		return this.requests.get(this.requests.size() - 1);
	}

	List<String> keys() {
		return request().keys();
	}

	@Override
	public LockHandle acquire(LockRequest request) {
		return take(request, "acquire").orElseThrow(
				() -> new LockNotAcquiredException("busy: " + request.keys(), request.keys(), Duration.ZERO, null));
	}

	@Override
	public Optional<LockHandle> tryAcquire(LockRequest request) {
		return take(request, "tryAcquire");
	}

	private Optional<LockHandle> take(LockRequest request, String how) {
		this.requests.add(request);
		if (this.failure != null) {
			throw this.failure;
		}
		this.events.add(this.busy ? "busy" : how);
		return this.busy ? Optional.empty() : Optional.of(new Handle(request));
	}

	private final class Handle implements LockHandle {

		private final LockRequest request;

		private final CurrentLock binding;

		private final AtomicBoolean closed = new AtomicBoolean();

		private final List<Runnable> lossActions = new CopyOnWriteArrayList<>();

		private volatile boolean lost;

		private Handle(LockRequest request) {
			this.request = request;
			this.binding = CurrentLock.bind(this);
			RecordingLock.this.open.add(this);
		}

		private void lose() {
			this.lost = true;
			this.lossActions.forEach(Runnable::run);
		}

		@Override
		public List<String> keys() {
			return this.request.keys();
		}

		@Override
		public String owner() {
			return "test";
		}

		@Override
		public OptionalLong fencingToken() {
			return OptionalLong.empty();
		}

		@Override
		public boolean isHeld() {
			return !this.closed.get() && !this.lost;
		}

		@Override
		public boolean isClosed() {
			return this.closed.get();
		}

		@Override
		public Duration remaining() {
			return Duration.ZERO;
		}

		@Override
		public void checkHeld() {
			if (this.closed.get()) {
				throw new IllegalStateException("closed: " + keys());
			}
			if (this.lost) {
				throw new LockLostException("lost: " + keys(), keys(), LockEvent.Lost.Reason.TAKEN);
			}
		}

		@Override
		public boolean extend(Duration lease) {
			throw new UnsupportedOperationException();
		}

		@Override
		public LockHandle onLost(Runnable action) {
			this.lossActions.add(action);
			return this;
		}

		@Override
		public void close() {
			if (this.closed.compareAndSet(false, true)) {
				this.binding.close();
				RecordingLock.this.open.remove(this);
				RecordingLock.this.events.add("release");
				if (RecordingLock.this.failureOnClose != null) {
					throw RecordingLock.this.failureOnClose;
				}
			}
		}

		@Override
		public CompletableFuture<Void> closeAsync() {
			CompletableFuture<Void> released = RecordingLock.this.released;
			if (released == null) {
				return LockHandle.super.closeAsync();
			}
			RecordingLock.this.events.add("release begins");
			return released;
		}

	}

}
