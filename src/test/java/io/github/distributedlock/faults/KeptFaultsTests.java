package io.github.distributedlock.faults;

import java.time.Duration;
import java.util.Optional;
import java.util.concurrent.TimeUnit;

import io.github.distributedlock.LockException;
import io.github.distributedlock.LockHandle;
import io.github.distributedlock.LockRequest;
import io.github.distributedlock.backend.redis.RedisLockSettings;
import io.github.distributedlock.engine.LockEngine;
import io.github.distributedlock.fixtures.ChildJvm;
import io.github.distributedlock.fixtures.Client;
import io.github.distributedlock.fixtures.JvmProcess;
import io.github.distributedlock.fixtures.Patience;
import io.github.distributedlock.fixtures.TestRedis;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.extension.RegisterExtension;
import redis.clients.jedis.Jedis;

import org.springframework.data.redis.connection.RedisConfiguration;
import org.springframework.data.redis.connection.RedisStandaloneConfiguration;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

/**
 * A JVM with which a lock stays stands still, or dies.
 */
@Tag("faults")
class KeptFaultsTests {

	@RegisterExtension
	final TestRedis redis = new TestRedis();

	private static final String KEY = "partition-7";

	private static final String LOCK = "lock:{" + KEY + "}";

	private static final RedisLockSettings SETTINGS = RedisLockSettings.defaults();

	private static final Duration SHORT_LEASE = SETTINGS.commandTimeout().multipliedBy(5);

	private int uses;

	@FaultTest(value = "JVM with which a lock stays stopped for longer than the lease, then continued",
			promise = "its next request does not take the lock, which another JVM holds")
	void itStandsStill(Client client) {
		LockEngine engine = this.redis.engine(client);
		try (JvmProcess keeper = keeper(client)) {
			String owner = keep(keeper);
			keeper.pause();
			try (LockHandle other = engine.acquire(LockRequest.of(KEY).waitTime(Patience.PATIENCE))) {
				keeper.resume();
				assertThat(use(keeper)).isEqualTo("busy");
				assertThat(this.redis.admin().get(LOCK)).isEqualTo(other.owner()).isNotEqualTo(owner);
				assertThat(other.isHeld()).isTrue();
			}
			await("the keeper gets the lock again").atMost(Patience.PATIENCE).until(() -> !use(keeper).equals("busy"));
		}
	}

	@FaultTest(value = "JVM with which a lock stays killed",
			promise = "the lock is free after the short lease of a grant, whatever that of the engine is")
	void itIsKilled(Client client) {
		LockEngine engine = this.redis.engine(client);
		try (JvmProcess keeper = keeper(client)) {
			String owner = keep(keeper);
			Jedis admin = this.redis.admin();
			assertThat(admin.get(LOCK)).isEqualTo(owner);
			assertThat(admin.pttl(LOCK)).isLessThanOrEqualTo(SHORT_LEASE.toMillis());
			keeper.kill();
			engine.acquire(LockRequest.of(KEY).waitTime(Patience.PATIENCE)).close();
		}
	}

	private JvmProcess keeper(Client client) {
		return JvmProcess.start(Keeper.class, client.name(), String.valueOf(this.redis.port()));
	}

	/**
	 * Lets the keeper use the lock until the lock stays there.
	 * @return the owner
	 */
	private String keep(JvmProcess keeper) {
		Jedis admin = this.redis.admin();
		await("the lock stays").atMost(Patience.PATIENCE)
			.pollInterval(10, TimeUnit.MILLISECONDS)
			.until(() -> use(keeper).equals(admin.get(LOCK)));
		return admin.get(LOCK);
	}

	/**
	 * Lets the keeper use the lock once.
	 * @return the owner, or {@code busy}
	 */
	private String use(JvmProcess keeper) {
		this.uses++;
		keeper.send(String.valueOf(this.uses));
		return keeper.awaitLineAfter(this.uses + " by ");
	}

	/**
	 * Uses the lock whenever the test says so, and lets it stay. Arguments: client, port.
	 */
	static final class Keeper {

		private Keeper() {
		}

		public static void main(String[] arguments) throws InterruptedException {
			RedisConfiguration server = new RedisStandaloneConfiguration("localhost", Integer.parseInt(arguments[1]));
			LockEngine engine = LockEngine.builder(Client.valueOf(arguments[0]).backend(server, SETTINGS)).build();
			LockRequest request = LockRequest.of(KEY).keepTime(Duration.ofMinutes(1));
			while (true) {
				String use = ChildJvm.awaitLine();
				// On a busy machine the first connection takes longer than a command may.
				Optional<LockHandle> used = await().atMost(Patience.PATIENCE)
					.ignoreExceptionsInstanceOf(LockException.class)
					.until(() -> engine.tryAcquire(request), (any) -> true);
				used.ifPresent(LockHandle::close);
				System.out.println(use + " by " + used.map(LockHandle::owner).orElse("busy"));
			}
		}

	}

}
