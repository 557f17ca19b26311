package io.github.distributedlock.backend.redis;

import java.time.Duration;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;

import io.github.distributedlock.backend.Claim;
import io.github.distributedlock.backend.LockBackend.Listening;
import io.github.distributedlock.fixtures.Client;
import io.github.distributedlock.fixtures.Patience;
import io.github.distributedlock.fixtures.Relay;
import io.github.distributedlock.fixtures.RedisServers;
import io.github.distributedlock.fixtures.RedisServers.Server;
import io.github.distributedlock.fixtures.TestRedis;
import io.github.distributedlock.tck.Ear;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import redis.clients.jedis.Jedis;

import org.springframework.boot.test.system.CapturedOutput;
import org.springframework.boot.test.system.OutputCaptureExtension;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

/**
 * A name leads to another server, and the server before lives on. Commands follow the
 * name. The subscription stays, until the backend finds that commands go to another
 * server.
 */
@ExtendWith(OutputCaptureExtension.class)
class MovedServerTests {

	/** The server that the name leads to first. */
	@RegisterExtension
	final TestRedis before = new TestRedis();

	private final AtomicLong now = new AtomicLong();

	private final AtomicInteger owners = new AtomicInteger();

	private final Ear ear = new Ear();

	private Server after;

	private Jedis admin;

	private Relay name;

	private RedisLockBackend backend;

	private Listening listening;

	@BeforeEach
	void start() {
		this.after = this.before.closing(RedisServers.start(RedisServers.EMBEDDED, "repl-diskless-sync-delay 0"));
		this.admin = this.before.closing(this.after.admin());
		this.name = this.before.closing(new Relay(this.before.port()));
	}

	@ParameterizedTest
	@EnumSource
	void noGrantThatIsUndoneIsHeardByAReplica(Client client) {
		this.admin.replicaof("127.0.0.1", this.before.port());
		awaitReplica(this.admin);
		open(client);
		failOver();
		Claim holder = claim("k", "a");
		assertThat(this.admin.set("lock:{k}", holder.owner())).isEqualTo("OK");
		Claim waiting = claim("k", "b").number(1);
		// The backend leaves the server that refuses commands.
		await().ignoreExceptions().until(() -> {
			this.backend.acquireOrRegister(waiting);
			return this.admin.hexists("lock-claims:{k}", "b");
		});
		assertThat(this.before.admin().pubsubNumSub("lock-wake:b")).as("subscribed before").containsValue(1L);
		assertThat(this.admin.pubsubNumSub("lock-wake:b")).as("subscribed after").containsValue(0L);
		assertThat(this.backend.release("k", holder.owner())).as("released").isTrue();
		assertThat(this.admin.exists("lock:{k}")).as("granted to one that is not counted").isFalse();
		// Comes after all that was published by the release.
		this.admin.publish("lock-wake:b", "b last");
		this.ear.awaitWake("last");
		assertThat(this.ear.owners()).as("owners that were told of a grant").isEmpty();
	}

	@ParameterizedTest
	@EnumSource
	void aSubscriptionFollowsTheNameToAMasterThatWasAReplica(Client client, CapturedOutput output) {
		this.admin.replicaof("127.0.0.1", this.before.port());
		awaitReplica(this.admin);
		open(client);
		failOver();
		follows(output);
	}

	@ParameterizedTest
	@EnumSource
	void aSubscriptionFollowsTheNameToAnotherServer(Client client, CapturedOutput output) {
		open(client);
		this.name.leadTo(this.after.port());
		// A client whose connections are not cut stays.
		this.name.cutCommands();
		follows(output);
	}

	@ParameterizedTest
	@EnumSource
	void aSubscriptionStaysThatHearsOnePulseEachSecond(Client client) {
		open(client);
		this.before.admin().set("lock:{k}", "a:1");
		long published = publishCalls();
		for (int pulse = 1; pulse <= 10; pulse++) {
			this.now.addAndGet(Duration.ofSeconds(1).toNanos());
			this.backend.acquireOrRegister(claim("k", "b"));
			this.backend.acquireOrRegister(claim("k", "b"));
			assertThat(publishCalls() - published).as("published in %d seconds", pulse).isEqualTo(2 * pulse - 1);
			// Heard after all that was published before.
			this.before.admin().publish("lock-wake:b", "b " + pulse);
			this.ear.awaitWake(String.valueOf(pulse));
		}
		assertThat(this.ear.resubscriptions()).as("resubscriptions").isZero();
	}

	private long publishCalls() {
		return this.before.admin()
			.info("commandstats")
			.lines()
			.filter((line) -> line.startsWith("cmdstat_publish:calls="))
			.mapToLong((line) -> Long.parseLong(line.replaceAll("\\D+(\\d+),.*", "$1")))
			.sum();
	}

	@ParameterizedTest
	@EnumSource
	void aSubscriptionThatHearsNothingBeginsAnew(Client client, CapturedOutput output) {
		open(client);
		this.before.admin().set("lock:{k}", "a:1");
		this.name.silenceSubscriptions();
		await().until(() -> {
			this.now.addAndGet(Duration.ofSeconds(1).toNanos());
			this.backend.acquireOrRegister(claim("k", "b"));
			return this.ear.resubscriptions() == 1;
		});
		assertThat(output).contains("nothing that commands publish arrives by the subscription");
	}

	private void follows(CapturedOutput output) {
		assertThat(this.listening.hears()).as("counts on the subscription at first").isTrue();
		Claim holder = claim("k", "a");
		this.admin.set("lock:{k}", holder.owner());
		await("a subscription where commands go to").ignoreExceptions().until(() -> {
			this.now.addAndGet(Duration.ofSeconds(1).toNanos());
			this.backend.acquireOrRegister(claim("k", "b").number(1));
			return this.admin.pubsubNumSub("lock-wake:b").get("lock-wake:b") == 1;
		});
		await("the engine believes in the subscription").ignoreExceptions().until(() -> {
			this.backend.acquireOrRegister(claim("k", "b").number(2));
			return this.listening.hears();
		});
		assertThat(this.ear.resubscriptions()).as("resubscriptions").isEqualTo(1);
		Claim last = claim("k", "b").number(3);
		// A waiter that has not asked lately, as on a busy machine, gets a reservation.
		await("a grant").until(() -> {
			this.admin.set("lock:{k}", holder.owner());
			this.backend.acquireOrRegister(last);
			this.backend.release("k", holder.owner());
			return last.owner().equals(this.admin.get("lock:{k}"));
		});
		this.ear.awaitGrant(last);
		assertThat(output.toString().split("the subscription is at another server than the commands", -1))
			.as("warnings")
			.hasSize(2);
		assertThat(output).contains("Release notifications arrive again");
	}

	/** Fails over without losing a write, as FAILOVER does. */
	private void failOver() {
		this.admin.replicaofNoOne();
		this.before.admin().replicaof("127.0.0.1", this.after.port());
		awaitReplica(this.before.admin());
		this.name.leadTo(this.after.port());
	}

	private static void awaitReplica(Jedis replica) {
		await("a replica").until(() -> replica.info("replication").contains("master_link_status:up"));
	}

	private void open(Client client) {
		RedisLockSettings settings = RedisLockSettings.defaults().commandTimeout(Patience.COMMAND);
		this.backend = this.before
			.closing(new RedisLockBackend(client.connectTo(this.name.port()), settings, this.now::get));
		this.listening = this.backend.listen("b", this.ear);
		this.backend.acquireOrRegister(claim("warm", "b"));
	}

	private Claim claim(String key, String instance) {
		return Claim.of(key, instance + ":" + this.owners.incrementAndGet(), instance, Duration.ofSeconds(30));
	}

}
