package io.github.distributedlock.internal.reactive;

import java.util.Objects;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.UnaryOperator;

import io.github.distributedlock.LockBackendException;
import io.github.distributedlock.LockException;
import io.github.distributedlock.LockHandle;
import io.github.distributedlock.LockNotAcquiredException;
import io.github.distributedlock.OnLost;
import io.github.distributedlock.internal.LossOutcome;
import io.github.distributedlock.internal.Requests;
import org.jspecify.annotations.Nullable;
import org.reactivestreams.Publisher;
import org.reactivestreams.Subscription;
import reactor.core.CoreSubscriber;
import reactor.core.Exceptions;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;
import reactor.core.publisher.Operators;
import reactor.util.context.Context;

import org.springframework.core.ReactiveAdapter;

/**
 * One subscription, which takes the lock, subscribes to the result of the method, and
 * gives the lock back when that result has ended.
 *
 * <pre>
 *   ACQUIRING ──► RUNNING ──► RELEASING ──► ENDED
 *       │            │            │
 *       └────────────┴────────────┴───────► CANCELLED
 * </pre>
 *
 * Invariants: each change of state is one compare-and-set. The thread that leaves RUNNING
 * ends the part of the stream in the lock, and no other thread does. A handle that
 * arrives after ACQUIRING was left, as from a request that cannot be withdrawn, is
 * released by the thread on which the handle arrives. Nothing runs on a thread of the
 * engine: what the engine reports continues in Reactor's parallel scheduler, as after a
 * delay, unless the engine answers at once.
 * <p>
 * The state decides which thread signals the end to the subscriber, and
 * {@link Operators#serialize} ensures that no element is passed on at the same time.
 * Foreign code may throw anything at any signal. Reactor's operators let errors through
 * that Reactor regards as fatal for the JVM, and the lock would be kept for ever. So this
 * class turns these errors into signals.
 */
final class LockedSubscription implements CoreSubscriber<Object>, Subscription {

	private enum State {

		ACQUIRING, RUNNING, RELEASING, ENDED, CANCELLED

	}

	private final CoreSubscriber<? super Object> actual;

	private final CoreSubscriber<Object> downstream = Operators.serialize(new Downstream());

	private final LockedInvocation invocation;

	private final ReactiveAdapter type;

	private final AtomicReference<State> state = new AtomicReference<>(State.ACQUIRING);

	private final Operators.DeferredSubscription upstream = new Operators.DeferredSubscription();

	/**
	 * The value of a result that has no more than one, kept until the release.
	 */
	private final AtomicReference<@Nullable Object> only = new AtomicReference<>();

	private volatile @Nullable CompletableFuture<?> request;

	private volatile @Nullable PendingClose release;

	private volatile Context context;

	LockedSubscription(CoreSubscriber<? super Object> actual, LockedInvocation invocation, ReactiveAdapter type) {
		this.actual = actual;
		this.invocation = invocation;
		this.type = type;
		this.context = actual.currentContext();
	}

	void start() {
		this.actual.onSubscribe(this);
		if (this.state.get() == State.CANCELLED) {
			return;
		}
		Object answer;
		try {
			CompletableFuture<?> asked = ChainLocks.acquire(this.context, this.invocation::acquire);
			this.request = asked;
			if (!asked.isDone()) {
				asked.whenComplete((found, failure) -> PendingClose.runInParallel(() -> answer(found, failure)));
				if (this.state.get() == State.CANCELLED) {
					Requests.withdraw(asked);
				}
				return;
			}
			answer = asked.join();
		}
		catch (Throwable ex) {
			answer(null, ex);
			return;
		}
		// After the request, since locks that the method requests in code must not be
		// re-entered.
		answer(answer, null);
	}

	private void answer(@Nullable Object answer, @Nullable Throwable failure) {
		LockHandle handle = Requests.handleIn(answer);
		if (!this.state.compareAndSet(State.ACQUIRING, State.RUNNING)) {
			if (handle != null) {
				handle.undo();
			}
			return;
		}
		try {
			Throwable why = (failure instanceof CompletionException && failure.getCause() != null) ? failure.getCause()
					: failure;
			if (handle != null) {
				run(handle);
			}
			else if (why instanceof LockNotAcquiredException || why instanceof LockBackendException) {
				subscribe(() -> this.invocation.fallBack((LockException) why));
			}
			else if (why != null) {
				onError(why);
			}
			else if (answer == null) {
				onError(Requests.noAnswer(this.invocation.request()));
			}
			else {
				Object instead = this.invocation.skip();
				if (instead != null) {
					subscribe(() -> instead);
				}
				else {
					onComplete();
				}
			}
		}
		catch (Throwable ex) {
			failFromSource(ex);
		}
	}

	private void run(LockHandle handle) {
		PendingClose release = new PendingClose(handle, this.invocation);
		this.release = release;
		try {
			this.context = ChainLocks.enter(this.context, handle);
			release.joinTransaction(this.context);
			if (this.invocation.onLost() == OnLost.INTERRUPT) {
				// The reaction does not queue behind an action of the application.
				handle.onLost(() -> PendingClose.runInParallel(() -> lost(handle)), Runnable::run);
			}
			subscribe(() -> {
				release.use();
				return ChainLocks.call(this.context, this.invocation::proceed);
			});
		}
		finally {
			release.leave();
		}
	}

	private void subscribe(ChainLocks.MethodCall method) {
		if (this.state.get() == State.RUNNING) {
			// The context is there already. But Reactor restores thread-locals where a
			// context is written.
			Flux.defer(() -> call(method)).contextWrite(UnaryOperator.identity()).subscribe(this);
		}
	}

	private Publisher<Object> call(ChainLocks.MethodCall method) {
		try {
			return this.type.toPublisher(
					Objects.requireNonNull(method.call(), () -> this.invocation + ": the method has returned null"));
		}
		catch (Throwable ex) {
			return Mono.error(ex);
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
	 * Runs foreign code: that of the source, which may throw instead of signalling an
	 * error, or that of the subscriber.
	 */
	private void guard(Runnable code) {
		try {
			code.run();
		}
		catch (Throwable ex) {
			failFromSource(ex);
		}
	}

	@Override
	public void onNext(Object value) {
		if (this.state.get() != State.RUNNING) {
			Operators.onDiscard(value, this.context);
			return;
		}
		try {
			this.invocation.check(value);
		}
		catch (Throwable ex) {
			Operators.onDiscard(value, this.context);
			failFromSource(ex);
			return;
		}
		if (this.type.isMultiValue()) {
			this.downstream.onNext(value);
		}
		else {
			this.only.set(value);
			if (this.state.get() != State.RUNNING) {
				discard();
			}
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
		PendingClose release = this.release;
		if (release == null) {
			signal(failure);
			return;
		}
		Throwable outcome = (this.invocation.onLost() == OnLost.REPORT) ? failure
				: LossOutcome.of(failure, release.handle());
		release.leaveStream().whenComplete((done, ignored) -> signal(outcome));
	}

	/**
	 * Ends the stream with an exception that foreign code has thrown.
	 */
	private void failFromSource(Throwable failure) {
		if (this.state.compareAndSet(State.RUNNING, State.RELEASING)) {
			cancelUpstream(() -> end(failure));
		}
		else {
			drop(failure);
		}
	}

	/**
	 * Ends the stream without waiting for a release: the lock is lost.
	 */
	private void lost(LockHandle handle) {
		Throwable loss = LossOutcome.of(null, handle);
		if (loss != null && this.state.compareAndSet(State.RUNNING, State.RELEASING)) {
			leave(() -> signal(loss));
		}
	}

	@Override
	public void cancel() {
		State before = this.state.getAndUpdate((now) -> (now != State.ENDED) ? State.CANCELLED : now);
		CompletableFuture<?> asked = this.request;
		if (before == State.ACQUIRING && asked != null) {
			Requests.withdraw(asked);
		}
		else if (before == State.RUNNING) {
			leave(this::discard);
		}
	}

	private void leave(Runnable then) {
		cancelUpstream(() -> {
			PendingClose release = this.release;
			if (release != null) {
				release.leaveStream();
			}
			then.run();
		});
	}

	/**
	 * Cancels what runs in the lock, and then runs the next step, whatever the
	 * cancellation throws. In the other order, the cancelled code would run without the
	 * lock.
	 */
	private void cancelUpstream(Runnable then) {
		try {
			guard(this.upstream::cancel);
		}
		finally {
			then.run();
		}
	}

	private void signal(@Nullable Throwable failure) {
		if (!this.state.compareAndSet(State.RELEASING, State.ENDED)) {
			discard();
			if (failure != null) {
				Operators.onErrorDropped(failure, this.context);
			}
			return;
		}
		if (failure != null) {
			discard();
		}
		Throwable why = failure;
		Object value = this.only.getAndSet(null);
		try {
			if (value != null) {
				this.actual.onNext(value);
			}
		}
		catch (Throwable ex) {
			why = ex; // The caller waits for the result, and would wait for ever.
		}
		if (why != null) {
			this.downstream.onError(why);
		}
		else {
			this.downstream.onComplete();
		}
	}

	private void discard() {
		Operators.onDiscard(this.only.getAndSet(null), this.context);
	}

	/**
	 * Drops an exception of foreign code that nobody can be told any more, as Reactor
	 * does: an error that Reactor regards as fatal for the JVM is thrown on.
	 */
	private void drop(Throwable thrown) {
		try {
			Operators.onErrorDropped(thrown, this.context);
		}
		finally {
			Exceptions.throwIfJvmFatal(thrown);
		}
	}

	/**
	 * The subscriber, which throws nothing at the serialization. An exception of the
	 * subscriber at an element ends the stream; an exception at the end is dropped.
	 */
	private final class Downstream implements CoreSubscriber<Object> {

		@Override
		public Context currentContext() {
			return LockedSubscription.this.actual.currentContext();
		}

		@Override
		public void onSubscribe(Subscription subscription) {
			LockedSubscription.this.actual.onSubscribe(subscription);
		}

		@Override
		public void onNext(Object value) {
			guard(() -> LockedSubscription.this.actual.onNext(value));
		}

		@Override
		public void onError(Throwable failure) {
			guard(() -> LockedSubscription.this.actual.onError(failure));
		}

		@Override
		public void onComplete() {
			guard(LockedSubscription.this.actual::onComplete);
		}

	}

}
