package io.github.distributedlock.engine;

import io.github.distributedlock.backend.ReleaseNotification;
import io.github.distributedlock.backend.Waiter;
import io.github.distributedlock.engine.KeyQueue.QueueKey;
import io.github.distributedlock.fixtures.Patience;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * The message of a grant that comes while its request takes the same key from an answer.
 */
class GrantWhileAnsweredTests {

	private static final Waiter US = Waiter.exclusive("us");

	private final LocalQueue queue = new LocalQueue((queue, entry) -> {
	}, null);

	private final QueueEntry entry = new QueueEntry(this.queue, new QueueKey("k", US), false, false, null);

	private final KeyQueue requests = new KeyQueue(this.entry);

	@Test
	void isNotGivenBack() throws InterruptedException {
		Thread requesting = new Thread(() -> this.entry.acquired("us:1"));
		boolean known;
		synchronized (this.requests) {
			requesting.start();
			Awaitility.await("the request to begin to hold")
				.atMost(Patience.PATIENCE)
				.until(() -> requesting.getState() == Thread.State.BLOCKED);
			known = this.requests.granted(ReleaseNotification.granted("k", US, "us:1", 1), "us:1");
		}
		requesting.join(60_000);
		assertThat(known).as("known, and so not forgotten").isTrue();
		assertThat(this.requests.unwanted()).isEmpty();
	}

}
