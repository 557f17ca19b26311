package io.github.distributedlock.test;

import java.time.Duration;

import org.awaitility.Awaitility;
import org.junit.jupiter.api.extension.BeforeAllCallback;
import org.junit.jupiter.api.extension.ExtensionContext;

/**
 * How long tests wait, in real time, for what must come: so long that no busy machine
 * makes it too short. JUnit finds this extension by itself, for all tests.
 */
public final class Patience implements BeforeAllCallback {

	/**
	 * The longest that a test waits for one thing.
	 */
	public static final Duration PATIENCE = Duration.ofSeconds(60);

	/**
	 * The time-out of commands that are answered: on a busy machine none of them is to
	 * fail.
	 */
	public static final Duration COMMAND = Duration.ofSeconds(30);

	@Override
	public void beforeAll(ExtensionContext context) {
		Awaitility.setDefaultTimeout(PATIENCE);
	}

}
