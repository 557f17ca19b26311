package io.github.distributedlock.internal;

import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.Predicate;
import java.util.function.Supplier;

import io.github.distributedlock.DistributedLock;
import io.github.distributedlock.LockHandle;
import io.github.distributedlock.LockRequest;
import org.jspecify.annotations.Nullable;

/**
 * The binding of a {@link LockHandle} to a thread, of which users know
 * {@link io.github.distributedlock.CurrentLock} only.
 * <p>
 * Invariants: the bindings of a thread are a stack, linked from the innermost binding
 * outwards. Only that thread changes the links. Any thread may end a binding at any time,
 * and a binding that has ended has no handle. The bound thread drops an ended binding
 * when the thread next reads the stack; a dropped binding links only to itself. The
 * thread that ends the last binding of a stack empties the stack: otherwise a thread that
 * outlives the application and never reads the stack again would retain the class loader
 * of the application. Only an empty reference of the JDK stays with the thread.
 */
public final class Binding implements AutoCloseable {

	private static final ThreadLocal<AtomicReference<@Nullable Binding>> INNERMOST = ThreadLocal
		.withInitial(AtomicReference::new);

	private static final ThreadLocal<@Nullable List<LockHandle>> CHAIN = new ThreadLocal<>();

	/**
	 * The bound handle, {@code null} once this binding has ended.
	 */
	private volatile @Nullable LockHandle handle;

	/**
	 * {@code true} if the thread may re-enter the lock, {@code false} if the handle is
	 * only shown.
	 */
	private final boolean reentrant;

	private final Thread thread = Thread.currentThread();

	/**
	 * The innermost binding of the thread: the top of the stack.
	 */
	private final AtomicReference<@Nullable Binding> innermost = INNERMOST.get();

	private volatile @Nullable Binding outer;

	private Binding(LockHandle handle, boolean reentrant) {
		this.handle = handle;
		this.reentrant = reentrant;
	}

	/**
	 * Binds a handle to the calling thread, as the innermost lock of the thread, until
	 * the binding or the handle is closed.
	 * @param handle the handle of a lock
	 * @return the binding, to be closed when the thread no longer needs the lock; closing
	 * the binding does not release the lock
	 */
	public static Binding bind(LockHandle handle) {
		return push(new Binding(Objects.requireNonNull(handle, "handle"), true));
	}

	/**
	 * Makes a handle current on the calling thread, as the innermost lock of the thread,
	 * but no request re-enters the lock there. This method is for code that may run
	 * concurrently with the holder of the lock.
	 * @param handle the handle of a lock
	 * @return the binding, to be closed by the same thread
	 */
	public static Binding show(LockHandle handle) {
		return push(new Binding(handle, false));
	}

	private static Binding push(Binding binding) {
		binding.outer = open(binding.innermost);
		binding.innermost.set(binding);
		return binding;
	}

	/**
	 * Unbinds a handle from the calling thread without releasing the lock: the handle is
	 * no longer current there, and no request re-enters the lock there. Users acquire by
	 * a {@linkplain LockRequest#detached(boolean) detached} request instead.
	 * @param handle the handle of a lock
	 */
	public static void unbind(LockHandle handle) {
		for (Binding binding = INNERMOST.get().get(); binding != null; binding = binding.outer) {
			if (binding.handle == handle) {
				binding.handle = null;
			}
		}
		open();
	}

	private static @Nullable Binding open() {
		return open(INNERMOST.get());
	}

	/**
	 * Drops the ended bindings of the thread.
	 * @param innermost the stack of the calling thread
	 * @return the innermost of the bindings that are left, or {@code null} if none is
	 * left
	 */
	private static @Nullable Binding open(AtomicReference<@Nullable Binding> innermost) {
		Binding inner = null;
		Binding binding = innermost.get();
		while (binding != null) {
			Binding outer = binding.outer;
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
	 * Returns the open handles that are bound to the calling thread: the thread is inside
	 * their locks. Handles that are only {@linkplain #show shown} are left out.
	 * @return the handles, innermost first
	 */
	public static List<LockHandle> all() {
		Binding innermost = open();
		if (innermost == null) {
			return List.of(); // The most frequent case, without an allocation.
		}
		List<LockHandle> handles = new ArrayList<>();
		for (Binding binding = innermost; binding != null; binding = binding.outer) {
			LockHandle handle = binding.handle;
			if (binding.reentrant && handle != null) {
				handles.add(handle);
			}
		}
		return handles;
	}

	/**
	 * Returns the innermost open handle that is bound to the calling thread, holds a key
	 * and fulfils a condition.
	 * @param key the key
	 * @param condition the condition on the handle
	 * @return the handle, or empty if there is no such handle
	 */
	public static Optional<LockHandle> find(String key, Predicate<? super LockHandle> condition) {
		return all().stream().filter((handle) -> handle.keys().contains(key)).filter(condition).findFirst();
	}

	/**
	 * Runs code as part of a chain without a thread, such as a reactive chain:
	 * {@linkplain DistributedLock#acquireAsync(LockRequest) asynchronous} requests of the
	 * code re-enter the locks that the chain holds.
	 * @param <T> the type of the result
	 * @param handles the handles of the locks that the chain holds, innermost first
	 * @param code the code to run
	 * @return the result of the code
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
	 * Returns the handles of the locks that an asynchronous request of the calling code
	 * may re-enter.
	 * @return the handles, innermost first
	 */
	public static List<LockHandle> chain() {
		List<LockHandle> handles = CHAIN.get();
		return (handles != null) ? handles : List.of();
	}

	/**
	 * Returns the innermost open handle that is bound to the calling thread.
	 * @return the handle, or empty if the thread is inside no lock
	 */
	public static Optional<LockHandle> innermost() {
		return Optional.ofNullable(open()).map(Binding::handle);
	}

	/**
	 * Returns the bound handle.
	 * @return the handle, or {@code null} if the binding has ended
	 */
	public @Nullable LockHandle handle() {
		return this.handle;
	}

	/**
	 * Returns the thread on which this binding makes the handle current.
	 * @return the thread, or {@code null} if the binding has ended
	 */
	public @Nullable Thread thread() {
		return (this.handle != null) ? this.thread : null;
	}

	/**
	 * Ends this binding. Any thread may call this method, any number of times.
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
	 * Empties the stack of another thread if all bindings there have ended. The other
	 * thread may drop bindings meanwhile; this method then starts again from the top of
	 * the stack.
	 */
	private void emptyIfOver() {
		Binding first = this.innermost.get();
		Binding binding = first;
		while (binding != null && !binding.isOpen()) {
			Binding outer = binding.outer;
			if (outer == binding) {
				first = this.innermost.get();
				outer = first;
			}
			binding = outer;
		}
		if (binding == null) {
			this.innermost.compareAndSet(first, null); // Fails if there is a new binding.
		}
	}

}
