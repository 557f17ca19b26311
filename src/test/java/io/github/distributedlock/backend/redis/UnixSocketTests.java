package io.github.distributedlock.backend.redis;

import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;

import io.github.distributedlock.LockHandle;
import io.github.distributedlock.LockRequest;
import io.github.distributedlock.engine.LockEngine;
import io.github.distributedlock.fixtures.Access;
import io.github.distributedlock.fixtures.ChildJvm;
import io.github.distributedlock.fixtures.Client;
import io.github.distributedlock.fixtures.JvmProcess;
import io.github.distributedlock.fixtures.OwnThreads;
import io.github.distributedlock.fixtures.Patience;
import io.github.distributedlock.fixtures.RedisServers;
import io.github.distributedlock.fixtures.Variant;
import io.netty.channel.epoll.Epoll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.condition.EnabledIf;
import org.junit.jupiter.api.extension.RegisterExtension;
import redis.clients.jedis.Jedis;

import org.springframework.data.redis.connection.RedisSocketConfiguration;
import org.springframework.data.redis.connection.RedisStandaloneConfiguration;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

/**
 * Locks by way of a Unix socket, in a JVM that may use Netty's native library. Spring
 * Data knows sockets for Lettuce only.
 */
@EnabledIf(value = "isNativeLibraryThere", disabledReason = "Netty has no native library for this machine here")
class UnixSocketTests {

	@RegisterExtension
	final OwnThreads threads = new OwnThreads();

	private static final Duration PATIENCE = Patience.PATIENCE;

	private static final Access LOGIN = Access.of("shop", "s3cret");

	private static final int DATABASE = 3;

	private static final String KEY = "k";

	static boolean isNativeLibraryThere() {
		return Epoll.isAvailable();
	}

	@Test
	void locksAreSharedWithThoseWhoComeByTcp() throws Exception {
		try (RedisServers.Server server = RedisServers.start(Variant.SERVER, LOGIN, List.of("unixsocket redis.sock"));
				Jedis admin = server.admin()) {
			admin.select(DATABASE);
			RedisStandaloneConfiguration tcp = new RedisStandaloneConfiguration(server.host(), server.port());
			tcp.setDatabase(DATABASE);
			tcp.setUsername(LOGIN.user());
			tcp.setPassword(LOGIN.password());
			String socket = Path.of(admin.configGet("dir").get("dir"), "redis.sock").toString();
			try (RedisLockBackend backend = Client.JEDIS.backend(tcp, Variant.settings());
					LockEngine engine = LockEngine.builder(backend).build();
					JvmProcess other = JvmProcess.start(Other.class,
							Map.of("io.lettuce.core.epoll", "true", Variant.PROPERTY, Variant.ATOMICITY.name()),
							socket)) {
				String owner = other.awaitLineAfter("owner ");
				assertThat(admin.get("lock:{k}")).isEqualTo(owner);
				assertThat(engine.tryAcquire(KEY)).isEmpty();
				awaitRenewal(admin);
				// The connection for renewals opens in the background, and has to log in
				// first.
				await("the engine's connections").untilAsserted(
						() -> assertThat(admin.clientList().lines().filter((line) -> line.contains("redis.sock:0")))
							.hasSizeGreaterThanOrEqualTo(2)
							.allMatch((line) -> line.contains("user=shop")));
				CompletableFuture<LockHandle> waiter = CompletableFuture
					.supplyAsync(() -> engine.acquire(LockRequest.of(KEY).waitTime(PATIENCE)), this.threads);
				await().until(() -> admin.zcard("lock-waiters:{k}") == 1);
				other.send("release and wait");
				LockHandle handle = waiter.get(PATIENCE.toSeconds(), TimeUnit.SECONDS);
				await().until(() -> admin.zcard("lock-waiters:{k}") == 1);
				handle.close();
				assertThat(Long.parseLong(other.awaitLineAfter("token "))).isPositive();
			}
		}
	}

	// A lease with more left than before was renewed.
	private static void awaitRenewal(Jedis admin) {
		long[] before = { admin.pttl("lock:{k}") };
		await().atMost(PATIENCE).pollInterval(Duration.ofMillis(20)).until(() -> {
			long now = admin.pttl("lock:{k}");
			boolean renewed = now > before[0];
			before[0] = now;
			return renewed;
		});
	}

	/**
	 * Holds the lock, gives the lock back to the waiters, and waits for the lock.
	 * Argument: the socket.
	 */
	static final class Other {

		private Other() {
		}

		public static void main(String[] arguments) throws InterruptedException {
			RedisSocketConfiguration configuration = new RedisSocketConfiguration(arguments[0]);
			configuration.setDatabase(DATABASE);
			configuration.setUsername(LOGIN.user());
			configuration.setPassword(LOGIN.password());
			try (RedisLockBackend backend = Client.LETTUCE.backend(configuration, Variant.settings());
					LockEngine engine = LockEngine.builder(backend).watchdogTimeout(Duration.ofSeconds(9)).build()) {
				try (LockHandle handle = engine.acquire(LockRequest.of(KEY).waitTime(PATIENCE))) {
					System.out.println("owner " + handle.owner());
					ChildJvm.awaitLine();
				}
				try (LockHandle handle = engine.acquire(LockRequest.of(KEY).waitTime(PATIENCE).fenced(true))) {
					System.out.println("token " + handle.fencingToken().orElseThrow());
				}
			}
		}

	}

}
