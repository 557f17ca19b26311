package io.github.distributedlock.engine.runtime;

import java.time.Duration;

import io.github.distributedlock.LockException;
import org.jspecify.annotations.Nullable;

/**
 * Numbers and names as people read them in messages.
 */
public final class Text {

	private Text() {
	}

	/**
	 * The owner of a lock, if it is known, at the end of a sentence.
	 */
	public static String heldBy(@Nullable String holder) {
		return (holder != null) ? ", held by " + LockException.printable(holder) : "";
	}

	public static String of(long nanos) {
		return of(Duration.ofNanos(nanos));
	}

	public static String of(Duration duration) {
		long millis = duration.toMillis();
		return (millis < 10_000) ? millis + " ms" : (millis / 1000) + " s";
	}

}
