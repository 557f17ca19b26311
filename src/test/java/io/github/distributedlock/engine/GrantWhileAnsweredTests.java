package io.github.distributedlock.engine;

import java.time.Duration;

import io.github.distributedlock.backend.ReleaseNotification;
import io.github.distributedlock.backend.Waiter;
import io.github.distributedlock.engine.LocalKey.Heard;
import io.github.distributedlock.fixtures.Patience;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * The message of a grant that comes while its request takes the same key from an answer.
 */
class GrantWhileAnsweredTests {

	private static final Waiter US = Waiter.exclusive("us");

	private final LocalQueue queue = new LocalQueue((key) -> {
	}, null);

	private final LocalKey.Entry entry = this.queue.enter(new QueueKey("k", US), false, false,
			new Wait(new StillTime(), Duration.ZERO, false));

	private final LocalKey key = this.entry.key();

	@Test
	void isNotGivenBack() throws InterruptedException {
		Thread requesting = new Thread(() -> this.entry.acquired("us:1"));
		Heard known;
		synchronized (this.key) {
			requesting.start();
			Awaitility.await("the request to begin to hold")
				.atMost(Patience.PATIENCE)
				.until(() -> requesting.getState() == Thread.State.BLOCKED);
			known = this.key.granted(ReleaseNotification.granted("k", US, "us:1", 1), "us:1");
		}
		requesting.join(60_000);
		assertThat(known).as("known, and so not forgotten").isEqualTo(Heard.NOTED);
		assertThat(this.key.unwanted()).isEmpty();
	}

}
