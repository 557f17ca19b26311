package io.github.distributedlock.reactive;

import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;

import org.jspecify.annotations.Nullable;
import reactor.core.CoreSubscriber;
import reactor.core.Exceptions;
import reactor.core.publisher.Operators;
import reactor.util.context.Context;

/**
 * Tells a subscriber of elements by one thread, and of the end by any; of an only value
 * with the end.
 * <p>
 * Invariants: the number has {@link #LAST} in it from the moment on at which the end is
 * known, and counts the elements that are being passed on: several where passing one on
 * asks for the next. No element is passed on after the end, and the end not while one is:
 * then the thread that passes the last one on tells it. The end is told once. What the
 * subscriber throws at an element is for the caller, at the only value an end, and at the
 * end dropped.
 */
final class SerialSubscriber {

	private static final int LAST = 1 << 30;

	private final CoreSubscriber<? super Object> actual;

	private final AtomicInteger passing = new AtomicInteger();

	/**
	 * The only value, until it is passed on or discarded.
	 */
	private final AtomicReference<@Nullable Object> only = new AtomicReference<>();

	private volatile @Nullable Throwable failure;

	SerialSubscriber(CoreSubscriber<? super Object> actual) {
		this.actual = actual;
	}

	/**
	 * Passes an element on, unless the end was there before.
	 */
	void pass(Object element) {
		int number = this.passing.getAndUpdate((known) -> (known < LAST) ? known + 1 : known);
		if (number >= LAST) {
			Operators.onDiscard(element, this.actual.currentContext());
			return;
		}
		try {
			this.actual.onNext(element);
		}
		finally {
			if (this.passing.decrementAndGet() == LAST) {
				tell();
			}
		}
	}

	/**
	 * Keeps the only value until the end.
	 */
	void keep(Object value) {
		this.only.set(value);
	}

	/**
	 * Discards the value that is kept, if there is one.
	 */
	void discard() {
		Operators.onDiscard(this.only.getAndSet(null), this.actual.currentContext());
	}

	/**
	 * Tells of the end; to be called once.
	 * @param failure why it ends, or {@code null} if it is complete
	 */
	void end(@Nullable Throwable failure) {
		this.failure = failure;
		if (this.passing.getAndAdd(LAST) == 0) {
			tell();
		}
	}

	private void tell() {
		try {
			Throwable why = (this.failure != null) ? this.failure : passOnly();
			if (why != null) {
				this.actual.onError(why);
			}
			else {
				this.actual.onComplete();
			}
		}
		catch (Throwable ex) {
			drop(ex, this.actual.currentContext());
		}
		finally {
			discard();
		}
	}

	/**
	 * Passes the only value on, if there is one.
	 * @return what that has thrown: what Reactor lets through, nobody here would hear of
	 */
	private @Nullable Throwable passOnly() {
		try {
			Object value = this.only.getAndSet(null);
			if (value != null) {
				this.actual.onNext(value);
			}
			return null;
		}
		catch (Throwable ex) {
			return ex;
		}
	}

	/**
	 * Drops what code of others has thrown where nobody can be told any more, as Reactor
	 * does: what it regards as fatal for the JVM is thrown on.
	 */
	static void drop(Throwable thrown, Context context) {
		try {
			Operators.onErrorDropped(thrown, context);
		}
		finally {
			Exceptions.throwIfJvmFatal(thrown);
		}
	}

}
