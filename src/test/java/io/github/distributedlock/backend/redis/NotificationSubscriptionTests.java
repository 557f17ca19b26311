package io.github.distributedlock.backend.redis;

import java.time.Duration;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;

import io.github.distributedlock.backend.Claim;
import io.github.distributedlock.backend.LockBackend.Listening;
import io.github.distributedlock.backend.ReleaseListener;
import io.github.distributedlock.backend.ReleaseNotification;
import io.github.distributedlock.fixtures.Client;
import io.github.distributedlock.fixtures.Patience;
import io.github.distributedlock.fixtures.Relay;
import io.github.distributedlock.fixtures.TestRedis;
import io.github.distributedlock.tck.Ear;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import redis.clients.jedis.args.ClientType;
import redis.clients.jedis.params.ClientKillParams;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

@Tag("failover")
class NotificationSubscriptionTests {

	@RegisterExtension
	final TestRedis redis = new TestRedis();

	private final AtomicInteger tokens = new AtomicInteger();

	private final Ear ear = new Ear();

	private RedisLockBackend backend;

	@ParameterizedTest
	@EnumSource
	void isAcknowledgedBeforeTheRegistrationAndNotBegunEarlier(Client client) {
		open(client);
		this.backend.listen("b", this.ear);
		this.backend.acquire(claim("k", "a"));
		assertThat(this.redis.admin().pubsubChannels()).as("channels before the first registration").isEmpty();
		this.backend.acquireOrRegister(claim("k", "b"));
		assertThat(this.redis.admin().pubsubChannels()).containsExactly("lock-wake:b");
		assertThat(this.ear.resubscriptions()).as("the first one is no resubscription").isZero();
	}

	@ParameterizedTest
	@EnumSource
	void isRenewedAndReportedAfterItsConnectionWasLost(Client client) {
		open(client);
		this.backend.listen("b", this.ear);
		this.backend.acquireOrRegister(claim("warm", "b"));
		for (int round = 1; round <= 3; round++) {
			this.redis.admin().clientKill(new ClientKillParams().type(ClientType.PUBSUB));
			int expected = round;
			await().until(() -> this.ear.resubscriptions() == expected);
			wakes("k" + round);
		}
	}

	@ParameterizedTest
	@EnumSource
	void isRenewedAfterARestartOfTheServer(Client client) {
		open(client);
		this.backend.listen("b", this.ear);
		this.backend.acquireOrRegister(claim("warm", "b"));
		this.redis.server().stop();
		this.redis.server().start();
		await().until(() -> this.ear.resubscriptions() == 1);
		// The connection for commands was lost as well.
		await().ignoreExceptions().until(() -> this.backend.acquire(claim("other", "a")).acquired());
		wakes("k");
	}

	@ParameterizedTest
	@EnumSource
	void isRenewedAfterItsConnectionWasDroppedSilently(Client client) throws Exception {
		try (Relay relay = new Relay(this.redis.port())) {
			this.backend = this.redis.backend(client.connectTo(relay.port()),
					RedisLockSettings.defaults().commandTimeout(Duration.ofSeconds(1)));
			this.backend.listen("b", this.ear);
			await().ignoreExceptions().until(() -> this.backend.acquireOrRegister(claim("mine", "b")).acquired());
			relay.silence();
			// Somebody waits: nothing else makes the subscription look.
			await().ignoreExceptions().until(() -> {
				this.backend.acquireOrRegister(claim("mine", "b"));
				return this.ear.resubscriptions() > 0;
			});
			await().ignoreExceptions().until(() -> {
				wake("k");
				return this.ear.heard().contains("k");
			});
		}
	}

	@ParameterizedTest
	@EnumSource
	void isReportedAsRenewedThoughItNeverHeard(Client client) throws Exception {
		try (Relay relay = new Relay(this.redis.port())) {
			this.backend = this.redis.backend(client.connectTo(relay.port()),
					RedisLockSettings.defaults().commandTimeout(Patience.COMMAND));
			this.backend.listen("b", this.ear);
			this.backend.acquireOrRegister(claim("mine", "b"));
			relay.silenceSubscriptions();
			await().until(() -> {
				this.backend.acquireOrRegister(claim("mine", "b"));
				return relay.hasLost();
			});
			relay.cut();
			await().until(() -> this.ear.resubscriptions() == 1);
		}
	}

	@ParameterizedTest
	@EnumSource
	void keepsThePlaceOfWhoWaitsWhileItIsLost(Client client) {
		open(client);
		Listening listening = this.backend.listen("b", this.ear);
		this.backend.acquire(claim("k", "a"));
		this.backend.acquireOrRegister(claim("k", "b"));
		assertThat(listening.hears()).as("hears").isTrue();
		this.redis.admin().aclSetUser("default", "-subscribe");
		this.redis.admin().clientKill(new ClientKillParams().type(ClientType.PUBSUB));
		await().until(() -> !listening.hears());
		this.backend.acquireOrRegister(claim("k", "b"));
		this.backend.acquireOrRegister(claim("k", "c"));
		assertThat(this.redis.admin().zrange("lock-waiters:{k}", 0, -1)).containsExactly("b", "c");
	}

	@ParameterizedTest
	@EnumSource
	void survivesAListenerThatThrows(Client client) {
		open(client);
		AtomicInteger calls = new AtomicInteger();
		this.backend.listen("b", new ReleaseListener() {

			@Override
			public void onRelease(ReleaseNotification notification) {
				calls.incrementAndGet();
				throw new IllegalStateException("thrown by the test");
			}

			@Override
			public void onResubscribed() {
				NotificationSubscriptionTests.this.ear.onResubscribed();
			}

		});
		for (int i = 1; i <= 3; i++) {
			wake("k" + i);
			int expected = i;
			await().until(() -> calls.get() == expected);
		}
		assertThat(this.ear.resubscriptions()).as("resubscriptions").isZero();
	}

	@ParameterizedTest
	@EnumSource
	void endsWithItsThreadAndItsConnection(Client client) {
		open(client);
		Listening listening = this.backend.listen("b", this.ear);
		this.backend.acquireOrRegister(claim("k", "b"));
		listening.close();
		await().until(() -> this.redis.admin().pubsubChannels().isEmpty());
		awaitNoThread();
		this.backend.listen("b", this.ear);
		wakes("again");
		this.backend.close();
		await("no connection is left but the test's").until(() -> this.redis.admin().clientList().lines().count() == 1);
	}

	@ParameterizedTest
	@EnumSource
	void endsAlsoWhenItIsClosedWhileItBegins(Client client) throws Exception {
		open(client);
		this.backend.acquireOrRegister(claim("warm", "x"));
		for (int i = 0; i < 30; i++) {
			Listening listening = this.backend.listen("b", this.ear);
			Claim claim = claim("k" + i, "b");
			Thread registering = new Thread(() -> this.backend.acquireOrRegister(claim));
			registering.start();
			awaitStage(i % 3, registering);
			listening.close();
			Patience.join(registering);
		}
		await().until(() -> this.redis.admin().pubsubChannels().isEmpty());
		awaitNoThread();
	}

	private void awaitStage(int stage, Thread registering) {
		if (stage > 0) {
			await().pollInterval(Duration.ofMillis(1)).until(() -> registering.getState() != Thread.State.RUNNABLE);
		}
		if (stage > 1) {
			await().pollInterval(Duration.ofMillis(1))
				.until(() -> !registering.isAlive() || !this.redis.admin().pubsubChannels().isEmpty());
		}
	}

	private static void awaitNoThread() {
		await().untilAsserted(() -> assertThat(Thread.getAllStackTraces().entrySet()).as("threads that subscribe")
			.filteredOn((entry) -> entry.getKey().getName().equals("distributed-lock-wake"))
			.extracting((entry) -> List.of(entry.getValue()))
			.isEmpty());
	}

	private void wakes(String key) {
		wake(key);
		this.ear.awaitWake(key);
	}

	private void wake(String key) {
		Claim holder = claim(key, "a");
		this.backend.acquire(holder);
		this.backend.acquireOrRegister(claim(key, "b"));
		this.backend.release(key, holder.owner());
	}

	private void open(Client client) {
		// The first connection loads the client, which takes long on a busy machine.
		this.backend = this.redis.backend(client);
	}

	private Claim claim(String key, String instance) {
		return Claim.of(key, instance + ":" + this.tokens.incrementAndGet(), instance, Duration.ofSeconds(30));
	}

}
