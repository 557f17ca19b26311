package io.github.distributedlock;

import java.time.Duration;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;

import org.jspecify.annotations.Nullable;

/**
 * Locks that exclude each other across every JVM that shares a store.
 * <p>
 * Safe for use by many threads. A lock is reentrant for the thread that acquired it:
 * asking again gives a further handle on the same hold without any I/O.
 * <p>
 * It is the thread that counts, not the task. A pooled thread re-enters what its last
 * task has not released. A thread of a {@link java.util.concurrent.ForkJoinPool} runs
 * other tasks while it waits in {@code join()}, {@code get()} or {@code invokeAll()}, and
 * each of them re-enters what the thread holds just then: do not wait there inside a
 * lock, or acquire it with a {@linkplain LockRequest#detached(boolean) detached} request,
 * which is also the one for a lock that another thread releases.
 *
 * <pre class="code">
 * try (LockHandle handle = distributedLock.acquire("nightly-report")) {
 *     …
 * }
 * </pre>
 *
 * Each operation is here three times: for one key with every default, for one key and the
 * time to wait for it, and for a {@link LockRequest}. Those that begin with {@code try}
 * do not wait unless they are told to, and treat a busy key as an answer; the others wait
 * for the configured time, 5 seconds by default, and fail. Those that end in
 * {@code Async} block no thread. All of them are made from the four that acquire a
 * {@link LockRequest}: a decorator extends {@link ForwardingDistributedLock} and
 * overrides these.
 *
 * @since 1.0
 * @see LockRequest
 * @see LockHandle
 */
public interface DistributedLock {

	/**
	 * Acquires what the request asks for, waiting as long as it allows (without
	 * {@linkplain LockRequest#waitTime(Duration) wait time}: the configured default, 5
	 * seconds).
	 * @param request the keys and how to lock them
	 * @return a handle that must be closed
	 * @throws LockNotAcquiredException if a key was busy all that time
	 * @throws LockBackendException if the store failed or refused
	 * @throws LockLostException if one of several keys was re-entered, and lost meanwhile
	 * @throws LockInterruptedException if the thread was interrupted while waiting, and
	 * the request is {@linkplain LockRequest#interruptible(boolean) interruptible}, as it
	 * is by default; its interrupt flag is set
	 * @throws IllegalArgumentException if the request is not valid here
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
	 * Acquires what the request asks for, waiting only if it has a
	 * {@linkplain LockRequest#waitTime(Duration) wait time}.
	 * @param request the keys and how to lock them
	 * @return a handle that must be closed, or empty if a key is busy, and for no other
	 * reason
	 * @throws LockBackendException if the store failed or refused
	 * @throws LockLostException if one of several keys was re-entered, and lost meanwhile
	 * @throws LockInterruptedException if the thread was interrupted while waiting; its
	 * interrupt flag is set
	 * @throws IllegalArgumentException if the request is not valid here
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
	 * Acquires what the request asks for as {@link #acquire(LockRequest)} does, but
	 * blocks no thread: neither the calling one, which may be an event loop, nor another
	 * while the lock is busy. Requests of both kinds wait in the same queues.
	 * <p>
	 * The handle is {@linkplain LockRequest#detached(boolean) detached}: it is bound to
	 * no thread, and any thread may close it. A thread that must not block closes it by
	 * {@link LockHandle#closeAsync()}. So nothing is re-entered. A thread that waits for
	 * this future inside a lock on the same key waits in vain. Nothing of the calling
	 * thread, such as its MDC, is carried to what depends on the future, unless the
	 * engine was told how.
	 * <p>
	 * The future is completed, and so what depends on it runs, where
	 * {@link LockHandle#closeAsync()} completes its futures: it may block. As with any
	 * future, a dependent that is added when it is complete already runs at once, on the
	 * thread that adds it, unless it is added by a method that ends in {@code Async}.
	 * <p>
	 * If the future is cancelled, or completed by others, as by {@code orTimeout}, the
	 * request is withdrawn, and a lock that comes all the same is released. That goes for
	 * this very future; one that depends on it does not pass its cancellation on.
	 * @param request the keys and how to lock them
	 * @return a future of a handle that must be closed. It fails with what
	 * {@link #acquire(LockRequest)} throws, invalid requests included, but never with
	 * {@link LockInterruptedException}; and with {@link LockBackendException} if the
	 * store does not answer the requests before it in the wait time, or, if that is
	 * shorter, in 5 seconds and 10 milliseconds for each of them, at most 30 seconds
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
	 * Acquires what the request asks for as {@link #tryAcquire(LockRequest)} does,
	 * waiting only if it has a {@linkplain LockRequest#waitTime(Duration) wait time}, but
	 * blocks no thread.
	 * @param request the keys and how to lock them
	 * @return a future of a handle that must be closed, or of nothing if a key is busy
	 * @see #acquireAsync(LockRequest)
	 */
	CompletableFuture<Optional<LockHandle>> tryAcquireAsync(LockRequest request);

	/**
	 * Short for {@code tryAcquireAsync(LockRequest.of(key))}.
	 * @param key the key
	 * @return a future of a handle that must be closed, or of nothing if the key is busy
	 * @see #tryAcquireAsync(LockRequest)
	 */
	default CompletableFuture<Optional<LockHandle>> tryAcquireAsync(String key) {
		return tryAcquireAsync(LockRequest.of(key));
	}

	/**
	 * Short for {@code tryAcquireAsync(LockRequest.of(key).waitTime(waitTime))}.
	 * @param key the key
	 * @param waitTime the longest time to wait; zero means one attempt
	 * @return a future of a handle that must be closed, or of nothing if the key is busy
	 * @see #tryAcquireAsync(LockRequest)
	 */
	default CompletableFuture<Optional<LockHandle>> tryAcquireAsync(String key, Duration waitTime) {
		return tryAcquireAsync(LockRequest.of(key).waitTime(waitTime));
	}

	/**
	 * Returns the value of code that runs while a lock is held. A stop of the application
	 * waits for its end, unless the request
	 * {@linkplain LockRequest#awaitedOnStop(Boolean) says otherwise}.
	 * @param <T> the type of the value
	 * @param <E> what the code throws
	 * @param request the keys and how to lock them
	 * @param code what to run
	 * @return the code's value
	 * @throws E if the code failed
	 * @throws LockNotAcquiredException if a key was busy for the whole wait time
	 * @throws LockBackendException if the store failed or refused
	 * @see #acquire(LockRequest)
	 */
	default <T extends @Nullable Object, E extends Throwable> T execute(LockRequest request, LockedCall<T, E> code)
			throws E {
		try (LockHandle handle = acquire(request.awaitedUnlessSaid())) {
			return code.call();
		}
	}

	/**
	 * Short for {@code execute(LockRequest.of(key), code)}.
	 * @param <T> the type of the value
	 * @param <E> what the code throws
	 * @param key the key
	 * @param code what to run
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
	 * @param <E> what the code throws
	 * @param key the key
	 * @param waitTime the longest time to wait; zero means one attempt
	 * @param code what to run
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
	 * @param <E> what the code throws
	 * @param request the keys and how to lock them
	 * @param code what to run
	 * @throws E if the code failed
	 * @throws LockNotAcquiredException if a key was busy for the whole wait time
	 * @throws LockBackendException if the store failed or refused
	 */
	default <E extends Throwable> void run(LockRequest request, LockedTask<E> code) throws E {
		try (LockHandle handle = acquire(request.awaitedUnlessSaid())) {
			code.run();
		}
	}

	/**
	 * Short for {@code run(LockRequest.of(key), code)}.
	 * @param <E> what the code throws
	 * @param key the key
	 * @param code what to run
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
	 * @param <E> what the code throws
	 * @param key the key
	 * @param waitTime the longest time to wait; zero means one attempt
	 * @param code what to run
	 * @throws E if the code failed
	 * @throws LockNotAcquiredException if the key was busy for the whole wait time
	 * @throws LockBackendException if the store failed or refused
	 * @see #run(LockRequest, LockedTask)
	 */
	default <E extends Throwable> void run(String key, Duration waitTime, LockedTask<E> code) throws E {
		run(LockRequest.of(key).waitTime(waitTime), code);
	}

	/**
	 * Returns the value of code that runs while a lock is held or, if the lock is busy
	 * and for no other reason, that of other code, which runs without the lock. Waits
	 * only if the request has a {@linkplain LockRequest#waitTime(Duration) wait time}. A
	 * stop of the application waits for the end of the code, unless the request
	 * {@linkplain LockRequest#awaitedOnStop(Boolean) says otherwise}.
	 * @param <T> the type of the value
	 * @param <E> what either code throws
	 * @param request the keys and how to lock them
	 * @param code what to run with the lock
	 * @param busy what to run instead if a key is busy; may throw, or return {@code null}
	 * @return the value of the code that has run
	 * @throws E if that code failed
	 * @throws LockBackendException if the store failed or refused
	 * @see #tryAcquire(LockRequest)
	 */
	default <T extends @Nullable Object, E extends Throwable> T tryExecute(LockRequest request, LockedCall<T, E> code,
			LockedCall<T, E> busy) throws E {
		try (LockHandle handle = tryAcquire(request.awaitedUnlessSaid()).orElse(null)) {
			return ((handle != null) ? code : busy).call();
		}
	}

	/**
	 * Short for {@code tryExecute(LockRequest.of(key), code, busy)}.
	 * @param <T> the type of the value
	 * @param <E> what the code throws
	 * @param key the key
	 * @param code what to run with the lock
	 * @param busy what to run instead if the key is busy
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
	 * @param <E> what the code throws
	 * @param key the key
	 * @param waitTime the longest time to wait; zero means one attempt
	 * @param code what to run with the lock
	 * @param busy what to run instead if the key is busy
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
	 * @param <E> what the code throws
	 * @param request the keys and how to lock them
	 * @param code what to run
	 * @return whether the code has run: {@code false} if a key is busy, and for no other
	 * reason
	 * @throws E if the code failed
	 * @throws LockBackendException if the store failed or refused
	 */
	default <E extends Throwable> boolean tryRun(LockRequest request, LockedTask<E> code) throws E {
		try (LockHandle handle = tryAcquire(request.awaitedUnlessSaid()).orElse(null)) {
			if (handle != null) {
				code.run();
			}
			return handle != null;
		}
	}

	/**
	 * Short for {@code tryRun(LockRequest.of(key), code)}.
	 * @param <E> what the code throws
	 * @param key the key
	 * @param code what to run
	 * @return whether the code has run
	 * @throws E if the code failed
	 * @throws LockBackendException if the store failed or refused
	 * @see #tryRun(LockRequest, LockedTask)
	 */
	default <E extends Throwable> boolean tryRun(String key, LockedTask<E> code) throws E {
		return tryRun(LockRequest.of(key), code);
	}

	/**
	 * Short for {@code tryRun(LockRequest.of(key).waitTime(waitTime), code)}.
	 * @param <E> what the code throws
	 * @param key the key
	 * @param waitTime the longest time to wait; zero means one attempt
	 * @param code what to run
	 * @return whether the code has run
	 * @throws E if the code failed
	 * @throws LockBackendException if the store failed or refused
	 * @see #tryRun(LockRequest, LockedTask)
	 */
	default <E extends Throwable> boolean tryRun(String key, Duration waitTime, LockedTask<E> code) throws E {
		return tryRun(LockRequest.of(key).waitTime(waitTime), code);
	}

	/**
	 * Calls code that returns a stage, and holds a lock from before that until the stage
	 * has completed, but blocks no thread. A stop of the application waits for its end,
	 * unless the request {@linkplain LockRequest#awaitedOnStop(Boolean) says otherwise}.
	 * <p>
	 * The code is called where the future of {@link #acquireAsync(LockRequest)} is
	 * completed, never on the calling thread, and may block. While it runs, and no
	 * longer, the lock is {@linkplain LockHandle#current() current} and reentrant there,
	 * for methods that wait. What the stage does later is in no lock, and a request for
	 * the same key waits in vain.
	 * <p>
	 * If the result is cancelled before the lock is there, the request is withdrawn, and
	 * the code is not called. Afterwards a cancellation reaches neither the stage nor the
	 * lock, which is held until the stage has completed by itself.
	 * @param <T> the type of the value
	 * @param request the keys and how to lock them
	 * @param code what to call
	 * @return a future that completes as the stage does, but after the release. It fails
	 * with what {@link #execute(LockRequest, LockedCall)} throws
	 * @see #acquireAsync(LockRequest)
	 */
	default <T extends @Nullable Object> CompletableFuture<T> executeAsync(LockRequest request,
			LockedCall<? extends CompletionStage<T>, ?> code) {
		return LockedStage.run(acquireAsync(request.awaitedUnlessSaid()), code);
	}

	/**
	 * Short for {@code executeAsync(LockRequest.of(key), code)}.
	 * @param <T> the type of the value
	 * @param key the key
	 * @param code what to call
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
	 * @param code what to call
	 * @return a future that completes as the stage does, but after the release
	 * @see #executeAsync(LockRequest, LockedCall)
	 */
	default <T extends @Nullable Object> CompletableFuture<T> executeAsync(String key, Duration waitTime,
			LockedCall<? extends CompletionStage<T>, ?> code) {
		return executeAsync(LockRequest.of(key).waitTime(waitTime), code);
	}

	/**
	 * Calls code that returns a stage as {@link #executeAsync(LockRequest, LockedCall)}
	 * does or, if the lock is busy and for no other reason, other code, which is called
	 * there, too, but in no lock. Waits only if the request has a
	 * {@linkplain LockRequest#waitTime(Duration) wait time}.
	 * @param <T> the type of the value
	 * @param request the keys and how to lock them
	 * @param code what to call with the lock
	 * @param busy what to call instead if a key is busy
	 * @return a future that completes as the stage of the code that was called
	 * @see #tryAcquireAsync(LockRequest)
	 */
	default <T extends @Nullable Object> CompletableFuture<T> tryExecuteAsync(LockRequest request,
			LockedCall<? extends CompletionStage<T>, ?> code, LockedCall<? extends CompletionStage<T>, ?> busy) {
		return LockedStage.tryRun(tryAcquireAsync(request.awaitedUnlessSaid()), code, busy);
	}

	/**
	 * Short for {@code tryExecuteAsync(LockRequest.of(key), code, busy)}.
	 * @param <T> the type of the value
	 * @param key the key
	 * @param code what to call with the lock
	 * @param busy what to call instead if the key is busy
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
	 * @param code what to call with the lock
	 * @param busy what to call instead if the key is busy
	 * @return a future that completes as the stage of the code that was called
	 * @see #tryExecuteAsync(LockRequest, LockedCall, LockedCall)
	 */
	default <T extends @Nullable Object> CompletableFuture<T> tryExecuteAsync(String key, Duration waitTime,
			LockedCall<? extends CompletionStage<T>, ?> code, LockedCall<? extends CompletionStage<T>, ?> busy) {
		return tryExecuteAsync(LockRequest.of(key).waitTime(waitTime), code, busy);
	}

	/**
	 * Asks the store who holds a key, and who waits for it: one read, which changes
	 * nothing. For people and tools; the answer may be out of date when it is here, so
	 * nothing can be decided by it that a lock should decide.
	 * @param key the key
	 * @return what the store knew
	 * @throws LockBackendException if the store failed or refused
	 * @throws UnsupportedOperationException if the store cannot be asked that, as one of
	 * others may do; each of the library can
	 */
	LockStatus inspect(String key);

	/**
	 * Returns whether a handle was given by this lock: a thread may have handles of
	 * several. A decorator asks what it decorates.
	 * @param handle the handle
	 * @return whether it was
	 */
	boolean owns(LockHandle handle);

}
