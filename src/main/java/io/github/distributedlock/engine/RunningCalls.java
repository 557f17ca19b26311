package io.github.distributedlock.engine;

import java.util.Queue;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.stream.Stream;

import io.github.distributedlock.CurrentLock;
import io.github.distributedlock.engine.runtime.Workers;
import org.jspecify.annotations.Nullable;

/**
 * The calls that a stop waits for: the requests that say so, each until it has failed or
 * its handle is closed.
 * <p>
 * Invariants: a call is counted before it asks whether the engine is open, so that a stop
 * either finds it here or refuses it. A stop completes as soon as no call is left that it
 * has found, or that began after it inside of another.
 */
final class RunningCalls {

	private final Set<Call> calls = ConcurrentHashMap.newKeySet();

	private final Queue<CompletableFuture<Void>> stops = new ConcurrentLinkedQueue<>();

	private final Workers workers;

	RunningCalls(Workers workers) {
		this.workers = workers;
	}

	/**
	 * Begins a call.
	 * @param awaited whether a stop waits for it
	 */
	Call begin(boolean awaited) {
		Call call = new Call();
		if (awaited) {
			this.calls.add(call);
		}
		return call;
	}

	/**
	 * Ends a call.
	 */
	void end(Call call) {
		if (this.calls.remove(call)) {
			completeIfNoneIsLeft();
		}
	}

	/**
	 * The end of the last call, but for those that cannot end before this thread goes on.
	 */
	CompletableFuture<Void> end() {
		Thread stopping = Thread.currentThread();
		this.calls.removeIf((call) -> call.isHeldUpBy(stopping));
		// Those, too, that somebody has bound to it.
		CurrentLock.all().forEach((handle) -> {
			if (handle instanceof EngineHandle own) {
				this.calls.remove(own.call());
			}
		});
		CompletableFuture<Void> stop = new CompletableFuture<>();
		this.stops.add(stop);
		completeIfNoneIsLeft();
		return stop;
	}

	/**
	 * Waits for no call any more.
	 */
	void forget() {
		this.calls.clear();
		completeIfNoneIsLeft();
	}

	private void completeIfNoneIsLeft() {
		while (this.calls.isEmpty()) {
			CompletableFuture<Void> stop = this.stops.poll();
			if (stop == null) {
				return;
			}
			this.workers.action(() -> stop.complete(null));
		}
	}

	/**
	 * One call.
	 */
	static final class Call {

		private volatile @Nullable CurrentLock binding;

		/**
		 * It has its handle.
		 * @param binding what binds the handle to the thread that runs the call
		 */
		void bound(CurrentLock binding) {
			this.binding = binding;
		}

		/**
		 * What binds its handle; {@code null} if there is none, or it is detached.
		 */
		@Nullable CurrentLock binding() {
			return this.binding;
		}

		/**
		 * A thread does not come back from {@link System#exit}, which waits for the
		 * application to stop.
		 */
		private boolean isHeldUpBy(Thread stopping) {
			CurrentLock binding = this.binding;
			Thread thread = (binding != null) ? binding.thread() : null;
			return thread != null && (thread == stopping || Stream.of(thread.getStackTrace())
				.anyMatch((frame) -> frame.getClassName().equals(Runtime.class.getName())
						&& frame.getMethodName().equals("exit")));
		}

	}

}
