package io.github.distributedlock.engine;

import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.stream.Stream;

import io.github.distributedlock.CurrentLock;
import io.github.distributedlock.LockHandle;
import io.github.distributedlock.engine.EngineTime.Workers;

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

	private final Set<Wait> calls = ConcurrentHashMap.newKeySet();

	/**
	 * The ends of the stops that have not completed, by their numbers. A stop is here
	 * before its number can be seen.
	 */
	private final Map<Integer, CompletableFuture<Void>> stops = new ConcurrentHashMap<>();

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
	void begin(Wait call, boolean awaited) {
		if (awaited) {
			int last = this.number;
			call.stops = last;
			this.calls.add(call);
			if (!this.stops.isEmpty()) { // One of them may have begun just now.
				call.stops = outermost();
				if (call.stops != last) {
					completeStops();
				}
			}
		}
	}

	/**
	 * The smallest number of the counted calls that the calling thread, or the chain that
	 * it asks for, is inside of; else that of the last stop.
	 */
	private int outermost() {
		return Stream.concat(ownHandles(CurrentLock.all()), ownHandles(CurrentLock.chain()))
			.map(EngineHandle::call)
			.filter(this.calls::contains)
			.mapToInt((call) -> call.stops)
			.reduce(this.number, Math::min);
	}

	/**
	 * Ends a call.
	 */
	void end(Wait call) {
		if (this.calls.remove(call) && call.stops < this.number) {
			completeStops();
		}
	}

	/**
	 * The end of the last call, but for those that cannot end before this thread goes on.
	 */
	CompletableFuture<Void> end() {
		ownHandles(CurrentLock.all()).forEach((handle) -> this.calls.remove(handle.call()));
		CompletableFuture<Void> end = new CompletableFuture<>();
		synchronized (this) {
			this.stops.put(this.number + 1, end);
			this.number++;
		}
		completeStops();
		return end;
	}

	private static Stream<EngineHandle> ownHandles(List<LockHandle> handles) {
		return handles.stream().filter(EngineHandle.class::isInstance).map(EngineHandle.class::cast);
	}

	/**
	 * Waits for no call any more.
	 */
	void forget() {
		this.calls.clear();
		completeStops();
	}

	private void completeStops() {
		this.stops.forEach((stop, end) -> {
			if (this.calls.stream().noneMatch((call) -> call.stops < stop) && this.stops.remove(stop, end)) {
				this.workers.action(() -> end.complete(null));
			}
		});
	}

}
