package io.github.distributedlock.engine;

import java.util.List;
import java.util.concurrent.atomic.LongAdder;

import io.github.distributedlock.LockEvent;
import io.github.distributedlock.LockException;
import io.github.distributedlock.LockHandle;
import io.github.distributedlock.LockInterruptedException;
import io.github.distributedlock.LockRequest;
import io.github.distributedlock.WaitObserver.Observed;
import io.github.distributedlock.engine.RunningCalls.Call;
import io.github.distributedlock.engine.lease.Hold;
import io.github.distributedlock.engine.lease.HoldOptions;
import io.github.distributedlock.engine.queue.Wait;
import io.github.distributedlock.engine.runtime.Events;
import io.github.distributedlock.engine.runtime.Text;
import org.jspecify.annotations.Nullable;

/**
 * Makes a handle of a request, on the thread that asks: checks it, re-enters or acquires
 * its keys, and opens the handle. Safe for use by many threads.
 * <p>
 * Invariants: the call counts as running, for a stop, from before anything is asked of
 * the store until its handle is closed, or there is none. The interrupt flag of the
 * thread is afterwards as it was before, or set if the thread was interrupted meanwhile.
 */
final class HandleAcquirer {

	private final Requests requests;

	private final RunningCalls calls;

	private final Reentrancy reentrancy;

	private final RequestAcquirer requestAcquirer;

	private final Events events;

	private final HandleContext handleContext;

	private final EventLoops eventLoops = new EventLoops();

	private final ObservedWaits observedWaits;

	private final LongAdder asking = new LongAdder();

	HandleAcquirer(Requests requests, RunningCalls calls, Reentrancy reentrancy, RequestAcquirer requestAcquirer,
			Events events, HandleContext handleContext, ObservedWaits observedWaits) {
		this.requests = requests;
		this.calls = calls;
		this.reentrancy = reentrancy;
		this.requestAcquirer = requestAcquirer;
		this.events = events;
		this.handleContext = handleContext;
		this.observedWaits = observedWaits;
	}

	/**
	 * Serves a request.
	 * @param request what is asked for
	 * @param wait how long to wait, begun
	 * @return the handle, or {@code null} if a key was busy for all that time
	 */
	@Nullable LockHandle acquire(LockRequest request, Wait wait) {
		Call call = this.calls.begin(request.awaitedOnStop());
		LockHandle handle = null;
		try {
			handle = acquire(request, wait, call);
			return handle;
		}
		finally {
			if (handle == null) {
				this.calls.end(call);
			}
		}
	}

	private @Nullable LockHandle acquire(LockRequest request, Wait wait, Call call) {
		List<String> keys = this.requests.keysInOrder(request);
		// Before the store is asked for anything, be it only what it can do.
		boolean interrupted = Thread.interrupted();
		try {
			this.requests.requireSupported(request, wait);
			interrupted |= Thread.interrupted();
			HoldOptions options = this.requests.options(request);
			List<Hold> holds = this.reentrancy.reenter(keys, options);
			if (holds == null) {
				if (interrupted && wait.isAllowed()) {
					wait.interrupted("before");
				}
				holds = ask(keys, options, wait, this.observedWaits.begin(request));
			}
			if (holds == null) {
				this.events.publish(new LockEvent.NotAcquired(options.name(), keys, wait.waited(), wait.holder()));
				return null;
			}
			return open(holds, keys, request, call);
		}
		catch (InterruptedException ex) {
			interrupted = true;
			throw new LockInterruptedException("Interrupted after waiting " + Text.of(wait.waited()) + " for lock "
					+ LockException.printable(keys) + "; it is not held", ex);
		}
		finally {
			if (interrupted || wait.wasInterrupted()) {
				Thread.currentThread().interrupt();
			}
		}
	}

	private @Nullable List<Hold> ask(List<String> keys, HoldOptions options, Wait wait, @Nullable Observed observed)
			throws InterruptedException {
		this.asking.increment();
		try {
			this.eventLoops.check(options.name(), keys);
			List<Hold> holds = this.requestAcquirer.acquire(keys, options, wait);
			observeEnd(observed, holds, wait);
			return holds;
		}
		catch (Throwable ex) {
			ObservedWaits.fail(observed, ex);
			throw ex;
		}
		finally {
			this.asking.decrement();
		}
	}

	private void observeEnd(@Nullable Observed observed, @Nullable List<Hold> holds, Wait wait) {
		boolean done = false;
		try {
			ObservedWaits.end(observed, holds != null, wait);
			done = true;
		}
		finally {
			if (!done && holds != null) { // No memory, or no stack, to tell it.
				this.reentrancy.undo(holds);
			}
		}
	}

	private LockHandle open(List<Hold> holds, List<String> keys, LockRequest request, Call call) {
		try {
			return new EngineHandle(holds, keys, request.mode(), request.detached(), call, this.handleContext);
		}
		catch (RuntimeException | Error ex) {
			this.reentrancy.undo(holds);
			throw ex;
		}
	}

	/**
	 * How many requests ask for keys now.
	 */
	int asking() {
		return this.asking.intValue();
	}

}
