package io.github.distributedlock.backend.redis;

import java.time.Duration;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.locks.LockSupport;

import io.github.distributedlock.backend.Claim;
import io.github.distributedlock.backend.LockBackend.Listening;
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

import org.springframework.data.redis.connection.RedisConnectionFactory;

import static org.awaitility.Awaitility.await;

/**
 * The time at which an instance whose subscription was refused, or failed, hears again.
 * The pauses between the attempts are of a clock that the test sets.
 */
@Tag("failover")
class ResubscriptionTests {

	@RegisterExtension
	final TestRedis redis = new TestRedis();

	private final AtomicLong now = new AtomicLong();

	private final AtomicInteger owners = new AtomicInteger();

	private final Ear ear = new Ear();

	private RedisLockBackend backend;

	@ParameterizedTest
	@EnumSource
	void isTriedEachSecondWhileAProxyCutsOffWhoSubscribes(Client client) {
		try (Relay proxy = new Relay(this.redis.port())) {
			AtomicInteger tries = new AtomicInteger();
			proxy.add((request, connection) -> {
				if (request.command().equals("SUBSCRIBE")) {
					tries.incrementAndGet();
					connection.close();
					return true;
				}
				return false;
			});
			open(client.connectTo(proxy.port()));
			this.backend.acquireOrRegister(claim());
			for (int i = 2; i <= 14; i++) {
				int tried = i;
				pass(Duration.ofSeconds(1));
				await("try " + tried).until(() -> tries.get() == tried);
			}
			awaitPause();
			proxy.removeRules();
			pass(Duration.ofSeconds(1));
			await("the backend hears notifications again").until(() -> this.ear.resubscriptions() == 1);
		}
	}

	@ParameterizedTest
	@EnumSource
	void aPasswordThatWasWrongIsTriedAgainEachFiveSeconds(Client client) {
		Listening listening = open(client.connectTo(this.redis.port()));
		this.backend.acquireOrRegister(claim());
		this.redis.admin().configSet("requirepass", "another");
		this.redis.admin().clientKill(new ClientKillParams().type(ClientType.PUBSUB));
		this.redis.admin()
			.clientKill(new ClientKillParams().type(ClientType.NORMAL).skipMe(ClientKillParams.SkipMe.YES));
		await().until(() -> !listening.hears());
		for (int i = 0; i < 5; i++) {
			long before = connections();
			pass(Duration.ofSeconds(5));
			await("another try").until(() -> connections() > before);
		}
		awaitPause();
		this.redis.admin().configSet("requirepass", "");
		pass(Duration.ofSeconds(5));
		await("the backend hears notifications again").until(() -> this.ear.resubscriptions() == 1);
	}

	private Listening open(RedisConnectionFactory application) {
		RedisLockSettings settings = RedisLockSettings.defaults().commandTimeout(Patience.COMMAND);
		this.backend = this.redis.closing(new RedisLockBackend(application, settings, this.now::get));
		return this.backend.listen("b", this.ear);
	}

	private Claim claim() {
		int number = this.owners.incrementAndGet();
		return Claim.of("k" + number, "b:" + number, "b", Duration.ofSeconds(30));
	}

	private long connections() {
		return this.redis.admin()
			.info("stats")
			.lines()
			.filter((line) -> line.startsWith("total_connections_received:"))
			.mapToLong((line) -> Long.parseLong(line.substring(line.indexOf(':') + 1).strip()))
			.sum();
	}

	/** Lets a pause that has begun pass, as far as it is no longer. */
	private void pass(Duration time) {
		awaitPause();
		this.now.addAndGet(time.toNanos());
		subscribers().forEach(LockSupport::unpark);
	}

	private static void awaitPause() {
		await("the pause between two tries").until(() -> subscribers().stream().anyMatch((thread) -> {
			Object blocker = LockSupport.getBlocker(thread);
			return blocker != null && blocker.getClass().getSimpleName().equals("NotificationSubscription");
		}));
	}

	private static List<Thread> subscribers() {
		return Thread.getAllStackTraces()
			.keySet()
			.stream()
			.filter((thread) -> thread.getName().equals("distributed-lock-wake"))
			.toList();
	}

}
