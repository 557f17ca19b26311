package io.github.distributedlock.reactive;

import java.util.concurrent.atomic.AtomicInteger;

import org.jspecify.annotations.Nullable;
import reactor.core.CoreSubscriber;
import reactor.core.publisher.Operators;

/**
 * Tells a subscriber of elements by one thread, and of the end by any.
 * <p>
 * Invariants: the number has {@link #LAST} in it from the moment on at which the end is
 * known, and counts the elements that are being passed on: several where passing one on
 * asks for the next. No element is passed on after the end, and the end not while one is:
 * then the thread that passes the last one on tells it. The end is told once.
 */
final class SerialSubscriber {

	private static final int LAST = 1 << 30;

	private final CoreSubscriber<? super Object> actual;

	private final AtomicInteger passing = new AtomicInteger();

	private volatile @Nullable Object value;

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
	 * Tells of the end; to be called once.
	 * @param value the only value, if there is one
	 * @param failure why it ends, or {@code null} if it is complete
	 */
	void end(@Nullable Object value, @Nullable Throwable failure) {
		this.value = value;
		this.failure = failure;
		if (this.passing.getAndAdd(LAST) == 0) {
			tell();
		}
	}

	private void tell() {
		Throwable why = this.failure;
		Object only = this.value;
		if (why != null) {
			this.actual.onError(why);
			Operators.onDiscard(only, this.actual.currentContext());
			return;
		}
		if (only != null) {
			this.actual.onNext(only);
		}
		this.actual.onComplete();
	}

}
