package io.github.distributedlock;

import java.util.List;

import org.jspecify.annotations.Nullable;

/**
 * A lock annotation is not valid: the expression, duration, fallback or place is wrong.
 * The message names the method, the attribute and the value, and says what to write
 * instead.
 *
 * @since 1.0
 */
public class LockDefinitionException extends LockException {

	/**
	 * Creates the exception for an annotation that cannot work.
	 * @param problem the method, the attribute, the value and what is wrong with the
	 * value
	 * @param remedy what to write instead, {@code null} if not known
	 * @param cause the parser's exception, if any
	 */
	public LockDefinitionException(String problem, @Nullable String remedy, @Nullable Throwable cause) {
		super(problem, remedy, List.of(), cause);
	}

}
