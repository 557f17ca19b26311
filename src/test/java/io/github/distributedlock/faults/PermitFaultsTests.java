package io.github.distributedlock.faults;

import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;

import io.github.distributedlock.LockBackendException;
import io.github.distributedlock.LockHandle;
import io.github.distributedlock.LockRequest;
import io.github.distributedlock.fixtures.ChildJvm;
import io.github.distributedlock.fixtures.Client;
import io.github.distributedlock.fixtures.JvmProcess;
import io.github.distributedlock.fixtures.OwnThreads;
import io.github.distributedlock.fixtures.Patience;
import io.github.distributedlock.fixtures.Variant;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.extension.RegisterExtension;
import redis.clients.jedis.Jedis;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assumptions.assumeThat;
import static org.awaitility.Awaitility.await;

/**
 * A fault of one holder of a key with permits concerns no other holder.
 */
@Tag("faults")
class PermitFaultsTests {

	@RegisterExtension
	static final OwnThreads THREADS = new OwnThreads();

	private static final String KEY = "limited";

	private static final String LOCK = "lock:{" + KEY + "}";

	static final LockRequest CALL = LockRequest.of(KEY).permits(2).detached(true).waitTime(Workload.PATIENCE);

	@BeforeAll
	static void needsScripts() {
		assumeThat(Variant.isByScripts()).as("steps by scripts").isTrue();
	}

	@EachClient
	void oneHolderIsKilled(Client client) throws Exception {
		FaultRow.of("JVM of one of 2 holders with permits killed", client).run((trial) -> {
			try (JvmProcess process = RecordedJvm.start(Caller.class, KEY, client, trial.server().port(),
					trial.recorder().another());
					LockHandle other = trial.holder().engine().acquire(CALL);
					Jedis admin = trial.server().admin()) {
				String killed = "permit:" + process.awaitLineAfter("owner ");
				CompletableFuture<LockHandle> next = CompletableFuture
					.supplyAsync(() -> trial.rival().engine().acquire(CALL), THREADS);
				double first = admin.zscore(LOCK, killed);
				await("a renewal").until(() -> admin.zscore(LOCK, killed) > first);
				assertThat(next).isNotDone();
				process.kill();
				try (LockHandle held = Patience.get(next, "the next holder")) {
					assertThat(admin.zscore(LOCK, killed)).as("the permit of the dead").isNull();
					assertThat(List.of(other, held)).allMatch(LockHandle::isHeld);
				}
			}
		});
	}

	@EachClient
	void theReplyOfAnAcquireIsLost(Client client) throws Exception {
		FaultRow.of("reply of acquire of a permit lost", client).relayed().run((trial) -> {
			trial.set(Trap.loseReply(Step.ACQUIRE, KEY));
			try (LockHandle held = trial.holder().engine().acquire(CALL); Jedis admin = trial.server().admin()) {
				assertThat(admin.zrange(LOCK, 0, -1)).as("one permit").containsExactly("permit:" + held.owner());
			}
		});
	}

	@EachClient
	void theReplyOfTheOnlyAttemptToAcquireIsLost(Client client) throws Exception {
		FaultRow.of("reply of acquire of a permit lost, no time to ask again", client).relayed().run((trial) -> {
			try (LockHandle other = trial.rival().engine().acquire(CALL); Jedis admin = trial.server().admin()) {
				trial.set(Trap.loseReply(Step.ACQUIRE, KEY));
				assertThatExceptionOfType(LockBackendException.class)
					.isThrownBy(() -> trial.holder().engine().acquire(CALL.waitTime(Duration.ZERO)));
				await("the other's permit alone")
					.until(() -> admin.zrange(LOCK, 0, -1).equals(List.of("permit:" + other.owner())));
			}
		});
	}

	@EachClient
	void theKeyIsDeleted(Client client) throws Exception {
		FaultRow.of("key of 2 holders with permits deleted", client).run((trial) -> {
			List<LockHandle> held = List.of(trial.holder().engine().acquire(CALL),
					trial.rival().engine().acquire(CALL));
			trial.admin((redis) -> redis.del(LOCK));
			await("each is told").until(() -> held.stream().noneMatch(LockHandle::isHeld));
			held.forEach(LockHandle::close);
			try (LockHandle again = trial.holder().engine().acquire(CALL)) {
				assertThat(again.isHeld()).isTrue();
			}
		});
	}

	/**
	 * Holds one of the permits until it is killed.
	 */
	static final class Caller {

		public static void main(String[] arguments) throws InterruptedException {
			RecordedJvm jvm = RecordedJvm.of(arguments);
			System.out.println("owner " + jvm.engine().acquire(CALL).owner());
			ChildJvm.awaitLine();
		}

	}

}
