package io.github.distributedlock.aop;

import io.github.distributedlock.LockException;
import org.jspecify.annotations.Nullable;

/**
 * A value inside an expression that must not become part of a key.
 */
final class UnusableValueException extends IllegalArgumentException {

	private static final long serialVersionUID = 1L;

	private final @Nullable String expression;

	/**
	 * Creates the exception.
	 * @param expression what has the value, if that is known
	 * @param why what is wrong with the value, to be put after the expression
	 */
	UnusableValueException(@Nullable String expression, String why) {
		super(why);
		this.expression = expression;
	}

	/**
	 * Finds the one behind a failed evaluation. SpEL wraps what is thrown while it
	 * converts the arguments of a method.
	 */
	static @Nullable UnusableValueException behind(Throwable failure) {
		for (Throwable cause : LockException.causes(failure)) {
			if (cause instanceof UnusableValueException unusable) {
				return unusable;
			}
		}
		return null;
	}

	@Nullable String expression() {
		return this.expression;
	}

}
