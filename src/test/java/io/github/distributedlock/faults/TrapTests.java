package io.github.distributedlock.faults;

import java.time.Duration;
import java.util.concurrent.CompletableFuture;

import io.github.distributedlock.fixtures.Patience;
import io.github.distributedlock.fixtures.RedisServers;
import io.github.distributedlock.fixtures.Relay;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import redis.clients.jedis.Jedis;
import redis.clients.jedis.JedisPubSub;
import redis.clients.jedis.Protocol;
import redis.clients.jedis.exceptions.JedisConnectionException;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.awaitility.Awaitility.await;

class TrapTests {

	private static final int TIMEOUT_MILLIS = 1_000;

	private static final String KEY = "k";

	private static final String LOCK = "lock:{k}";

	private final RedisServers.Server server = RedisServers.shared(RedisServers.EMBEDDED);

	private final Relay relay = new Relay(this.server.port());

	private final Jedis client = connect();

	private final Jedis admin = this.server.admin();

	@BeforeEach
	void clean() {
		this.admin.del(LOCK, "other");
	}

	@AfterEach
	void close() {
		clean(); // The server is others', too.
		this.client.close();
		this.admin.close();
		this.relay.close();
	}

	@Test
	void passesOnWhateverItIs() {
		assertThat(this.client.set(LOCK, "a\r\nb ⇄")).isEqualTo("OK");
		assertThat(this.client.get(LOCK)).isEqualTo("a\r\nb ⇄");
		assertThat(this.client.get("absent")).isNull();
		assertThat(this.client.eval("return {1, {'x', false, {}}, 'y'}")).hasToString("[1, [x, null, []], y]");
		assertThat(this.client.sendCommand(Protocol.Command.HELLO, "3")).isNotNull();
		assertThat(this.client.configGet("maxmemory")).containsKey("maxmemory");
	}

	@Test
	void passesOnWhatASubscriptionIsTold() throws InterruptedException {
		CompletableFuture<String> heard = new CompletableFuture<>();
		JedisPubSub subscription = new JedisPubSub() {

			@Override
			public void onMessage(String channel, String message) {
				heard.complete(message);
				unsubscribe();
			}

		};
		Thread subscriber = new Thread(() -> this.client.subscribe(subscription, "channel"));
		subscriber.start();
		await().until(() -> this.admin.publish("channel", "news") == 1);
		assertThat(heard).succeedsWithin(Patience.PATIENCE).isEqualTo("news");
		Patience.join(subscriber);
	}

	@Test
	void losesTheReplyAndAllThatComesAfterIt() throws InterruptedException {
		Trap trap = set(Trap.loseReply(Step.ACQUIRE, KEY));
		this.client.set("other", "1");
		this.client.getConnection().setSoTimeout(TIMEOUT_MILLIS);
		assertThatExceptionOfType(JedisConnectionException.class).isThrownBy(() -> this.client.set(LOCK, "1"))
			.withMessageContaining("timed out");
		trap.awaitDone();
		assertThat(this.admin.get(LOCK)).as("carried out").isEqualTo("1");
		try (Jedis another = connect()) {
			assertThat(another.set(LOCK, "2")).as("only once, and only that connection").isEqualTo("OK");
		}
		assertThat(trap.repetitions()).isZero();
	}

	@Test
	void endsTheConnectionInPlaceOfTheReply() throws InterruptedException {
		Trap trap = set(Trap.cutReply(Step.ACQUIRE, KEY));
		assertThatExceptionOfType(JedisConnectionException.class).isThrownBy(() -> this.client.set(LOCK, "1"))
			.withMessageNotContaining("timed out");
		trap.awaitDone();
		assertThat(this.admin.get(LOCK)).as("carried out").isEqualTo("1");
		try (Jedis another = connect()) {
			another.set(LOCK, "1");
			assertThat(trap.repetitions()).isOne();
		}
	}

	@Test
	void passesARequestOnAfterItsClientHasLeft() throws InterruptedException {
		Trap trap = set(Trap.delay(Step.ACQUIRE, KEY, Duration.ofMillis(2 * TIMEOUT_MILLIS)));
		this.client.getConnection().setSoTimeout(TIMEOUT_MILLIS);
		assertThatExceptionOfType(JedisConnectionException.class).isThrownBy(() -> this.client.set(LOCK, "1"))
			.withMessageContaining("timed out");
		this.client.disconnect();
		assertThat(this.admin.get(LOCK)).as("not carried out yet").isNull();
		trap.awaitDone();
		await().until(() -> "1".equals(this.admin.get(LOCK)));
	}

	private Trap set(Trap trap) {
		this.relay.add(trap);
		return trap;
	}

	/**
	 * Connects, however long that takes on a slow machine.
	 */
	private Jedis connect() {
		return new Jedis("localhost", this.relay.port(), (int) Patience.PATIENCE.toMillis());
	}

}
