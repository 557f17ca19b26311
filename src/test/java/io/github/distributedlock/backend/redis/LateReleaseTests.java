package io.github.distributedlock.backend.redis;

import java.time.Duration;
import java.util.stream.Stream;

import io.github.distributedlock.backend.Claim;
import io.github.distributedlock.fixtures.AtomicityCase;
import io.github.distributedlock.fixtures.Client;
import io.github.distributedlock.fixtures.Patience;
import io.github.distributedlock.fixtures.RedisServers;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.parallel.Execution;
import org.junit.jupiter.api.parallel.ExecutionMode;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;
import redis.clients.jedis.HostAndPort;
import redis.clients.jedis.Jedis;
import redis.clients.jedis.Pipeline;
import redis.clients.jedis.Response;
import redis.clients.jedis.args.ClientPauseMode;
import redis.clients.jedis.params.SetParams;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

/**
 * A release whose commands are held up until the lease has run out and somebody else has
 * got the lock. The server holds them up: while writes are paused, reads are still
 * answered.
 */
@Tag("thorough")
class LateReleaseTests {

	/**
	 * Long enough for a release that begins, on a busy machine, well before the end.
	 */
	private static final Duration LEASE = Duration.ofSeconds(8);

	static Stream<Arguments> candidates() {
		return AtomicityCase.ofEachCandidate()
			.flatMap((one) -> Stream.of(Client.values())
				.map((client) -> Arguments.of(one.name(), one.candidate(), client)));
	}

	@ParameterizedTest
	@MethodSource("candidates")
	@Execution(ExecutionMode.CONCURRENT)
	void onlyBestEffortDeletesTheLockOfAnother(String name, String candidate, Client client) {
		try (RedisServers.Server server = RedisServers.start(name);
				Jedis admin = server.admin();
				Jedis next = server.admin();
				RedisLockBackend backend = backend(server, name, candidate, client)) {
			backend.release("connect", "at the expense of no lease");
			Claim claim = Claim.of("k", "owner", "instance", LEASE);
			assertThat(backend.acquire(claim).acquired()).isTrue();
			admin.clientPause(Duration.ofMinutes(10).toMillis(), ClientPauseMode.WRITE);
			// Arrives before the release, and waits at the server.
			Pipeline pipeline = next.pipelined();
			Response<String> taken = pipeline.set("late:{k}", "the next owner", SetParams.setParams().nx().px(60_000));
			Thread asking = new Thread(pipeline::sync);
			asking.start();
			awaitArrivals(1, admin);
			Thread releasing = new Thread(() -> backend.release("k", claim.owner()));
			releasing.start();
			awaitArrivals(2, admin);
			await("the end of the lease").until(() -> admin.pttl("late:{k}") < 0);
			admin.clientUnpause();
			Patience.join(asking);
			Patience.join(releasing);
			assertThat(taken.get()).as("the next owner got it").isEqualTo("OK");
			boolean bestEffort = candidate.equals("best-effort");
			assertThat(admin.get("late:{k}")).isEqualTo(bestEffort ? null : "the next owner");
		}
	}

	private static RedisLockBackend backend(RedisServers.Server server, String name, String candidate, Client client) {
		return AtomicityCase.on(name, new HostAndPort(server.host(), server.port()))
			.stream()
			.filter((one) -> one.candidate().equals(candidate))
			.findFirst()
			.orElseThrow()
			.backend(client, "late");
	}

	private static void awaitArrivals(int commands, Jedis admin) {
		await("commands that the server holds up").pollInterval(Duration.ofMillis(10))
			.until(() -> admin.clientList()
				.lines()
				.filter((line) -> line.matches(".* flags=\\w*b.*"))
				.count() == commands);
	}

}
