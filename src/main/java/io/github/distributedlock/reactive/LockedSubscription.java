package io.github.distributedlock.reactive;

import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicReference;

import io.github.distributedlock.LockBackendException;
import io.github.distributedlock.LockException;
import io.github.distributedlock.LockHandle;
import io.github.distributedlock.LockNotAcquiredException;
import io.github.distributedlock.UndoableHandle;
import org.jspecify.annotations.Nullable;
import org.reactivestreams.Subscription;
import reactor.core.CoreSubscriber;
import reactor.core.publisher.Operators;
import reactor.util.context.Context;

/**
 * One subscription: it takes the lock, subscribes to what the method returns, and gives
 * the lock back when that has ended.
 *
 * <pre>
 *   ACQUIRING ──► RUNNING ──► RELEASING ──► ENDED
 *       │            │            │
 *       └────────────┴────────────┴───────► CANCELLED
 * </pre>
 *
 * Invariants: each change of state is one compare-and-set. Whoever leaves RUNNING ends
 * the part of the stream in the lock, and nobody else does. A handle that is told after
 * ACQUIRING was left is given back by the one that is told. Nothing runs on a thread of
 * the engine: what it tells of goes on in the {@link ParallelScheduler}.
 */
final class LockedSubscription implements CoreSubscriber<Object>, Subscription {

	private enum State {

		ACQUIRING, RUNNING, RELEASING, ENDED, CANCELLED

	}

	private final CoreSubscriber<? super Object> actual;

	private final SerialSubscriber downstream;

	private final LockedInvocation invocation;

	private final ReactiveType type;

	private final AtomicReference<State> state = new AtomicReference<>(State.ACQUIRING);

	private final Operators.DeferredSubscription upstream = new Operators.DeferredSubscription();

	private final PendingRequest lockRequest = new PendingRequest(this::answer);

	private final PendingClose release = new PendingClose();

	private volatile Context context;

	private volatile boolean inTransaction;

	LockedSubscription(CoreSubscriber<? super Object> actual, LockedInvocation invocation, ReactiveType type) {
		this.actual = actual;
		this.downstream = new SerialSubscriber(actual);
		this.invocation = invocation;
		this.type = type;
		this.context = actual.currentContext();
	}

	void start() {
		this.actual.onSubscribe(this);
		if (this.state.get() != State.CANCELLED) {
			this.lockRequest.ask(this.context, this.invocation);
		}
	}

	private void answer(@Nullable LockHandle handle, @Nullable Throwable failure) {
		if (!this.state.compareAndSet(State.ACQUIRING, State.RUNNING)) {
			if (handle != null) {
				UndoableHandle.undo(handle);
			}
			return;
		}
		try {
			if (handle != null) {
				run(handle);
			}
			else if (failure != null) {
				fail(failure);
			}
			else {
				onComplete();
			}
		}
		catch (Throwable ex) {
			fallOut(ex);
		}
	}

	/**
	 * An Error, too, is a signal: what Reactor lets through would keep the lock for ever.
	 */
	private void fallOut(Throwable failure) {
		if (this.state.compareAndSet(State.RUNNING, State.RELEASING)) {
			cancelUpstream(() -> end(failure));
		}
		else {
			SerialSubscriber.drop(failure, this.context);
		}
	}

	/**
	 * Cancels what runs in the lock, and goes on whatever that throws. Not the other way
	 * round, since it would run without the lock.
	 */
	private void cancelUpstream(Runnable then) {
		try {
			this.upstream.cancel();
		}
		catch (Throwable ex) {
			SerialSubscriber.drop(ex, this.context);
		}
		finally {
			then.run();
		}
	}

	private void fail(Throwable failure) {
		if (failure instanceof LockNotAcquiredException || failure instanceof LockBackendException) {
			subscribe(() -> this.invocation.fallBack((LockException) failure));
		}
		else {
			onError(failure);
		}
	}

	private void run(LockHandle handle) {
		this.release.of(handle);
		try {
			this.context = LockContext.enter(this.context, handle);
			this.inTransaction = ReactiveTransactions.join(this.context, handle, this.invocation, this.release);
			if (this.invocation.endsOnLoss()) {
				// Not behind an action of the application.
				handle.onLost(() -> ParallelScheduler.run(() -> lost(handle)), Runnable::run);
			}
			subscribe(() -> {
				this.release.use();
				return LockContext.call(this.context, this.invocation::proceed);
			});
		}
		finally {
			this.release.leave();
		}
	}

	private void subscribe(ReactiveType.MethodCall method) {
		if (this.state.get() == State.RUNNING) {
			this.type.defer(method, this.invocation).subscribe(this);
		}
	}

	@Override
	public Context currentContext() {
		return this.context;
	}

	@Override
	public void onSubscribe(Subscription subscription) {
		guard(() -> this.upstream.set(subscription));
	}

	@Override
	public void request(long n) {
		guard(() -> this.upstream.request(n));
	}

	/**
	 * Runs what asks the source, which may throw instead of telling an error.
	 */
	private void guard(Runnable asking) {
		try {
			asking.run();
		}
		catch (Throwable ex) {
			fallOut(ex);
		}
	}

	@Override
	public void onNext(Object value) {
		if (this.state.get() != State.RUNNING) {
			Operators.onDiscard(value, this.context);
			return;
		}
		boolean taken = false;
		try {
			this.invocation.check(value);
			taken = true;
			pass(value);
		}
		catch (Throwable ex) {
			if (!taken) {
				Operators.onDiscard(value, this.context);
			}
			fallOut(ex);
		}
	}

	private void pass(Object value) {
		if (this.type.isMultiValue()) {
			this.downstream.pass(value);
			return;
		}
		this.downstream.keep(value);
		if (this.state.get() != State.RUNNING) {
			this.downstream.discard();
		}
	}

	@Override
	public void onComplete() {
		if (this.state.compareAndSet(State.RUNNING, State.RELEASING)) {
			end(null);
		}
	}

	@Override
	public void onError(Throwable failure) {
		if (this.state.compareAndSet(State.RUNNING, State.RELEASING)) {
			end(failure);
		}
		else {
			Operators.onErrorDropped(failure, this.context);
		}
	}

	private void end(@Nullable Throwable failure) {
		LockHandle held = this.release.handle();
		if (held == null) {
			signal(failure);
			return;
		}
		Throwable outcome = this.invocation.outcome(failure, held);
		CompletableFuture<@Nullable Void> released = this.release.leaveStream();
		if (this.inTransaction) {
			signal(outcome); // The transaction may wait for it.
		}
		else {
			released.whenComplete((done, ignored) -> signal(outcome));
		}
	}

	/**
	 * There is no lock to wait for.
	 */
	private void lost(LockHandle handle) {
		Throwable loss = this.invocation.outcome(null, handle);
		if (loss != null && this.state.compareAndSet(State.RUNNING, State.RELEASING)) {
			cancelUpstream(() -> {
				this.release.leaveStream();
				signal(loss);
			});
		}
	}

	private void signal(@Nullable Throwable failure) {
		if (this.state.compareAndSet(State.RELEASING, State.ENDED)) {
			this.downstream.end(failure);
		}
		else {
			this.downstream.discard();
			if (failure != null) {
				Operators.onErrorDropped(failure, this.context);
			}
		}
	}

	@Override
	public void cancel() {
		State before = this.state.getAndUpdate((now) -> (now != State.ENDED) ? State.CANCELLED : now);
		if (before == State.ACQUIRING) {
			this.lockRequest.withdraw();
		}
		else if (before == State.RUNNING) {
			cancelUpstream(() -> {
				this.release.leaveStream();
				this.downstream.discard();
			});
		}
	}

}
