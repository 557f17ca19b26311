package io.github.distributedlock.reactive;

import java.time.Duration;
import java.util.Objects;
import java.util.concurrent.CompletableFuture;

import io.github.distributedlock.DistributedLock;
import io.github.distributedlock.LockException;
import io.github.distributedlock.LockRequest;
import io.github.distributedlock.OnLost;
import io.github.distributedlock.internal.OutlivingResult;
import io.github.distributedlock.internal.Requests;
import io.github.distributedlock.internal.reactive.LockedInvocation;
import io.github.distributedlock.internal.reactive.LockedResult;
import org.jspecify.annotations.Nullable;
import org.reactivestreams.Publisher;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;

import org.springframework.core.ReactiveAdapter;
import org.springframework.core.ReactiveAdapterRegistry;

/**
 * Puts a lock around a {@code Mono} or a {@code Flux}, in code:
 *
 * <pre class="code">
 * Mono&lt;Receipt&gt; receipt = reactiveLock.execute("order:" + id, pay(id));
 * </pre>
 *
 * Each subscription takes the lock for itself, before the source is subscribed to, and
 * holds the lock until the source completes, fails or is cancelled. No thread waits, and
 * none is blocked by the release. The promises are those of the annotation on a method
 * with such a result:
 * <ul>
 * <li>The value of a {@code Mono}, the completion and an error are passed on after the
 * release. Elements of a {@code Flux} are passed on at once.</li>
 * <li>A cancellation withdraws the request, or cancels the source and releases the
 * lock.</li>
 * <li>{@link LockContext#current} is the lock, in the source. Annotated reactive methods
 * and this client re-enter the lock in the same chain. Blocking requests and
 * {@code acquireAsync} do not.</li>
 * <li>A lock that is {@linkplain #onLost lost} is reported only, as by default, fails the
 * result, or cancels the source.</li>
 * <li>If a reactive transaction is running, the lock is kept until that has
 * completed.</li>
 * </ul>
 * The source must do its work when it is subscribed to: what runs when it is assembled,
 * as the argument of {@code Mono.just}, is not in the lock. A value that does its work
 * later, such as a stream inside of the {@code Mono}, would do so without the lock: the
 * result fails with {@link IllegalStateException} instead.
 * <p>
 * {@code execute} waits for the configured time, 5 seconds by default, and then fails
 * with {@link io.github.distributedlock.LockNotAcquiredException}. {@code tryExecute}
 * waits only if a wait time is given, and then subscribes to another source, without the
 * lock. All other failures of the lock are error signals, too:
 * {@link io.github.distributedlock.LockBackendException} if the store failed or refused,
 * and {@link IllegalArgumentException} for a request whose values do not go together. As
 * with Reactor's operators, the method itself throws what is wrong with an argument:
 * {@link NullPointerException} for {@code null}, and what {@link LockRequest} throws for
 * a key or a wait time, which is {@link IllegalArgumentException}, also for a key that is
 * null or blank.
 * <p>
 * Immutable, and safe for use by many threads.
 *
 * @since 1.0
 * @see DistributedLock
 */
public final class ReactiveDistributedLock {

	private static final ReactiveAdapter MONO = adapter(Mono.class);

	private static final ReactiveAdapter FLUX = adapter(Flux.class);

	private final DistributedLock lock;

	private final OnLost onLost;

	/**
	 * Creates a client whose losses are reported only.
	 * @param lock the lock that does the work
	 */
	public ReactiveDistributedLock(DistributedLock lock) {
		this(lock, OnLost.REPORT);
	}

	private ReactiveDistributedLock(DistributedLock lock, OnLost onLost) {
		this.lock = Objects.requireNonNull(lock, "lock");
		this.onLost = Objects.requireNonNull(onLost, "onLost");
	}

	/**
	 * Returns a client of the same lock with a reaction to a loss. With
	 * {@link OnLost#THROW}, {@link io.github.distributedlock.LockLostException} takes the
	 * place of the value or the completion, and a reactive transaction that was running
	 * before rolls back. With {@link OnLost#INTERRUPT}, the source is cancelled, and the
	 * exception is signalled at once.
	 * @param onLost the reaction
	 * @return a client with that reaction
	 */
	public ReactiveDistributedLock onLost(OnLost onLost) {
		return new ReactiveDistributedLock(this.lock, onLost);
	}

	/**
	 * Returns a {@code Mono} that subscribes to a source while a lock is held. A stop of
	 * the application waits for the end of the source, unless the request
	 * {@linkplain LockRequest#awaitedOnStop(Boolean) says otherwise}.
	 * @param <T> the type of the value
	 * @param request the keys and how to lock them
	 * @param source the source
	 * @return the value or failure of the source, after the release, or the failure of
	 * the lock
	 */
	public <T> Mono<T> execute(LockRequest request, Mono<T> source) {
		return locked(MONO, request, source, null);
	}

	/**
	 * Short for {@code execute(LockRequest.of(key), source)}.
	 * @param <T> the type of the value
	 * @param key the key
	 * @param source the source
	 * @return the value or failure of the source, or the failure of the lock
	 * @see #execute(LockRequest, Mono)
	 */
	public <T> Mono<T> execute(String key, Mono<T> source) {
		return execute(LockRequest.of(key), source);
	}

	/**
	 * Short for {@code execute(LockRequest.of(key).waitTime(waitTime), source)}.
	 * @param <T> the type of the value
	 * @param key the key
	 * @param waitTime the longest time to wait; zero means one attempt
	 * @param source the source
	 * @return the value or failure of the source, or the failure of the lock
	 * @see #execute(LockRequest, Mono)
	 */
	public <T> Mono<T> execute(String key, Duration waitTime, Mono<T> source) {
		return execute(LockRequest.of(key).waitTime(waitTime), source);
	}

	/**
	 * Returns a {@code Flux} that subscribes to a source while a lock is held. A stop of
	 * the application waits for the end of the source, unless the request
	 * {@linkplain LockRequest#awaitedOnStop(Boolean) says otherwise}.
	 * @param <T> the type of the elements
	 * @param request the keys and how to lock them
	 * @param source the source
	 * @return the elements of the source, at once, and its end after the release; or the
	 * failure of the lock
	 */
	public <T> Flux<T> execute(LockRequest request, Flux<T> source) {
		return locked(FLUX, request, source, null);
	}

	/**
	 * Short for {@code execute(LockRequest.of(key), source)}.
	 * @param <T> the type of the elements
	 * @param key the key
	 * @param source the source
	 * @return the elements and the end of the source, or the failure of the lock
	 * @see #execute(LockRequest, Flux)
	 */
	public <T> Flux<T> execute(String key, Flux<T> source) {
		return execute(LockRequest.of(key), source);
	}

	/**
	 * Short for {@code execute(LockRequest.of(key).waitTime(waitTime), source)}.
	 * @param <T> the type of the elements
	 * @param key the key
	 * @param waitTime the longest time to wait; zero means one attempt
	 * @param source the source
	 * @return the elements and the end of the source, or the failure of the lock
	 * @see #execute(LockRequest, Flux)
	 */
	public <T> Flux<T> execute(String key, Duration waitTime, Flux<T> source) {
		return execute(LockRequest.of(key).waitTime(waitTime), source);
	}

	/**
	 * Returns a {@code Mono} that subscribes to a source while a lock is held or, if the
	 * lock is busy and for no other reason, to another source without the lock. Waits
	 * only if the request has a {@linkplain LockRequest#waitTime(Duration) wait time}.
	 * @param <T> the type of the value
	 * @param request the keys and how to lock them
	 * @param source the source
	 * @param busy what to subscribe to instead if a key is busy, {@code Mono.empty()} or
	 * {@code Mono.error(…)} for instance
	 * @return the value or failure of the source that was subscribed to
	 * @see #execute(LockRequest, Mono)
	 */
	public <T> Mono<T> tryExecute(LockRequest request, Mono<T> source, Mono<T> busy) {
		return locked(MONO, request, source, Objects.requireNonNull(busy, "busy"));
	}

	/**
	 * Short for {@code tryExecute(LockRequest.of(key), source, busy)}.
	 * @param <T> the type of the value
	 * @param key the key
	 * @param source the source
	 * @param busy what to subscribe to instead if the key is busy
	 * @return the value or failure of the source that was subscribed to
	 * @see #tryExecute(LockRequest, Mono, Mono)
	 */
	public <T> Mono<T> tryExecute(String key, Mono<T> source, Mono<T> busy) {
		return tryExecute(LockRequest.of(key), source, busy);
	}

	/**
	 * Short for {@code tryExecute(LockRequest.of(key).waitTime(waitTime), source, busy)}.
	 * @param <T> the type of the value
	 * @param key the key
	 * @param waitTime the longest time to wait; zero means one attempt
	 * @param source the source
	 * @param busy what to subscribe to instead if the key is busy
	 * @return the value or failure of the source that was subscribed to
	 * @see #tryExecute(LockRequest, Mono, Mono)
	 */
	public <T> Mono<T> tryExecute(String key, Duration waitTime, Mono<T> source, Mono<T> busy) {
		return tryExecute(LockRequest.of(key).waitTime(waitTime), source, busy);
	}

	/**
	 * Returns a {@code Flux} that subscribes to a source while a lock is held or, if the
	 * lock is busy and for no other reason, to another source without the lock. Waits
	 * only if the request has a {@linkplain LockRequest#waitTime(Duration) wait time}.
	 * @param <T> the type of the elements
	 * @param request the keys and how to lock them
	 * @param source the source
	 * @param busy what to subscribe to instead if a key is busy, {@code Flux.empty()} or
	 * {@code Flux.error(…)} for instance
	 * @return the elements and the end of the source that was subscribed to
	 * @see #execute(LockRequest, Flux)
	 */
	public <T> Flux<T> tryExecute(LockRequest request, Flux<T> source, Flux<T> busy) {
		return locked(FLUX, request, source, Objects.requireNonNull(busy, "busy"));
	}

	/**
	 * Short for {@code tryExecute(LockRequest.of(key), source, busy)}.
	 * @param <T> the type of the elements
	 * @param key the key
	 * @param source the source
	 * @param busy what to subscribe to instead if the key is busy
	 * @return the elements and the end of the source that was subscribed to
	 * @see #tryExecute(LockRequest, Flux, Flux)
	 */
	public <T> Flux<T> tryExecute(String key, Flux<T> source, Flux<T> busy) {
		return tryExecute(LockRequest.of(key), source, busy);
	}

	/**
	 * Short for {@code tryExecute(LockRequest.of(key).waitTime(waitTime), source, busy)}.
	 * @param <T> the type of the elements
	 * @param key the key
	 * @param waitTime the longest time to wait; zero means one attempt
	 * @param source the source
	 * @param busy what to subscribe to instead if the key is busy
	 * @return the elements and the end of the source that was subscribed to
	 * @see #tryExecute(LockRequest, Flux, Flux)
	 */
	public <T> Flux<T> tryExecute(String key, Duration waitTime, Flux<T> source, Flux<T> busy) {
		return tryExecute(LockRequest.of(key).waitTime(waitTime), source, busy);
	}

	@SuppressWarnings("unchecked") // The adapter's type is the one of the source.
	private <R> R locked(ReactiveAdapter type, LockRequest request, Publisher<?> source, @Nullable Publisher<?> busy) {
		Objects.requireNonNull(source, "source");
		return (R) LockedResult.of(type,
				new Execution(this.lock, this.onLost, Requests.awaitedUnlessSaid(request), source, busy));
	}

	private static ReactiveAdapter adapter(Class<?> type) {
		return Objects.requireNonNull(ReactiveAdapterRegistry.getSharedInstance().getAdapter(type));
	}

	/**
	 * The source as the body of a method.
	 */
	private record Execution(DistributedLock lock, OnLost onLost, LockRequest request, Publisher<?> source,
			@Nullable Publisher<?> busy) implements LockedInvocation {

		@Override
		public CompletableFuture<?> acquire() {
			return Requests.acquireAsync(this.lock, this.request, this.busy != null);
		}

		@Override
		public Object proceed() {
			return this.source;
		}

		@Override
		public @Nullable Object skip() {
			return this.busy;
		}

		@Override
		public void check(Object value) {
			String outliving = OutlivingResult.findInContent(value);
			if (outliving != null) {
				throw new IllegalStateException(this + ": the source has emitted " + outliving
						+ OutlivingResult.TOO_EARLY
						+ (OutlivingResult.isReactive(outliving)
								? " (lock around the stream itself, or subscribe to it in the source, as flatMap does)"
								: " (let the source wait for that, and emit the plain result)"));
			}
		}

		@Override
		public String toString() {
			return "Lock " + LockException.printable(this.request.keys());
		}

	}

}
