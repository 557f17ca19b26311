package io.github.distributedlock;

import org.jspecify.annotations.Nullable;

/**
 * What all exceptions of this library have in common.
 */
public abstract class LockException extends RuntimeException {

	LockException(String message, @Nullable Throwable cause) {
		super(message, cause);
	}

}
