package io.github.distributedlock.engine;

import java.time.Duration;

/**
 * Numbers as people read them in messages.
 */
final class Text {

	private Text() {
	}

	static String of(long nanos) {
		return of(Duration.ofNanos(nanos));
	}

	static String of(Duration duration) {
		long millis = duration.toMillis();
		return (millis < 10_000) ? millis + " ms" : (millis / 1000) + " s";
	}

}
