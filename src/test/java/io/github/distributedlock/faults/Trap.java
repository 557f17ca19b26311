package io.github.distributedlock.faults;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;

import io.github.distributedlock.fixtures.Patience;
import io.github.distributedlock.fixtures.Relay;
import io.github.distributedlock.fixtures.RelayedConnection;
import io.github.distributedlock.fixtures.RespMessage;
import org.awaitility.Awaitility;
import org.awaitility.core.ConditionTimeoutException;

/**
 * Something that happens to the next request of a kind that passes a {@link Relay}, or
 * one of several relays with this trap.
 */
final class Trap implements Relay.Rule {

	private static final byte[] PROXY_ERROR = "-ERR Connection timed out\r\n".getBytes(StandardCharsets.US_ASCII);

	private final Step step;

	private final String key;

	private final Duration delay;

	/** The effect on the reply of the step. */
	private final Effect effect;

	private final AtomicBoolean armed = new AtomicBoolean(true);

	private final AtomicInteger repetitions = new AtomicInteger();

	private volatile List<String> caught = List.of();

	/** The connection of the request that was caught. */
	private volatile RelayedConnection way;

	private final CountDownLatch done = new CountDownLatch(1);

	private Trap(Step step, String key, Duration delay, Effect effect) {
		this.step = step;
		this.key = "lock:{" + key + "}";
		this.delay = delay;
		this.effect = effect;
	}

	private interface Effect {

		void on(RelayedConnection connection, RespMessage reply) throws IOException;

	}

	/**
	 * Loses the reply to the next such request, which the server carries out, and all
	 * later replies on that connection; nobody is told.
	 */
	static Trap loseReply(Step step, String key) {
		return new Trap(step, key, Duration.ZERO, (connection, reply) -> connection.silence());
	}

	/**
	 * Ends the connection in place of the reply to the next such request, which the
	 * server carries out.
	 */
	static Trap cutReply(Step step, String key) {
		return new Trap(step, key, Duration.ZERO, (connection, reply) -> connection.close());
	}

	/**
	 * Answers the next such request, which is carried out, by an error, as a proxy does
	 * that has waited for the server in vain.
	 */
	static Trap failReply(Step step, String key) {
		return new Trap(step, key, Duration.ZERO, (connection, reply) -> connection.answer(PROXY_ERROR));
	}

	/**
	 * Holds the next such request back, with all requests behind, and passes that request
	 * on even if the client has left.
	 */
	static Trap delay(Step step, String key, Duration delay) {
		return new Trap(step, key, delay, (connection, reply) -> connection.answer(reply.bytes()));
	}

	@Override
	public boolean apply(RespMessage request, RelayedConnection connection) throws IOException, InterruptedException {
		boolean caught = catches(request);
		if (caught) {
			this.way = connection;
			Thread.sleep(this.delay.toMillis());
			connection.send(request, (reply) -> {
				this.effect.on(connection, reply);
				this.done.countDown();
			});
			if (!this.delay.isZero()) { // Nobody may read the reply any more.
				this.done.countDown();
			}
		}
		return caught;
	}

	/**
	 * Catches the first request of the kind.
	 */
	private boolean catches(RespMessage request) {
		if (request.words().equals(this.caught)) {
			this.repetitions.incrementAndGet();
		}
		boolean mine = this.armed.get() && this.step.isIn(request.words()) && request.words().contains(this.key)
				&& this.armed.compareAndSet(true, false);
		if (mine) {
			this.caught = request.words();
		}
		return mine;
	}

	/**
	 * How often the request that was caught was sent again, word for word.
	 */
	int repetitions() {
		return this.repetitions.get();
	}

	/**
	 * Waits until the trap has caught a request: the reply is lost, also because the
	 * client has given up before, or the request is passed on.
	 * @throws ConditionTimeoutException if there was no such request
	 */
	void awaitDone() {
		Awaitility.await("a " + this.step + " of " + this.key).atMost(Patience.PATIENCE.plus(this.delay)).until(() -> {
			RelayedConnection way = this.way;
			return this.done.getCount() == 0 || way != null && way.isLeft();
		});
	}

}
