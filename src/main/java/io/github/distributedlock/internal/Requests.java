package io.github.distributedlock.internal;

import java.util.List;
import java.util.Objects;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;

import io.github.distributedlock.DistributedLock;
import io.github.distributedlock.LockException;
import io.github.distributedlock.LockHandle;
import io.github.distributedlock.LockRequest;
import org.jspecify.annotations.Nullable;

/**
 * What those need who run code with a lock, whoever's the lock is: that of an engine, a
 * decorator's or a mock.
 */
public final class Requests {

	private static final int MOST_SHOWN = 250;

	private Requests() {
	}

	/**
	 * Joins the keys of a request for a trace or a recording.
	 * @return the keys, with commas between them, and an ellipsis after 250 characters
	 */
	public static String shownKeys(LockRequest request) {
		List<String> keys = request.keys();
		String joined = String.join(",", keys.subList(0, Math.min(keys.size(), MOST_SHOWN)));
		return (joined.length() > MOST_SHOWN) ? joined.substring(0, MOST_SHOWN) + "…" : joined;
	}

	/**
	 * Returns the request that is made for code of others: a stop of the application
	 * waits, unless the request says otherwise.
	 */
	public static LockRequest awaitedUnlessSaid(LockRequest request) {
		// Whether the request says anything is no API of requests.
		return Objects.requireNonNull(request, "request").equals(request.awaitedOnStop(null))
				? request.awaitedOnStop(true) : request;
	}

	/**
	 * Acquires a lock for code of others.
	 */
	public static LockHandle acquire(DistributedLock lock, LockRequest request) {
		return requireAnswer(lock.acquire(awaitedUnlessSaid(request)), request);
	}

	/**
	 * Acquires a lock for code of others, or returns {@code null} if the lock is busy.
	 */
	public static @Nullable LockHandle tryAcquire(DistributedLock lock, LockRequest request) {
		return requireAnswer(lock.tryAcquire(awaitedUnlessSaid(request)), request).orElse(null);
	}

	/**
	 * Asks a lock for a handle.
	 * @param mayBeBusy whether a busy lock is an answer, and no failure
	 * @return the future of a handle, or of an optional handle if the lock may be busy
	 */
	public static CompletableFuture<?> acquireAsync(DistributedLock lock, LockRequest request, boolean mayBeBusy) {
		return requireAnswer(mayBeBusy ? lock.tryAcquireAsync(request) : lock.acquireAsync(request), request);
	}

	/**
	 * Returns the handle in the answer of a lock: a handle, or an optional handle if the
	 * lock may be busy.
	 * @return the handle, or {@code null} if there is none
	 */
	public static @Nullable LockHandle handleIn(@Nullable Object answer) {
		return (LockHandle) ((answer instanceof Optional<?> found) ? found.orElse(null) : answer);
	}

	/**
	 * Returns the answer of the lock, or fails if there is none.
	 */
	public static <T> T requireAnswer(@Nullable T answer, LockRequest request) {
		if (answer == null) {
			throw noAnswer(request);
		}
		return answer;
	}

	/**
	 * Returns the failure of a request that a lock answers by {@code null}: such a lock
	 * is a mock that was given no answer.
	 */
	public static IllegalStateException noAnswer(LockRequest request) {
		return new IllegalStateException("The DistributedLock gave no handle for lock "
				+ LockException.printable(request.keys()) + ". If it is a mock, let it give one, as by"
				+ " given(lock.acquire(any(LockRequest.class))).willReturn(mock(LockHandle.class)). Or have real"
				+ " locks in the test: distributed-lock.backend=memory");
	}

	/**
	 * Withdraws a request that nobody waits for any longer. This never cancels the given
	 * future itself, unless that is the request: a dependent of a decorator, once
	 * cancelled, drops the handle that arrives nevertheless. So a request that cannot be
	 * withdrawn is answered, and who has asked has to undo the handle.
	 * @param answer the future that the lock has returned
	 */
	public static void withdraw(CompletableFuture<?> answer) {
		if (answer instanceof Withdrawable request) {
			request.withdraw();
		}
	}

	/**
	 * A future that knows the request which the future answers.
	 */
	public interface Withdrawable {

		/**
		 * Cancels the request, also if this future is a dependent.
		 */
		void withdraw();

	}

}
