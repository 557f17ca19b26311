package io.github.distributedlock.protocol;

/**
 * The rules of JVMs that keep readers, writers and holders of permits safe, and all
 * awake.
 */
enum SharedRule {

	/**
	 * A writer counts as a reader from before the lock is shared.
	 */
	DOWNGRADED_BEFORE_IT_IS_SENT,

	/**
	 * When a request has the lock together with others, the next one of its JVM asks at
	 * once.
	 */
	NEXT_ASKS_AT_ONCE

}
