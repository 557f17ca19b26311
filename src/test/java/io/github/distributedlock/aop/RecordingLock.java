package io.github.distributedlock.aop;

import java.time.Duration;
import java.util.Deque;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentLinkedDeque;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.BiConsumer;
import java.util.function.Supplier;

import io.github.distributedlock.DistributedLock;
import io.github.distributedlock.LockEvent;
import io.github.distributedlock.LockHandle;
import io.github.distributedlock.LockLostException;
import io.github.distributedlock.LockNotAcquiredException;
import io.github.distributedlock.LockRequest;
import io.github.distributedlock.LockStatus;
import io.github.distributedlock.fixtures.StubHandle;
import io.github.distributedlock.internal.Binding;
import io.github.distributedlock.internal.Requests;

/**
 * A lock that is free, busy or broken, as the test wants, and records what happens.
 */
class RecordingLock implements DistributedLock {

	final List<String> events = new CopyOnWriteArrayList<>();

	final List<LockRequest> requests = new CopyOnWriteArrayList<>();

	volatile boolean busy;

	volatile RuntimeException failure;

	volatile RuntimeException failureOnClose;

	volatile RuntimeException failureOnCheck;

	volatile Error errorOnRequest;

	/**
	 * The error of a future that has promised to tell of the handle.
	 */
	volatile Error thrownOnPromise;

	/**
	 * The answer to a request is a future that is not the request.
	 */
	volatile boolean dependent;

	/**
	 * If set, a release in the background ends with this future.
	 */
	volatile CompletableFuture<Void> released;

	/**
	 * If set, a request that blocks no thread waits for this future.
	 */
	volatile CompletableFuture<Void> turn;

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

	@Override
	public CompletableFuture<LockHandle> acquireAsync(LockRequest request) {
		return async(() -> acquire(request.detached(true)));
	}

	@Override
	public CompletableFuture<Optional<LockHandle>> tryAcquireAsync(LockRequest request) {
		return async(() -> tryAcquire(request.detached(true)));
	}

	@Override
	public LockStatus inspect(String key) {
		return LockStatus.of(key, List.of(), List.of());
	}

	@Override
	public boolean owns(LockHandle handle) {
		return handle instanceof Handle;
	}

	private <T> CompletableFuture<T> async(Supplier<T> acquire) {
		CompletableFuture<Void> turn = this.turn;
		if (turn == null) {
			try {
				return CompletableFuture.completedFuture(acquire.get());
			}
			catch (RuntimeException ex) {
				return CompletableFuture.failedFuture(ex);
			}
		}
		this.events.add("waits");
		CompletableFuture<T> future = (this.thrownOnPromise != null) ? throwing() : new Request<>();
		future.exceptionally((failure) -> {
			this.events.add("withdrawn");
			return null;
		});
		turn.thenRun(() -> {
			if (!future.isDone()) {
				future.complete(acquire.get());
			}
		});
		return this.dependent ? future.thenApply((answer) -> answer) : future;
	}

	private <T> CompletableFuture<T> throwing() {
		return new Request<>() {

			@Override
			public CompletableFuture<T> whenComplete(BiConsumer<? super T, ? super Throwable> action) {
				super.whenComplete(action);
				throw RecordingLock.this.thrownOnPromise;
			}

		};
	}

	private static class Request<T> extends CompletableFuture<T> implements Requests.Withdrawable {

		@Override
		public void withdraw() {
			cancel(false);
		}

	}

	private Optional<LockHandle> take(LockRequest request, String how) {
		this.requests.add(request);
		if (this.errorOnRequest != null) {
			throw this.errorOnRequest;
		}
		if (this.failure != null) {
			throw this.failure;
		}
		this.events.add(this.busy ? "busy" : how);
		return this.busy ? Optional.empty() : Optional.of(new Handle(request));
	}

	private final class Handle extends StubHandle {

		private final Binding binding;

		private final AtomicBoolean closed = new AtomicBoolean();

		private final List<Runnable> lossActions = new CopyOnWriteArrayList<>();

		private volatile boolean lost;

		private Handle(LockRequest request) {
			super(request.keys());
			this.binding = request.detached() ? null : Binding.bind(this);
			RecordingLock.this.open.add(this);
		}

		private void lose() {
			this.lost = true;
			this.lossActions.forEach(Runnable::run);
		}

		@Override
		public boolean isHeld() {
			return super.isHeld() && !this.lost;
		}

		@Override
		public void checkHeld() {
			if (RecordingLock.this.failureOnCheck != null) {
				throw RecordingLock.this.failureOnCheck;
			}
			if (!isClosed() && this.lost) {
				throw new LockLostException("lost: " + keys(), null, keys(), LockEvent.Lost.Reason.TAKEN);
			}
			super.checkHeld();
		}

		@Override
		public LockHandle onLost(Runnable action) {
			this.lossActions.add(action);
			return this;
		}

		@Override
		public void close() {
			if (this.closed.compareAndSet(false, true)) {
				super.close();
				if (this.binding != null) {
					this.binding.close();
				}
				RecordingLock.this.open.remove(this);
				RecordingLock.this.events.add("release");
				if (RecordingLock.this.failureOnClose != null) {
					throw RecordingLock.this.failureOnClose;
				}
			}
		}

		@Override
		public void undo() {
			if (this.closed.compareAndSet(false, true)) {
				super.close();
				RecordingLock.this.open.remove(this);
				RecordingLock.this.events.add("undone");
			}
		}

		@Override
		public CompletableFuture<Void> closeAsync() {
			CompletableFuture<Void> released = RecordingLock.this.released;
			if (released == null) {
				return super.closeAsync();
			}
			RecordingLock.this.events.add("release begins");
			return released;
		}

	}

}
