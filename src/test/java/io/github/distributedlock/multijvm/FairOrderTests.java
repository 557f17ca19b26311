package io.github.distributedlock.multijvm;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.stream.IntStream;

import io.github.distributedlock.LockHandle;
import io.github.distributedlock.LockRequest;
import io.github.distributedlock.fixtures.Client;
import io.github.distributedlock.fixtures.JvmProcess;
import io.github.distributedlock.fixtures.TestRedis;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

/**
 * Three JVMs queue up for a fair lock, one request after the other: each begins when the
 * one before stands in the queue on the server, so that there is no doubt about the
 * order.
 */
@Tag("thorough")
class FairOrderTests {

	@RegisterExtension
	final TestRedis redis = new TestRedis();

	private static final String WAITERS = "lock-waiters:{" + Queuer.KEY + "}";

	private final List<JvmProcess> queuers = new ArrayList<>();

	private LockHandle held;

	@BeforeEach
	void startProcesses() {
		for (Client client : List.of(Client.JEDIS, Client.LETTUCE, Client.JEDIS)) {
			this.queuers.add(JvmProcess.start(Queuer.class, client.name(), String.valueOf(this.redis.port())));
		}
		this.queuers.forEach((queuer) -> queuer.awaitLine("ready"));
		this.held = this.redis.engine(Client.JEDIS).acquire(LockRequest.of(Queuer.KEY).fair(true));
	}

	@AfterEach
	void endProcesses() {
		this.held.close();
		this.queuers.forEach(JvmProcess::close);
	}

	@Test
	void servedInTheOrderOfArrivalAndNobodyGetsInBetween() {
		int waiters = 24;
		for (int i = 0; i < waiters; i++) {
			// Each JVM has neighbours of its own and of both others.
			queueUp(i, (i * i / 2) % 3);
		}
		this.queuers.forEach((queuer) -> queuer.send("barge"));
		assertThat(this.redis.admin().llen(Queuer.SERVED)).isZero();
		this.held.close();
		await().until(() -> this.redis.admin().llen(Queuer.SERVED) >= waiters);
		assertThat(this.redis.admin().lrange(Queuer.SERVED, 0, waiters - 1)).as("served")
			.isEqualTo(IntStream.range(0, waiters).mapToObj(String::valueOf).toList());
	}

	@Test
	void waitersOfAJvmThatIsKilledAreSkippedTogether() {
		queueUp(0, 0);
		for (int i = 1; i <= 50; i++) {
			queueUp(i, 1);
		}
		queueUp(51, 2);
		queueUp(52, 0);
		this.queuers.get(1).kill();
		long killed = System.nanoTime();
		List<String> ran;
		try (ClientCommands commands = new ClientCommands(this.redis.server())) {
			ran = commands.linesDuring(() -> {
				this.held.close();
				await().pollInterval(Duration.ofMillis(1)).until(() -> this.redis.admin().llen(Queuer.SERVED) == 3);
			});
		}
		long skipped = TimeUnit.NANOSECONDS.toMillis(System.nanoTime() - killed);
		System.out.printf("Fair waiters killed: 50 of them skipped in %d ms%n", skipped);
		assertThat(this.redis.admin().lrange(Queuer.SERVED, 0, -1)).containsExactly("0", "51", "52");
		assertThat(ClientCommands.reservationsIn(ran)).as("for whom it was kept").isNotEmpty().hasSizeLessThan(25);
		assertThat(this.redis.admin().exists(WAITERS)).isFalse();
	}

	private void queueUp(int number, int process) {
		this.queuers.get(process).send(String.valueOf(number));
		await().pollInterval(Duration.ofMillis(1)).until(() -> this.redis.admin().zcard(WAITERS) == number + 1);
	}

}
