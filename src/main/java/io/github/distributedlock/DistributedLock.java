package io.github.distributedlock;

import java.time.Duration;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;

import io.github.distributedlock.internal.Requests;
import org.jspecify.annotations.Nullable;

/**
 * Locks that exclude each other across every JVM that shares a store.
 * <p>
 * A {@code DistributedLock} is safe for use by many threads. A lock is reentrant for the
 * thread that acquired the lock: a further request of that thread returns a further
 * handle on the same hold, without any I/O.
 * <p>
 * The owner is the thread, not the task. A task on a pooled thread re-enters the locks
 * that the previous task of the thread has not released. A thread of a
 * {@link java.util.concurrent.ForkJoinPool} runs other tasks while the thread waits in
 * {@code join()}, {@code get()} or {@code invokeAll()}. Each of these tasks re-enters the
 * locks that the thread holds at that moment. So do not wait there inside a lock, or
 * acquire the lock by a {@linkplain LockRequest#detached(boolean) detached} request. A
 * lock that another thread releases needs a detached request, too.
 *
 * <pre class="code">
 * try (LockHandle handle = distributedLock.acquire("nightly-report")) {
 *     …
 * }
 * </pre>
 *
 * Each operation has three overloads: for one key with every default, for one key and a
 * wait time, and for a {@link LockRequest}. Methods that begin with {@code try} wait only
 * if a wait time is given, and report a busy key as a result. The other methods wait for
 * the configured time, 5 seconds by default, and then throw an exception. Methods that
 * end in {@code Async} block no thread. All methods that acquire a lock call one of the
 * four that acquire a {@link LockRequest}. A decorator extends
 * {@link ForwardingDistributedLock} and overrides these four.
 *
 * @since 1.0
 * @see LockRequest
 * @see LockHandle
 */
public interface DistributedLock {

	/**
	 * Acquires the keys of a request. Waits at most for the
	 * {@linkplain LockRequest#waitTime(Duration) wait time} of the request, or, if the
	 * request has none, for the configured time, 5 seconds by default.
	 * @param request the keys and how to lock them
	 * @return a handle that must be closed
	 * @throws LockNotAcquiredException if a key was busy for the whole wait time
	 * @throws LockBackendException if the store failed or refused
	 * @throws LockLostException if the request re-entered one of several keys, and that
	 * key was lost before the request had all keys
	 * @throws LockInterruptedException if the thread was interrupted while waiting, and
	 * the request is {@linkplain LockRequest#interruptible(boolean) interruptible}, which
	 * is the default. The interrupt flag of the thread is set
	 * @throws IllegalArgumentException if this lock does not accept the request
	 */
	LockHandle acquire(LockRequest request);

	/**
	 * Short for {@code acquire(LockRequest.of(key))}.
	 * @param key the key
	 * @return a handle that must be closed
	 * @throws LockNotAcquiredException if the key was busy for the whole wait time
	 * @throws LockBackendException if the store failed or refused
	 * @see #acquire(LockRequest)
	 */
	default LockHandle acquire(String key) {
		return acquire(LockRequest.of(key));
	}

	/**
	 * Short for {@code acquire(LockRequest.of(key).waitTime(waitTime))}.
	 * @param key the key
	 * @param waitTime the longest time to wait; zero means one attempt
	 * @return a handle that must be closed
	 * @throws LockNotAcquiredException if the key was busy for the whole wait time
	 * @throws LockBackendException if the store failed or refused
	 * @see #acquire(LockRequest)
	 */
	default LockHandle acquire(String key, Duration waitTime) {
		return acquire(LockRequest.of(key).waitTime(waitTime));
	}

	/**
	 * Acquires the keys of a request unless a key is busy. Waits only if the request has
	 * a {@linkplain LockRequest#waitTime(Duration) wait time}.
	 * @param request the keys and how to lock them
	 * @return a handle that must be closed, or empty if a key is busy, and for no other
	 * reason
	 * @throws LockBackendException if the store failed or refused
	 * @throws LockLostException if the request re-entered one of several keys, and that
	 * key was lost before the request had all keys
	 * @throws LockInterruptedException if the thread was interrupted while waiting. The
	 * interrupt flag of the thread is set
	 * @throws IllegalArgumentException if this lock does not accept the request
	 */
	Optional<LockHandle> tryAcquire(LockRequest request);

	/**
	 * Short for {@code tryAcquire(LockRequest.of(key))}.
	 * @param key the key
	 * @return a handle that must be closed, or empty if the key is busy
	 * @throws LockBackendException if the store failed or refused
	 * @see #tryAcquire(LockRequest)
	 */
	default Optional<LockHandle> tryAcquire(String key) {
		return tryAcquire(LockRequest.of(key));
	}

	/**
	 * Short for {@code tryAcquire(LockRequest.of(key).waitTime(waitTime))}.
	 * @param key the key
	 * @param waitTime the longest time to wait; zero means one attempt
	 * @return a handle that must be closed, or empty if the key is busy
	 * @throws LockBackendException if the store failed or refused
	 * @see #tryAcquire(LockRequest)
	 */
	default Optional<LockHandle> tryAcquire(String key, Duration waitTime) {
		return tryAcquire(LockRequest.of(key).waitTime(waitTime));
	}

	/**
	 * Acquires the keys of a request as {@link #acquire(LockRequest)} does, but blocks no
	 * thread: neither the calling thread, which may be an event loop, nor another thread
	 * while the lock is busy. Blocking and asynchronous requests wait in the same queues.
	 * <p>
	 * The handle is {@linkplain LockRequest#detached(boolean) detached}: bound to no
	 * thread, so that any thread may close the handle. A thread that must not block
	 * closes the handle by {@link LockHandle#closeAsync()}. The request re-enters no lock
	 * of the calling thread. A thread that waits for this future inside a lock on the
	 * same key therefore waits in vain. Dependents of the future see nothing of the
	 * calling thread, such as the MDC, unless the engine was configured to carry the
	 * context.
	 * <p>
	 * The future is completed on the threads on which {@link LockHandle#closeAsync()}
	 * completes futures. Dependents of the future run there, and may block. As with any
	 * future, a dependent that is added after the completion runs at once, on the thread
	 * that adds the dependent, unless a method that ends in {@code Async} adds the
	 * dependent.
	 * <p>
	 * If the application cancels or completes the future, as {@code orTimeout} does, the
	 * request is withdrawn. A lock that is granted nevertheless is released. Only the
	 * returned future itself withdraws the request: a dependent future does not pass a
	 * cancellation on.
	 * @param request the keys and how to lock them
	 * @return a future of a handle that must be closed. The future fails with the
	 * exceptions that {@link #acquire(LockRequest)} throws, also for invalid requests,
	 * but never with {@link LockInterruptedException}. The future also fails with
	 * {@link LockBackendException} if the store does not answer the preceding requests in
	 * time: within the wait time or, if shorter, within 5 seconds plus 10 milliseconds
	 * for each preceding request, at most 30 seconds
	 */
	CompletableFuture<LockHandle> acquireAsync(LockRequest request);

	/**
	 * Short for {@code acquireAsync(LockRequest.of(key))}.
	 * @param key the key
	 * @return a future of a handle that must be closed
	 * @see #acquireAsync(LockRequest)
	 */
	default CompletableFuture<LockHandle> acquireAsync(String key) {
		return acquireAsync(LockRequest.of(key));
	}

	/**
	 * Short for {@code acquireAsync(LockRequest.of(key).waitTime(waitTime))}.
	 * @param key the key
	 * @param waitTime the longest time to wait; zero means one attempt
	 * @return a future of a handle that must be closed
	 * @see #acquireAsync(LockRequest)
	 */
	default CompletableFuture<LockHandle> acquireAsync(String key, Duration waitTime) {
		return acquireAsync(LockRequest.of(key).waitTime(waitTime));
	}

	/**
	 * Acquires the keys of a request as {@link #tryAcquire(LockRequest)} does, but blocks
	 * no thread. The request waits only if the request has a
	 * {@linkplain LockRequest#waitTime(Duration) wait time}.
	 * @param request the keys and how to lock them
	 * @return a future of a handle that must be closed, or of an empty {@code Optional}
	 * if a key is busy
	 * @see #acquireAsync(LockRequest)
	 */
	CompletableFuture<Optional<LockHandle>> tryAcquireAsync(LockRequest request);

	/**
	 * Short for {@code tryAcquireAsync(LockRequest.of(key))}.
	 * @param key the key
	 * @return a future of a handle that must be closed, or of an empty {@code Optional}
	 * if the key is busy
	 * @see #tryAcquireAsync(LockRequest)
	 */
	default CompletableFuture<Optional<LockHandle>> tryAcquireAsync(String key) {
		return tryAcquireAsync(LockRequest.of(key));
	}

	/**
	 * Short for {@code tryAcquireAsync(LockRequest.of(key).waitTime(waitTime))}.
	 * @param key the key
	 * @param waitTime the longest time to wait; zero means one attempt
	 * @return a future of a handle that must be closed, or of an empty {@code Optional}
	 * if the key is busy
	 * @see #tryAcquireAsync(LockRequest)
	 */
	default CompletableFuture<Optional<LockHandle>> tryAcquireAsync(String key, Duration waitTime) {
		return tryAcquireAsync(LockRequest.of(key).waitTime(waitTime));
	}

	/**
	 * Runs code while a lock is held, and returns the value of the code. A stop of the
	 * application waits for the end of the code, unless the request
	 * {@linkplain LockRequest#awaitedOnStop(Boolean) says otherwise}.
	 * @param <T> the type of the value
	 * @param <E> the type of exception that the code throws
	 * @param request the keys and how to lock them
	 * @param code the code to run
	 * @return the code's value
	 * @throws E if the code failed
	 * @throws LockNotAcquiredException if a key was busy for the whole wait time
	 * @throws LockBackendException if the store failed or refused
	 * @see #acquire(LockRequest)
	 */
	default <T extends @Nullable Object, E extends Throwable> T execute(LockRequest request, LockedCall<T, E> code)
			throws E {
		try (LockHandle handle = Requests.acquire(this, request)) {
			return code.call();
		}
	}

	/**
	 * Short for {@code execute(LockRequest.of(key), code)}.
	 * @param <T> the type of the value
	 * @param <E> the type of exception that the code throws
	 * @param key the key
	 * @param code the code to run
	 * @return the code's value
	 * @throws E if the code failed
	 * @throws LockNotAcquiredException if the key was busy for the whole wait time
	 * @throws LockBackendException if the store failed or refused
	 * @see #execute(LockRequest, LockedCall)
	 */
	default <T extends @Nullable Object, E extends Throwable> T execute(String key, LockedCall<T, E> code) throws E {
		return execute(LockRequest.of(key), code);
	}

	/**
	 * Short for {@code execute(LockRequest.of(key).waitTime(waitTime), code)}.
	 * @param <T> the type of the value
	 * @param <E> the type of exception that the code throws
	 * @param key the key
	 * @param waitTime the longest time to wait; zero means one attempt
	 * @param code the code to run
	 * @return the code's value
	 * @throws E if the code failed
	 * @throws LockNotAcquiredException if the key was busy for the whole wait time
	 * @throws LockBackendException if the store failed or refused
	 * @see #execute(LockRequest, LockedCall)
	 */
	default <T extends @Nullable Object, E extends Throwable> T execute(String key, Duration waitTime,
			LockedCall<T, E> code) throws E {
		return execute(LockRequest.of(key).waitTime(waitTime), code);
	}

	/**
	 * Runs code while a lock is held, as {@link #execute(LockRequest, LockedCall)} does
	 * for code with a value.
	 * @param <E> the type of exception that the code throws
	 * @param request the keys and how to lock them
	 * @param code the code to run
	 * @throws E if the code failed
	 * @throws LockNotAcquiredException if a key was busy for the whole wait time
	 * @throws LockBackendException if the store failed or refused
	 */
	default <E extends Throwable> void run(LockRequest request, LockedTask<E> code) throws E {
		try (LockHandle handle = Requests.acquire(this, request)) {
			code.run();
		}
	}

	/**
	 * Short for {@code run(LockRequest.of(key), code)}.
	 * @param <E> the type of exception that the code throws
	 * @param key the key
	 * @param code the code to run
	 * @throws E if the code failed
	 * @throws LockNotAcquiredException if the key was busy for the whole wait time
	 * @throws LockBackendException if the store failed or refused
	 * @see #run(LockRequest, LockedTask)
	 */
	default <E extends Throwable> void run(String key, LockedTask<E> code) throws E {
		run(LockRequest.of(key), code);
	}

	/**
	 * Short for {@code run(LockRequest.of(key).waitTime(waitTime), code)}.
	 * @param <E> the type of exception that the code throws
	 * @param key the key
	 * @param waitTime the longest time to wait; zero means one attempt
	 * @param code the code to run
	 * @throws E if the code failed
	 * @throws LockNotAcquiredException if the key was busy for the whole wait time
	 * @throws LockBackendException if the store failed or refused
	 * @see #run(LockRequest, LockedTask)
	 */
	default <E extends Throwable> void run(String key, Duration waitTime, LockedTask<E> code) throws E {
		run(LockRequest.of(key).waitTime(waitTime), code);
	}

	/**
	 * Runs code while a lock is held or, if the lock is busy and for no other reason,
	 * other code without the lock. Returns the value of the code that has run. Waits only
	 * if the request has a {@linkplain LockRequest#waitTime(Duration) wait time}. A stop
	 * of the application waits for the end of the code, unless the request
	 * {@linkplain LockRequest#awaitedOnStop(Boolean) says otherwise}.
	 * @param <T> the type of the value
	 * @param <E> the type of exception that either code throws
	 * @param request the keys and how to lock them
	 * @param code the code to run with the lock
	 * @param busy the code to run instead if a key is busy; may throw, or return
	 * {@code null}
	 * @return the value of the code that has run
	 * @throws E if that code failed
	 * @throws LockBackendException if the store failed or refused
	 * @see #tryAcquire(LockRequest)
	 */
	default <T extends @Nullable Object, E extends Throwable> T tryExecute(LockRequest request, LockedCall<T, E> code,
			LockedCall<T, E> busy) throws E {
		try (LockHandle handle = Requests.tryAcquire(this, request)) {
			return ((handle != null) ? code : busy).call();
		}
	}

	/**
	 * Short for {@code tryExecute(LockRequest.of(key), code, busy)}.
	 * @param <T> the type of the value
	 * @param <E> the type of exception that the code throws
	 * @param key the key
	 * @param code the code to run with the lock
	 * @param busy the code to run instead if the key is busy
	 * @return the value of the code that has run
	 * @throws E if that code failed
	 * @throws LockBackendException if the store failed or refused
	 * @see #tryExecute(LockRequest, LockedCall, LockedCall)
	 */
	default <T extends @Nullable Object, E extends Throwable> T tryExecute(String key, LockedCall<T, E> code,
			LockedCall<T, E> busy) throws E {
		return tryExecute(LockRequest.of(key), code, busy);
	}

	/**
	 * Short for {@code tryExecute(LockRequest.of(key).waitTime(waitTime), code, busy)}.
	 * @param <T> the type of the value
	 * @param <E> the type of exception that the code throws
	 * @param key the key
	 * @param waitTime the longest time to wait; zero means one attempt
	 * @param code the code to run with the lock
	 * @param busy the code to run instead if the key is busy
	 * @return the value of the code that has run
	 * @throws E if that code failed
	 * @throws LockBackendException if the store failed or refused
	 * @see #tryExecute(LockRequest, LockedCall, LockedCall)
	 */
	default <T extends @Nullable Object, E extends Throwable> T tryExecute(String key, Duration waitTime,
			LockedCall<T, E> code, LockedCall<T, E> busy) throws E {
		return tryExecute(LockRequest.of(key).waitTime(waitTime), code, busy);
	}

	/**
	 * Runs code while a lock is held, unless the lock is busy, as
	 * {@link #tryExecute(LockRequest, LockedCall, LockedCall)} does for code with a
	 * value.
	 * @param <E> the type of exception that the code throws
	 * @param request the keys and how to lock them
	 * @param code the code to run
	 * @return {@code true} if the code has run, {@code false} if a key is busy, and for
	 * no other reason
	 * @throws E if the code failed
	 * @throws LockBackendException if the store failed or refused
	 */
	default <E extends Throwable> boolean tryRun(LockRequest request, LockedTask<E> code) throws E {
		try (LockHandle handle = Requests.tryAcquire(this, request)) {
			if (handle != null) {
				code.run();
			}
			return handle != null;
		}
	}

	/**
	 * Short for {@code tryRun(LockRequest.of(key), code)}.
	 * @param <E> the type of exception that the code throws
	 * @param key the key
	 * @param code the code to run
	 * @return {@code true} if the code has run, {@code false} if the key is busy
	 * @throws E if the code failed
	 * @throws LockBackendException if the store failed or refused
	 * @see #tryRun(LockRequest, LockedTask)
	 */
	default <E extends Throwable> boolean tryRun(String key, LockedTask<E> code) throws E {
		return tryRun(LockRequest.of(key), code);
	}

	/**
	 * Short for {@code tryRun(LockRequest.of(key).waitTime(waitTime), code)}.
	 * @param <E> the type of exception that the code throws
	 * @param key the key
	 * @param waitTime the longest time to wait; zero means one attempt
	 * @param code the code to run
	 * @return {@code true} if the code has run, {@code false} if the key is busy
	 * @throws E if the code failed
	 * @throws LockBackendException if the store failed or refused
	 * @see #tryRun(LockRequest, LockedTask)
	 */
	default <E extends Throwable> boolean tryRun(String key, Duration waitTime, LockedTask<E> code) throws E {
		return tryRun(LockRequest.of(key).waitTime(waitTime), code);
	}

	/**
	 * Calls code that returns a stage, and holds a lock from before the call until the
	 * stage has completed, but blocks no thread. A stop of the application waits until
	 * the stage has completed, unless the request
	 * {@linkplain LockRequest#awaitedOnStop(Boolean) says otherwise}.
	 * <p>
	 * The code is called on the threads on which the future of
	 * {@link #acquireAsync(LockRequest)} is completed, never on the calling thread, and
	 * may block. Only while the code runs, the lock is {@linkplain LockHandle#current()
	 * current} on that thread, and blocking methods re-enter the lock there. Later steps
	 * of the stage cannot re-enter the lock, and a request of theirs for the same key
	 * waits in vain.
	 * <p>
	 * If the result is cancelled before the lock is acquired, the request is withdrawn,
	 * and the code is not called. A later cancellation affects neither the stage nor the
	 * lock: the lock is held until the stage has completed by itself.
	 * @param <T> the type of the value
	 * @param request the keys and how to lock them
	 * @param code the code to call
	 * @return a future that completes as the stage does, but after the release. The
	 * future fails with the exceptions that {@link #execute(LockRequest, LockedCall)}
	 * throws
	 * @see #acquireAsync(LockRequest)
	 */
	default <T extends @Nullable Object> CompletableFuture<T> executeAsync(LockRequest request,
			LockedCall<? extends CompletionStage<T>, ?> code) {
		return LockedStage.run(acquireAsync(Requests.awaitedUnlessSaid(request)), request, code, code);
	}

	/**
	 * Short for {@code executeAsync(LockRequest.of(key), code)}.
	 * @param <T> the type of the value
	 * @param key the key
	 * @param code the code to call
	 * @return a future that completes as the stage does, but after the release
	 * @see #executeAsync(LockRequest, LockedCall)
	 */
	default <T extends @Nullable Object> CompletableFuture<T> executeAsync(String key,
			LockedCall<? extends CompletionStage<T>, ?> code) {
		return executeAsync(LockRequest.of(key), code);
	}

	/**
	 * Short for {@code executeAsync(LockRequest.of(key).waitTime(waitTime), code)}.
	 * @param <T> the type of the value
	 * @param key the key
	 * @param waitTime the longest time to wait; zero means one attempt
	 * @param code the code to call
	 * @return a future that completes as the stage does, but after the release
	 * @see #executeAsync(LockRequest, LockedCall)
	 */
	default <T extends @Nullable Object> CompletableFuture<T> executeAsync(String key, Duration waitTime,
			LockedCall<? extends CompletionStage<T>, ?> code) {
		return executeAsync(LockRequest.of(key).waitTime(waitTime), code);
	}

	/**
	 * Calls code that returns a stage as {@link #executeAsync(LockRequest, LockedCall)}
	 * does or, if the lock is busy and for no other reason, calls other code, on the same
	 * threads but without the lock. The request waits only if the request has a
	 * {@linkplain LockRequest#waitTime(Duration) wait time}.
	 * @param <T> the type of the value
	 * @param request the keys and how to lock them
	 * @param code the code to call with the lock
	 * @param busy the code to call instead if a key is busy
	 * @return a future that completes as the stage of the code that was called
	 * @see #tryAcquireAsync(LockRequest)
	 */
	default <T extends @Nullable Object> CompletableFuture<T> tryExecuteAsync(LockRequest request,
			LockedCall<? extends CompletionStage<T>, ?> code, LockedCall<? extends CompletionStage<T>, ?> busy) {
		return LockedStage.run(tryAcquireAsync(Requests.awaitedUnlessSaid(request)), request, code, busy);
	}

	/**
	 * Short for {@code tryExecuteAsync(LockRequest.of(key), code, busy)}.
	 * @param <T> the type of the value
	 * @param key the key
	 * @param code the code to call with the lock
	 * @param busy the code to call instead if the key is busy
	 * @return a future that completes as the stage of the code that was called
	 * @see #tryExecuteAsync(LockRequest, LockedCall, LockedCall)
	 */
	default <T extends @Nullable Object> CompletableFuture<T> tryExecuteAsync(String key,
			LockedCall<? extends CompletionStage<T>, ?> code, LockedCall<? extends CompletionStage<T>, ?> busy) {
		return tryExecuteAsync(LockRequest.of(key), code, busy);
	}

	/**
	 * Short for
	 * {@code tryExecuteAsync(LockRequest.of(key).waitTime(waitTime), code, busy)}.
	 * @param <T> the type of the value
	 * @param key the key
	 * @param waitTime the longest time to wait; zero means one attempt
	 * @param code the code to call with the lock
	 * @param busy the code to call instead if the key is busy
	 * @return a future that completes as the stage of the code that was called
	 * @see #tryExecuteAsync(LockRequest, LockedCall, LockedCall)
	 */
	default <T extends @Nullable Object> CompletableFuture<T> tryExecuteAsync(String key, Duration waitTime,
			LockedCall<? extends CompletionStage<T>, ?> code, LockedCall<? extends CompletionStage<T>, ?> busy) {
		return tryExecuteAsync(LockRequest.of(key).waitTime(waitTime), code, busy);
	}

	/**
	 * Asks the store who holds a key, and who waits for the key: one read, which changes
	 * nothing. The answer is for people and tools. The answer may be out of date on
	 * arrival, so do not base a decision on the answer that a lock should make.
	 * @param key the key
	 * @return the status of the key that the store reported
	 * @throws LockBackendException if the store failed or refused
	 * @throws UnsupportedOperationException if the store does not support inspection. All
	 * stores of this library support inspection, stores of others may not
	 */
	LockStatus inspect(String key);

	/**
	 * Returns whether this lock created a handle: a thread may have handles of several
	 * {@code DistributedLock}s. A decorator asks the lock that the decorator wraps.
	 * @param handle the handle
	 * @return {@code true} if this lock created the handle
	 */
	boolean owns(LockHandle handle);

}
