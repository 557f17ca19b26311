package io.github.distributedlock;

import java.util.Objects;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;

/**
 * A {@link DistributedLock} that forwards to another one, the base class of decorators.
 * All methods that this class does not forward call the forwarded ones. So a decorator
 * that overrides the four methods which acquire a {@link LockRequest} sees each
 * acquisition, also the acquisitions of the methods that run code.
 *
 * <pre class="code">
 * class CountingLock extends ForwardingDistributedLock {
 *     …
 *     &#64;Override
 *     public LockHandle acquire(LockRequest request) {
 *         this.requests.increment();
 *         return super.acquire(request);
 *     }
 *
 *     &#64;Override
 *     public CompletableFuture&lt;LockHandle&gt; acquireAsync(LockRequest request) {
 *         CompletableFuture&lt;LockHandle&gt; answer = super.acquireAsync(request);
 *         answer.whenComplete((handle, failure) -> this.answers.increment());
 *         return answer;
 *     }
 *     … // tryAcquire, tryAcquireAsync
 * }
 * </pre>
 *
 * With Spring Boot, a bean that is declared by its own class and marked {@code @Primary}
 * is used in place of the library's lock, which is injected into the bean. A bean that is
 * declared as {@code DistributedLock} takes the place of the library's lock instead, so
 * that there is none to wrap.
 * <p>
 * A decorator passes on the future that it was given, as here. A dependent of that, such
 * as the future which {@code whenComplete} returns, withdraws no request when the
 * application cancels the dependent, and the handle is lost. The library itself withdraws
 * the request also by a dependent, and undoes a handle that comes too late.
 *
 * @since 1.0
 */
public abstract class ForwardingDistributedLock implements DistributedLock {

	/**
	 * The lock that does the work.
	 */
	protected final DistributedLock delegate;

	/**
	 * Wraps a lock.
	 * @param delegate the lock that does the work
	 */
	protected ForwardingDistributedLock(DistributedLock delegate) {
		this.delegate = Objects.requireNonNull(delegate, "delegate");
	}

	@Override
	public LockHandle acquire(LockRequest request) {
		return this.delegate.acquire(request);
	}

	@Override
	public Optional<LockHandle> tryAcquire(LockRequest request) {
		return this.delegate.tryAcquire(request);
	}

	@Override
	public CompletableFuture<LockHandle> acquireAsync(LockRequest request) {
		return this.delegate.acquireAsync(request);
	}

	@Override
	public CompletableFuture<Optional<LockHandle>> tryAcquireAsync(LockRequest request) {
		return this.delegate.tryAcquireAsync(request);
	}

	@Override
	public LockStatus inspect(String key) {
		return this.delegate.inspect(key);
	}

	@Override
	public boolean owns(LockHandle handle) {
		return this.delegate.owns(handle);
	}

}
