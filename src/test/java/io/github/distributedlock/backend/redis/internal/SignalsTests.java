package io.github.distributedlock.backend.redis.internal;

import java.time.Duration;
import java.util.List;
import java.util.Set;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.Stream;

import io.github.distributedlock.LockBackendException;
import io.github.distributedlock.backend.Claim;
import io.github.distributedlock.backend.LockBackend.Listening;
import io.github.distributedlock.backend.Waiter;
import io.github.distributedlock.backend.redis.RedisLockBackend;
import io.github.distributedlock.backend.redis.RedisLockSettings;
import io.github.distributedlock.backend.redis.Signals;
import io.github.distributedlock.fixtures.Client;
import io.github.distributedlock.fixtures.Patience;
import io.github.distributedlock.fixtures.Relay;
import io.github.distributedlock.fixtures.TestRedis;
import io.github.distributedlock.tck.Ear;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.MethodSource;

import org.springframework.boot.test.system.CapturedOutput;
import org.springframework.boot.test.system.OutputCaptureExtension;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.awaitility.Awaitility.await;

/**
 * How those who wait learn that a lock is given back, on servers that refuse to tell
 * them: {@link Signals}.
 */
@ExtendWith(OutputCaptureExtension.class)
class SignalsTests {

	@RegisterExtension
	final TestRedis redis = new TestRedis();

	private final AtomicInteger tokens = new AtomicInteger();

	private final Ear ear = new Ear();

	private RedisLockBackend backend;

	private Listening listening;

	static Stream<Arguments> refusals() {
		return Stream.of(Client.values())
			.flatMap((client) -> Stream
				.of(new String[] { "-subscribe", "-psubscribe" }, new String[] { "resetchannels" },
						new String[] { "-publish" })
				.map((rules) -> Arguments.of(client, rules)));
	}

	@ParameterizedTest
	@MethodSource("refusals")
	void autoPollsWhereItIsRefusedAndTheLogSaysSoOnce(Client client, String[] rules, CapturedOutput output) {
		this.redis.admin().aclSetUser("default", rules);
		open(client, this.redis.port(), Signals.AUTO);
		Claim holder = claim("k", "a");
		this.backend.acquire(holder);
		for (int i = 0; i < 3; i++) {
			assertThat(this.backend.acquireOrRegister(claim("k", "b")).acquired()).isFalse();
		}
		assertThat(this.listening.hears()).as("hears").isFalse();
		assertThat(this.redis.admin().exists("lock-waiters:{k}")).as("registered").isFalse();
		this.backend.release("k", holder.owner());
		assertThat(this.redis.admin().exists("lock:{k}")).as("reserved").isFalse();
		assertThat(this.backend.acquireOrRegister(claim("k", "b")).acquired()).as("the poll finds it").isTrue();
		assertThat(output.toString().split("Release notifications do not arrive, so waiting requests poll", -1))
			.as("warnings")
			.hasSize(2);
		assertThat(output).contains("ACL SETUSER");
		assertThat(this.ear.resubscriptions()).isZero();
	}

	@ParameterizedTest
	@EnumSource
	void autoPollsBehindAProxyThatCutsOffSubscribers(Client client, CapturedOutput output) {
		try (Relay proxy = new Relay(this.redis.port())) {
			proxy.forbid("SUBSCRIBE");
			open(client, proxy.port(), Signals.AUTO);
			Claim holder = claim("k", "a");
			this.backend.acquire(holder);
			this.backend.acquireOrRegister(claim("k", "b"));
			assertThat(this.listening.hears()).as("hears").isFalse();
			assertThat(this.redis.admin().exists("lock-waiters:{k}")).as("registered").isFalse();
			assertThat(output).contains("Release notifications do not arrive, so waiting requests poll");
			proxy.removeRules();
			await("another subscription").until(() -> this.ear.resubscriptions() == 1);
			assertThat(this.listening.hears()).as("hears").isTrue();
			this.backend.acquireOrRegister(claim("k", "b"));
			this.backend.release("k", holder.owner());
			this.ear.awaitWake("k");
		}
	}

	@ParameterizedTest
	@EnumSource
	void whoPollsRecognisesItsOwnTokenAndItsReservation(Client client) {
		this.redis.admin().aclSetUser("default", "-subscribe");
		open(client, this.redis.port(), Signals.AUTO);
		Claim unheard = claim("mine", "b");
		this.backend.acquire(unheard);
		assertThat(this.backend.acquireOrRegister(unheard).acquired()).as("the owner's own key").isTrue();
		this.redis.admin().set("lock:{kept}", "reserved:b");
		assertThat(this.backend.acquireOrRegister(claim("kept", "b")).acquired()).as("reserved").isTrue();
	}

	@ParameterizedTest
	@MethodSource("refusals")
	void pubsubFailsWhereItIsRefused(Client client, String[] rules, CapturedOutput output) {
		this.redis.admin().aclSetUser("default", rules);
		open(client, this.redis.port(), Signals.PUBSUB);
		assertThat(this.backend.acquire(claim("k", "a")).acquired()).as("nobody has to wait").isTrue();
		for (int i = 0; i < 2; i++) {
			assertThatExceptionOfType(LockBackendException.class)
				.isThrownBy(() -> this.backend.acquireOrRegister(claim("k", "b")))
				.withMessageContaining("distributed-lock.redis.signals=pubsub")
				.withMessageContaining("NOPERM")
				.withMessageEndingWith("(allow PUBLISH and SUBSCRIBE, or use distributed-lock.redis.signals=auto)")
				.satisfies((ex) -> assertThat(ex.isWithoutEffect()).as("refused").isTrue())
				.satisfies((ex) -> assertThat(ex.isRetryable()).as("retryable").isFalse());
		}
		assertThat(output).contains("so waiting requests fail");
	}

	@ParameterizedTest
	@EnumSource
	void pubsubFailsBehindAProxyThatCutsOffSubscribers(Client client) {
		try (Relay proxy = new Relay(this.redis.port())) {
			proxy.forbid("SUBSCRIBE");
			open(client, proxy.port(), Signals.PUBSUB);
			this.backend.acquire(claim("k", "a"));
			assertThatExceptionOfType(LockBackendException.class)
				.isThrownBy(() -> this.backend.acquireOrRegister(claim("k", "b")))
				.withMessageContaining("distributed-lock.redis.signals=pubsub")
				.satisfies((ex) -> assertThat(ex.isRetryable()).as("retryable").isTrue());
			proxy.removeRules();
			await("another subscription").until(() -> this.ear.resubscriptions() == 1);
			assertThat(this.backend.acquireOrRegister(claim("k", "b")).acquired()).isFalse();
			assertThat(this.redis.admin().zrange("lock-waiters:{k}", 0, -1)).containsExactly("b");
		}
	}

	@ParameterizedTest
	@EnumSource
	void noneNeitherSubscribesNorRegistersAndSaysNothing(Client client, CapturedOutput output) {
		open(client, this.redis.port(), Signals.NONE);
		Claim holder = claim("k", "a");
		this.backend.acquire(holder);
		this.backend.acquireOrRegister(claim("k", "b"));
		this.backend.acquireOrRegister(claim("k", "nobody"));
		assertThat(this.listening.hears()).as("hears").isFalse();
		assertThat(this.redis.admin().exists("lock-waiters:{k}")).as("registered").isFalse();
		this.backend.withdraw("k", Waiter.exclusive("b"), Set.of());
		this.backend.release("k", holder.owner());
		assertThat(this.backend.acquireOrRegister(claim("k", "b")).acquired()).isTrue();
		assertThat(this.redis.admin().info("commandstats")).doesNotContain("cmdstat_subscribe", "cmdstat_publish");
		assertThat(output).doesNotContain("Release notifications");
	}

	@ParameterizedTest
	@EnumSource
	void ticketsKeepTheirOrderWithoutThem(Client client) {
		open(client, this.redis.port(), Signals.NONE);
		this.redis.inTime(() -> {
			Claim holder = claim("k", "a");
			this.backend.acquire(holder);
			List<Claim> tickets = Stream.of("c", "b", "b").map((instance) -> fair("k", instance)).toList();
			tickets.forEach(this.backend::acquireOrRegister);
			this.backend.withdraw("k", tickets.get(1).waiter(), Set.of());
			this.backend.release("k", holder.owner());
			assertThat(this.backend.acquireOrRegister(tickets.get(2)).acquired()).as("before who came first").isFalse();
			await().until(() -> this.backend.acquireOrRegister(tickets.get(0)).acquired());
			this.backend.release("k", tickets.get(0).owner());
			await().until(() -> this.backend.acquireOrRegister(tickets.get(2)).acquired());
			assertThat(this.redis.admin().exists("lock-waiters:{k}", "lock-alive:{k}")).as("left").isZero();
		});
		assertThat(this.redis.admin().info("commandstats")).as("commands").doesNotContain("cmdstat_publish");
	}

	private Claim fair(String key, String instance) {
		Claim claim = claim(key, instance);
		return Claim.of(key, claim.owner(), instance, claim.lease()).fair(true);
	}

	private void open(Client client, int port, Signals signals) {
		this.backend = this.redis.backend(client.connectTo(port),
				RedisLockSettings.defaults().commandTimeout(Patience.COMMAND).signals(signals));
		this.listening = this.backend.listen("b", this.ear);
	}

	private Claim claim(String key, String instance) {
		return Claim.of(key, instance + ":" + this.tokens.incrementAndGet(), instance, Duration.ofSeconds(30));
	}

}
