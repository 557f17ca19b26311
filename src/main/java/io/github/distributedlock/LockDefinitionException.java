package io.github.distributedlock;

import org.jspecify.annotations.Nullable;

/**
 * A lock annotation cannot mean anything: a wrong expression, duration, fallback or
 * place. Says which method, attribute and value, and what to write instead.
 */
public class LockDefinitionException extends LockException {

	/**
	 * Creates the exception for an annotation that cannot work.
	 * @param message the method, the attribute, its value and the remedy
	 * @param cause the parser's exception, if any
	 */
	public LockDefinitionException(String message, @Nullable Throwable cause) {
		super(message, cause);
	}

}
