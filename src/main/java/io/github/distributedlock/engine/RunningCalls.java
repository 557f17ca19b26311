package io.github.distributedlock.engine;

import java.util.List;
import java.util.Queue;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.stream.Stream;

import io.github.distributedlock.CurrentLock;
import io.github.distributedlock.LockHandle;
import io.github.distributedlock.engine.runtime.Workers;
import org.jspecify.annotations.Nullable;

/**
 * The calls that a stop waits for: the requests that say so, each until it has failed or
 * its handle is closed.
 * <p>
 * Invariants: a call is counted before it asks whether the engine is open, so that a stop
 * either finds it here or refuses it. A call has the number of the last stop before it,
 * or of the call that it began inside of if that is smaller. A stop completes as soon as
 * no call with a smaller number than its own is left: so it waits for those that it has
 * found and what began inside of them, but neither for one that is refused after it nor
 * for one of the time after the next start. Safe for use by many threads.
 */
final class RunningCalls {

	private record Stop(int number, CompletableFuture<Void> end) {
	}

	private final Set<Call> calls = ConcurrentHashMap.newKeySet();

	/**
	 * Those that have not completed. A stop is here before its number can be seen.
	 */
	private final Queue<Stop> stops = new ConcurrentLinkedQueue<>();

	/**
	 * The number of the last stop. Changed only by this monitor.
	 */
	private volatile int number;

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
			int last = this.number;
			call.number = last;
			this.calls.add(call);
			if (!this.stops.isEmpty()) { // One of them may have begun just now.
				call.number = outermost();
				if (call.number != last) {
					completeStops();
				}
			}
		}
		return call;
	}

	/**
	 * The smallest number of the counted calls that the calling thread, or the chain that
	 * it asks for, is inside of; else that of the last stop.
	 */
	private int outermost() {
		int number = this.number;
		for (List<LockHandle> handles : List.of(CurrentLock.all(), CurrentLock.chain())) {
			for (LockHandle handle : handles) {
				if (handle instanceof EngineHandle own && this.calls.contains(own.call())) {
					number = Math.min(number, own.call().number);
				}
			}
		}
		return number;
	}

	/**
	 * Ends a call.
	 */
	void end(Call call) {
		if (this.calls.remove(call) && call.number < this.number) {
			completeStops();
		}
	}

	/**
	 * The end of the last call, but for those that cannot end before this thread goes on.
	 */
	CompletableFuture<Void> end() {
		Thread stopping = Thread.currentThread();
		boolean exits = isJvmEnding();
		this.calls.removeIf((call) -> call.isHeldUpBy(stopping, exits));
		// Those, too, that somebody has bound to it.
		CurrentLock.all().forEach((handle) -> {
			if (handle instanceof EngineHandle own) {
				this.calls.remove(own.call());
			}
		});
		CompletableFuture<Void> end = new CompletableFuture<>();
		synchronized (this) {
			this.stops.add(new Stop(this.number + 1, end));
			this.number++;
		}
		completeStops();
		return end;
	}

	/**
	 * Whether a thread may have called {@link System#exit}: else no stack has to be
	 * looked at, which takes long if there are many.
	 */
	private static boolean isJvmEnding() {
		Thread nothing = new Thread(() -> {
		});
		try {
			Runtime.getRuntime().addShutdownHook(nothing);
			Runtime.getRuntime().removeShutdownHook(nothing);
			return false;
		}
		catch (IllegalStateException ex) {
			return true;
		}
	}

	/**
	 * Waits for no call any more.
	 */
	void forget() {
		this.calls.clear();
		completeStops();
	}

	private void completeStops() {
		for (Stop stop : this.stops) {
			if (this.calls.stream().noneMatch((call) -> call.number < stop.number()) && this.stops.remove(stop)) {
				this.workers.action(() -> stop.end().complete(null));
			}
		}
	}

	/**
	 * One call.
	 */
	static final class Call {

		/**
		 * Written before it is counted, or by the thread that has begun it.
		 */
		private volatile int number;

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
		private boolean isHeldUpBy(Thread stopping, boolean exits) {
			CurrentLock binding = this.binding;
			Thread thread = (binding != null) ? binding.thread() : null;
			return thread != null && (thread == stopping || exits && Stream.of(thread.getStackTrace())
				.anyMatch((frame) -> frame.getClassName().equals(Runtime.class.getName())
						&& frame.getMethodName().equals("exit")));
		}

	}

}
