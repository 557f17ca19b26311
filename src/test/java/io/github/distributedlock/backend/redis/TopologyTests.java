package io.github.distributedlock.backend.redis;

import io.github.distributedlock.backend.LockBackend.Renewal;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.UUID;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.Stream;

import io.github.distributedlock.LockBackendException;
import io.github.distributedlock.LockMode;
import io.github.distributedlock.backend.AcquireResult;
import io.github.distributedlock.backend.Claim;
import io.github.distributedlock.backend.Holder;
import io.github.distributedlock.backend.LockBackend.Listening;
import io.github.distributedlock.backend.Waiter;
import io.github.distributedlock.fixtures.Access;
import io.github.distributedlock.fixtures.Client;
import io.github.distributedlock.fixtures.RedisServers;
import io.github.distributedlock.fixtures.SelfSigned;
import io.github.distributedlock.fixtures.Variant;
import io.github.distributedlock.tck.Ear;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInstance;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import redis.clients.jedis.Jedis;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.awaitility.Awaitility.await;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

/**
 * The steps of locks on each of the {@linkplain Topology topologies}, by each client that
 * knows the topology, as a user with a password, in plain text and by TLS.
 */
@Tag("thorough")
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
class TopologyTests {

	private static final Duration SHORT = Duration.ofSeconds(10);

	private static final Duration LONG = Duration.ofSeconds(60);

	private static final Access LOGIN = Access.of("shop", "s3cret");

	private final List<GuardedServers> servers = new ArrayList<>();

	private final List<TopologyCase> cases = new ArrayList<>();

	private final SelfSigned another = SelfSigned.create();

	private final AtomicInteger tokens = new AtomicInteger();

	@BeforeAll
	void prepareRoutes() {
		prepareRoutes(new GuardedServers(Variant.SERVER, LOGIN));
		SelfSigned certificate = SelfSigned.create();
		Stream.concat(Stream.of(Variant.SERVER), RedisServers.names())
			.filter((name) -> RedisServers.knowsTls(name, certificate))
			.findFirst()
			.ifPresent((name) -> prepareRoutes(new GuardedServers(name, LOGIN.encrypted(certificate))));
	}

	private void prepareRoutes(GuardedServers servers) {
		this.servers.add(servers);
		for (Topology topology : Topology.values()) {
			for (Client client : Client.values()) {
				this.cases.add(new TopologyCase(topology, client, servers));
			}
		}
	}

	@AfterAll
	void stopServers() {
		this.cases.forEach(TopologyCase::end);
		this.servers.forEach(GuardedServers::close);
	}

	Stream<TopologyCase> cases() {
		return this.cases.stream();
	}

	Stream<TopologyCase> encryptedCases() {
		return this.cases.stream().filter(TopologyCase::isEncrypted);
	}

	@ParameterizedTest
	@MethodSource("cases")
	void aLockIsAtTheMasterUntilItIsReleased(TopologyCase one) {
		Claim claim = claim("a", LONG);
		assertThat(one.here().acquire(claim)).isEqualTo(AcquireResult.ACQUIRED);
		assertThat(one.value(claim.key())).isEqualTo(claim.owner());
		assertThat(one.there().release(claim.key(), "somebody")).isFalse();
		assertThat(one.there().acquire(claim(claim.key(), "b")).acquired()).as("acquired twice").isFalse();
		assertThat(one.here().release(claim.key(), claim.owner())).isTrue();
		assertThat(one.there().acquire(claim(claim.key(), "b")).acquired()).as("free again").isTrue();
	}

	// The replica may not have heard of the lock yet, or still have a lock that is gone.
	@ParameterizedTest
	@MethodSource("cases")
	void whoHoldsItIsAskedOfTheMaster(TopologyCase one) {
		Claim claim = claim("a", LONG);
		one.here().acquire(claim);
		List<RedisServers.Server> replicas = one.replicas();
		assertThat(replicas).isNotEmpty();
		replicas.forEach((replica) -> {
			try (Jedis admin = replica.admin()) {
				admin.configResetStat();
			}
		});
		assertThat(one.there().acquire(claim(claim.key(), "b")))
			.isEqualTo(AcquireResult.busy(Holder.owner(claim.owner()).in(LockMode.EXCLUSIVE)));
		replicas.forEach((replica) -> {
			try (Jedis admin = replica.admin()) {
				assertThat(admin.info("commandstats")).doesNotContain("cmdstat_get:");
			}
		});
	}

	@ParameterizedTest
	@MethodSource("cases")
	void renewingKeepsIt(TopologyCase one) {
		Claim held = claim("a", SHORT);
		Claim another = claim("a", SHORT);
		assertThat(one.here().acquire(held).acquired()).isTrue();
		List<Claim> longer = Stream.of(held, another)
			.map((claim) -> Claim.of(claim.key(), claim.owner(), claim.instance(), LONG))
			.toList();
		assertThat(one.here().renew(longer.stream().map(Renewal::of).toList())).containsExactly(true, false);
		assertThat(one.millisLeft(held.key())).isGreaterThan(SHORT.toMillis());
	}

	@ParameterizedTest
	@MethodSource("cases")
	void aWaiterIsToldAndTheLockIsKeptForIt(TopologyCase one) {
		Ear ear = new Ear();
		String waiter = "b " + one;
		try (Listening listening = one.there().listen(waiter, ear)) {
			// On a busy machine the waiter may take longer than the lock is kept.
			await().atMost(LONG).until(() -> isKeptFor(waiter, one));
			await().untilAsserted(() -> assertThat(ear.heard()).isNotEmpty().doesNotHaveDuplicates());
		}
	}

	private static boolean isReservedFor(String waiter, @Nullable Holder holder) {
		return holder != null && holder.isReservation() && holder.name().equals(waiter);
	}

	private boolean isKeptFor(String waiter, TopologyCase one) {
		Claim holder = claim("a", LONG);
		Claim waiting = claim(holder.key(), waiter);
		one.here().acquire(holder);
		assertThat(one.there().acquireOrRegister(waiting).holder().owner()).isEqualTo(holder.owner());
		assertThat(one.here().release(holder.key(), holder.owner())).isTrue();
		AcquireResult barging = one.here().acquireOrRegister(claim(holder.key(), "c"));
		return isReservedFor(waiter, barging.holder()) && one.there().acquireOrRegister(waiting).acquired();
	}

	@ParameterizedTest
	@MethodSource("cases")
	void aKeyMayHaveBracesAnywhere(TopologyCase one) {
		List<Claim> claims = TopologyCase.keys().map((key) -> claim(key, "a")).toList();
		claims.forEach((claim) -> assertThat(one.here().acquireOrRegister(claim).acquired()).as("%s", claim).isTrue());
		assertThat(one.here().renew(claims.stream().map(Renewal::of).toList())).hasSameSizeAs(claims)
			.containsOnly(true);
		claims.forEach((claim) -> {
			assertThat(one.there().acquireOrRegister(claim(claim.key(), "b")).acquired()).as("%s", claim).isFalse();
			one.there().withdraw(claim.key(), Waiter.exclusive("b"), Set.of());
			assertThat(one.here().leaveToExpire(claim.key(), claim.owner(), SHORT)).as("%s", claim).isTrue();
		});
	}

	@ParameterizedTest
	@MethodSource("cases")
	void allConnectionsAreThoseOfTheApplicationAndEndWithTheBackend(TopologyCase one) {
		String name = "closed-" + UUID.randomUUID();
		Claim claim = claim("a", LONG);
		try (RedisLockBackend backend = one.backend(name)) {
			backend.listen("a", new Ear());
			assertThat(backend.acquireOrRegister(claim).acquired()).isTrue();
			backend.renew(List.of(Renewal.of(claim)));
			// The connection for renewals opens in the background, and has to log in
			// first.
			await("the connections")
				.untilAsserted(() -> assertThat(one.connections(name)).hasSizeGreaterThanOrEqualTo(3)
					.allSatisfy((connection) -> assertThat(connection).contains("user=shop")
						.contains("db=" + one.topology().database())));
		}
		await().untilAsserted(() -> assertThat(one.connections(name)).isEmpty());
	}

	@Test
	void tlsIsTested() {
		assumeTrue(encryptedCases().findAny().isPresent(),
				"no server of " + RedisServers.names().toList() + " was built with TLS: add one by lock.redis.servers");
	}

	@ParameterizedTest(allowZeroInvocations = true)
	@MethodSource("encryptedCases")
	void aServerThatProvesToBeAnotherIsRefused(TopologyCase one) {
		try (RedisLockBackend backend = one.mistrusting(this.another)) {
			assertThatExceptionOfType(LockBackendException.class).isThrownBy(() -> backend.acquire(claim("a", LONG)))
				.satisfies((ex) -> assertThat(ex.isWithoutEffect()).as("certainly without effect: %s", ex).isTrue());
		}
	}

	private Claim claim(String instance, Duration lease) {
		return Claim.of(UUID.randomUUID().toString(), instance + ":" + this.tokens.incrementAndGet(), instance, lease);
	}

	private Claim claim(String key, String instance) {
		return Claim.of(key, instance + ":" + this.tokens.incrementAndGet(), instance, LONG);
	}

}
