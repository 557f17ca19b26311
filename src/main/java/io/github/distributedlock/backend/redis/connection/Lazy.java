package io.github.distributedlock.backend.redis.connection;

import java.util.function.Consumer;
import java.util.function.Supplier;

import org.jspecify.annotations.Nullable;

/**
 * Something that is made at first use and ended once, or now and then replaced.
 * <p>
 * States: not made, made, ended. Nothing is made after the end.
 *
 * @param <T> the type of it
 */
public final class Lazy<T> {

	private final Supplier<T> maker;

	private final Consumer<T> ender;

	private volatile @Nullable T made;

	private boolean ended;

	public Lazy(Supplier<T> maker, Consumer<T> ender) {
		this.maker = maker;
		this.ender = ender;
	}

	public T get() {
		T made = this.made;
		return (made != null) ? made : make();
	}

	/**
	 * What is made already.
	 * @return it, {@code null} if there is none
	 */
	@Nullable T peek() {
		return this.made;
	}

	private synchronized T make() {
		if (this.ended) {
			throw new IllegalStateException("the lock backend is closed");
		}
		T made = this.made;
		if (made == null) {
			made = this.maker.get();
			this.made = made;
		}
		return made;
	}

	/**
	 * Ends what is made, so that the next to ask for it gets another.
	 */
	synchronized void renew() {
		T made = this.made;
		this.made = null;
		if (made != null) {
			this.ender.accept(made);
		}
	}

	public synchronized void end() {
		this.ended = true;
		renew();
	}

}
