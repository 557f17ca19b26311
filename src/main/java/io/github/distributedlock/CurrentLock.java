package io.github.distributedlock;

import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.Predicate;
import java.util.function.Supplier;

import org.jspecify.annotations.Nullable;

/**
 * The binding of a {@link LockHandle} to a thread, which makes the handle
 * {@linkplain LockHandle#current() current} there and the lock reentrant, until the
 * binding or the handle is closed.
 * <p>
 * Acquiring binds to the acquiring thread, unless the request is
 * {@linkplain LockRequest#detached(boolean) detached}. To hand a lock to a task on
 * another thread, bind it there for as long as the task runs, while the handle stays
 * open:
 *
 * <pre class="code">
 * LockHandle handle = LockHandle.current().orElseThrow();
 * executor.submit(() -> {
 *     try (CurrentLock binding = CurrentLock.bind(handle)) {
 *         … // calls that need the lock re-enter it
 *     }
 * });
 * </pre>
 *
 * The threads that share a handle this way are not excluded from each other.
 * <p>
 * {@link #bind} and {@link #close} are for users. The other methods are no API: they are
 * public only for the engine and the advice of this library, and may change.
 * <p>
 * Invariants: the bindings of a thread are a stack, linked from the innermost outwards,
 * whose links that thread alone changes. Any thread may end a binding at any time, and a
 * binding that has ended has no handle. The thread drops it when it looks at the stack
 * the next time; then it refers to itself alone. Whoever ends the last binding of a stack
 * empties the stack: a thread that outlives the application and never looks again would
 * keep its class loader. What stays with the thread is an empty reference of the JDK.
 *
 * @since 1.0
 */
public final class CurrentLock implements AutoCloseable {

	private static final ThreadLocal<AtomicReference<@Nullable CurrentLock>> INNERMOST = ThreadLocal
		.withInitial(AtomicReference::new);

	private static final ThreadLocal<@Nullable List<LockHandle>> CHAIN = new ThreadLocal<>();

	/**
	 * {@code null} once this binding has ended.
	 */
	private volatile @Nullable LockHandle handle;

	/**
	 * Whether the thread may re-enter the lock.
	 */
	private final boolean reentrant;

	private final Thread thread = Thread.currentThread();

	/**
	 * The innermost binding of the thread.
	 */
	private final AtomicReference<@Nullable CurrentLock> innermost = INNERMOST.get();

	private volatile @Nullable CurrentLock outer;

	private CurrentLock(LockHandle handle, boolean reentrant) {
		this.handle = handle;
		this.reentrant = reentrant;
	}

	/**
	 * Binds a handle to the calling thread, as its innermost lock, until it is closed.
	 * @param handle the handle of a lock
	 * @return the binding, to be closed when the thread has done with the lock; closing
	 * it does not release the lock
	 */
	public static CurrentLock bind(LockHandle handle) {
		return push(new CurrentLock(Objects.requireNonNull(handle, "handle"), true));
	}

	/**
	 * Makes a handle current on the calling thread, as its innermost lock, but lets
	 * nothing re-enter it there: for code that may run beside the one that holds the
	 * lock. No API.
	 * @param handle the handle of a lock
	 * @return the binding, to be closed by the same thread
	 */
	public static CurrentLock show(LockHandle handle) {
		return push(new CurrentLock(handle, false));
	}

	private static CurrentLock push(CurrentLock binding) {
		binding.outer = open(binding.innermost);
		binding.innermost.set(binding);
		return binding;
	}

	/**
	 * Takes a handle away from the calling thread without giving the lock back: it is no
	 * longer current there and cannot be re-entered. No API: users acquire by a
	 * {@linkplain LockRequest#detached(boolean) detached} request instead.
	 * @param handle the handle of a lock
	 */
	public static void unbind(LockHandle handle) {
		for (CurrentLock binding = INNERMOST.get().get(); binding != null; binding = binding.outer) {
			if (binding.handle == handle) {
				binding.handle = null;
			}
		}
		open();
	}

	private static @Nullable CurrentLock open() {
		return open(INNERMOST.get());
	}

	/**
	 * Drops those of the thread's bindings that are over.
	 * @param innermost the stack of the calling thread
	 * @return the innermost of those that are left
	 */
	private static @Nullable CurrentLock open(AtomicReference<@Nullable CurrentLock> innermost) {
		CurrentLock inner = null;
		CurrentLock binding = innermost.get();
		while (binding != null) {
			CurrentLock outer = binding.outer;
			if (binding.isOpen()) {
				inner = binding;
			}
			else {
				if (inner != null) {
					inner.outer = outer;
				}
				else {
					innermost.set(outer);
				}
				binding.outer = binding;
			}
			binding = outer;
		}
		return innermost.get();
	}

	private boolean isOpen() {
		LockHandle handle = this.handle;
		return handle != null && !handle.isClosed();
	}

	/**
	 * The open handles that are bound to the calling thread, which is inside of their
	 * locks; not those that it is only {@linkplain #show shown}. No API.
	 * @return the handles, innermost first
	 */
	public static List<LockHandle> all() {
		CurrentLock innermost = open();
		if (innermost == null) {
			return List.of(); // Mostly, and then nothing is made.
		}
		List<LockHandle> handles = new ArrayList<>();
		for (CurrentLock binding = innermost; binding != null; binding = binding.outer) {
			LockHandle handle = binding.handle;
			if (binding.reentrant && handle != null) {
				handles.add(handle);
			}
		}
		return handles;
	}

	/**
	 * The innermost open handle that is bound to the calling thread, holds a key and
	 * fulfils a condition. No API.
	 * @param key the key
	 * @param condition what else is asked of it
	 * @return the handle, or empty if there is none
	 */
	public static Optional<LockHandle> find(String key, Predicate<? super LockHandle> condition) {
		return all().stream().filter((handle) -> handle.keys().contains(key)).filter(condition).findFirst();
	}

	/**
	 * Runs code as part of what has no thread of its own, as a reactive chain: what it
	 * requests {@linkplain DistributedLock#acquireAsync(LockRequest) without blocking}
	 * re-enters what that holds. No API.
	 * @param <T> the type of the result
	 * @param handles what is held, innermost first
	 * @param code what to run
	 * @return its result
	 */
	public static <T> T inChain(List<LockHandle> handles, Supplier<T> code) {
		List<LockHandle> before = CHAIN.get();
		CHAIN.set(handles);
		try {
			return code.get();
		}
		finally {
			if (before != null) {
				CHAIN.set(before);
			}
			else {
				CHAIN.remove();
			}
		}
	}

	/**
	 * What a request may re-enter that blocks no thread. No API.
	 * @return the handles, innermost first
	 */
	public static List<LockHandle> chain() {
		List<LockHandle> handles = CHAIN.get();
		return (handles != null) ? handles : List.of();
	}

	static Optional<LockHandle> innermost() {
		return Optional.ofNullable(open()).map(CurrentLock::handle);
	}

	/**
	 * What is bound. No API.
	 * @return the handle, or {@code null} if the binding has ended
	 */
	public @Nullable LockHandle handle() {
		return this.handle;
	}

	/**
	 * Where this binding makes its handle current. No API.
	 * @return the thread, or {@code null} if the binding has ended
	 */
	public @Nullable Thread thread() {
		return (this.handle != null) ? this.thread : null;
	}

	/**
	 * Ends this binding; from any thread, any number of times.
	 */
	@Override
	public void close() {
		this.handle = null;
		if (this.thread == Thread.currentThread()) {
			open(this.innermost);
		}
		else {
			emptyIfOver();
		}
	}

	/**
	 * Empties the stack of another thread if all bindings there are over. The thread may
	 * drop some of them meanwhile, and then this looks again.
	 */
	private void emptyIfOver() {
		CurrentLock first = this.innermost.get();
		CurrentLock binding = first;
		while (binding != null && !binding.isOpen()) {
			CurrentLock outer = binding.outer;
			if (outer == binding) {
				first = this.innermost.get();
				outer = first;
			}
			binding = outer;
		}
		if (binding == null) {
			this.innermost.compareAndSet(first, null); // Fails if there is a new one.
		}
	}

}
