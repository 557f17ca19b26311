package io.github.distributedlock.faults;

import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Future;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.Consumer;
import java.util.stream.Stream;

import io.github.distributedlock.LockRequest;
import io.github.distributedlock.faults.Recorder.Held;
import io.github.distributedlock.fixtures.Client;
import io.github.distributedlock.fixtures.OwnThreads;
import io.github.distributedlock.fixtures.Patience;
import io.github.distributedlock.fixtures.RedisReplicas;
import io.github.distributedlock.fixtures.RedisServers;
import io.github.distributedlock.fixtures.RedisServers.Server;
import io.github.distributedlock.fixtures.Relay;
import io.github.distributedlock.fixtures.Variant;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.extension.RegisterExtension;
import redis.clients.jedis.Jedis;

import org.springframework.data.redis.connection.RedisStandaloneConfiguration;

import static org.awaitility.Awaitility.await;

/**
 * A name, which a {@link Relay} stands for, leads to another server, and the server
 * before lives on: as a replica after a failover, or as a master.
 */
@Tag("faults")
class MovedServerFaultsTests {

	@RegisterExtension
	static final OwnThreads THREADS = new OwnThreads();

	private static final List<String> KEYS = List.of("one", "two");

	/** How many locks all threads acquire during the fault. */
	private static final int HOLDS = Integer.getInteger("lock.faults.holds", 5000);

	@EachClient
	void aFailoverBehindAName(Client client) throws Exception {
		FaultRow.of("failover behind a name, the old master stays as a replica", client)
			.on(MovedServerFaultsTests::replica)
			.run((trial) -> contended(trial, trial::failOver));
	}

	@EachClient
	void aServiceThatMoves(Client client) throws Exception {
		FaultRow.of("name leads to another Redis, the old one stays", client)
			.on(MovedServerFaultsTests::another)
			.promising(Promise.TWO_MASTERS)
			.run((trial) -> contended(trial, trial::failOver));
	}

	/**
	 * Two threads of each member contend for each of two keys before and after a fault,
	 * until subscriptions of both members are at the new server.
	 */
	private static void contended(Trial trial, Runnable fault) {
		AtomicInteger holds = new AtomicInteger();
		AtomicBoolean over = new AtomicBoolean();
		List<Future<?>> threads = Stream.of(trial.holder(), trial.rival())
			.flatMap((member) -> KEYS.stream()
				.flatMap((key) -> Stream.of(1, 2)
					.<Future<?>>map((thread) -> CompletableFuture
						.runAsync(() -> contend(trial, member, key, holds, over), THREADS))))
			.toList();
		try {
			awaitMore(holds, HOLDS / 10);
			trial.recorder().strikes();
			fault.run();
			awaitMore(holds, HOLDS);
			await("both subscriptions are where commands go to").atMost(Patience.PATIENCE)
				.until(() -> subscriptions(trial.server()) == 2);
		}
		finally {
			over.set(true);
		}
		threads.forEach((thread) -> Patience.get(thread, "the end of a thread"));
	}

	private static void awaitMore(AtomicInteger holds, int more) {
		int enough = holds.get() + more;
		await("enough locks are acquired").atMost(Patience.PATIENCE).until(() -> holds.get() >= enough);
	}

	private static void contend(Trial trial, Member member, String key, AtomicInteger holds, AtomicBoolean over) {
		LockRequest request = LockRequest.of(key).waitTime(Workload.PATIENCE);
		while (!over.get()) {
			Optional<Held> held = trial.recorder().acquire(member.engine(), request);
			if (held.isPresent()) {
				holds.incrementAndGet();
				pause(Duration.ofMillis(ThreadLocalRandom.current().nextInt(3)));
				held.get().close();
			}
		}
	}

	private static long subscriptions(Server server) {
		try (Jedis admin = server.admin()) {
			return admin.pubsubChannels("lock-wake:*").size();
		}
	}

	private static Deployment replica() {
		RedisReplicas servers = RedisReplicas.start(Variant.SERVER, 1);
		Server next = servers.replicas().get(0);
		return named(servers.master(), next, (before) -> {
			try (Jedis admin = before.admin(); Jedis promoted = next.admin()) {
				admin.sendCommand(() -> "FAILOVER".getBytes());
				await().pollInterval(Duration.ofMillis(5)).until(() -> promoted.role().get(0).equals("master"));
			}
		}, servers::close);
	}

	private static Deployment another() {
		Server before = RedisServers.start(Variant.SERVER);
		Server next = RedisServers.start(Variant.SERVER);
		return named(before, next, (same) -> {
		}, () -> {
			before.close();
			next.close();
		});
	}

	private static Deployment named(Server first, Server next, Consumer<Server> replace, Runnable end) {
		Relay name = new Relay(first.port());
		AtomicReference<Server> leadsTo = new AtomicReference<>(first);
		return new Deployment(new RedisStandaloneConfiguration("localhost", name.port()), Trial.SETTINGS, leadsTo::get,
				() -> {
					replace.accept(first);
					name.leadTo(next.port());
					leadsTo.set(next);
					name.cutCommands();
				}, () -> {
					name.close();
					end.run();
				});
	}

	private static void pause(Duration time) {
		try {
			Thread.sleep(time.toMillis());
		}
		catch (InterruptedException ex) {
			throw new IllegalStateException(ex);
		}
	}

}
