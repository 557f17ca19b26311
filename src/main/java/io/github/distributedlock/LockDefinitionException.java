package io.github.distributedlock;

import java.util.List;

import org.jspecify.annotations.Nullable;

/**
 * A lock annotation cannot mean anything: a wrong expression, duration, fallback or
 * place. Says which method, attribute and value, and what to write instead.
 *
 * @since 1.0
 */
public class LockDefinitionException extends LockException {

	/**
	 * Creates the exception for an annotation that cannot work.
	 * @param problem the method, the attribute, its value and what is wrong with it
	 * @param remedy what to write instead, {@code null} if it is not known
	 * @param cause the parser's exception, if any
	 */
	public LockDefinitionException(String problem, @Nullable String remedy, @Nullable Throwable cause) {
		super(problem, remedy, List.of(), cause);
	}

}
