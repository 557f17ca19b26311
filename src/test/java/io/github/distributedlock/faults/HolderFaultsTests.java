package io.github.distributedlock.faults;

import java.time.Duration;
import java.util.concurrent.CompletableFuture;

import io.github.distributedlock.LockRequest;
import io.github.distributedlock.faults.Recorder.Held;
import io.github.distributedlock.fixtures.Client;
import io.github.distributedlock.fixtures.OwnThreads;
import io.github.distributedlock.fixtures.Patience;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.extension.RegisterExtension;
import redis.clients.jedis.Jedis;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * The JVM that holds a lock stands still, or dies.
 */
@Tag("faults")
class HolderFaultsTests {

	@RegisterExtension
	static final OwnThreads THREADS = new OwnThreads();

	private static final String KEY = "nightly-report";

	private static final String LOCK = "lock:{nightly-report}";

	private static final Duration LONG_ENOUGH = Workload.PATIENCE;

	@EachClient
	void itStandsStillForLongerThanTheLease(Client client) throws Exception {
		Promise promise = Promise.WHOLE.withRemark("the loss is noticed as soon as it goes on; its token is refused");
		FaultRow.of("holder JVM stopped for longer than the lease, then continued", client)
			.promising(promise)
			.run((trial) -> stop(trial, client));
	}

	@EachClient
	void itIsKilled(Client client) throws Exception {
		FaultRow.of("holder JVM killed", client).run((trial) -> kill(trial, client));
	}

	private static void stop(Trial trial, Client client) throws Exception {
		try (RecordedHolder holder = holder(trial, client); Jedis admin = trial.server().admin()) {
			holder.process().pause();
			try (Held next = acquireNext(trial)) {
				GuardedRow row = new GuardedRow();
				assertThat(row.update(next.handle().fencingToken().getAsLong())).isTrue();

				trial.recorder().strikes();
				long continued = System.nanoTime();
				holder.process().resume();
				trial.recorder().toldAfter(holder.awaitLoss() - continued);

				assertThat(row.update(holder.token())).as("late write accepted").isFalse();
				holder.release();
				assertThat(admin.get(LOCK)).as("after the late release").isEqualTo(next.handle().owner());
			}
		}
	}

	private static void kill(Trial trial, Client client) throws Exception {
		try (RecordedHolder holder = holder(trial, client); Jedis admin = trial.server().admin()) {
			CompletableFuture<Held> next = CompletableFuture.supplyAsync(() -> acquireNext(trial), THREADS);
			Thread.sleep(Trial.LEASE.toMillis());
			assertThat(admin.get(LOCK)).as("renewed").isEqualTo(holder.owner());
			long killed = System.nanoTime();
			holder.process().kill();
			while (holder.owner().equals(admin.get(LOCK))) {
				Thread.sleep(1);
			}
			trial.recorder().orphan(System.nanoTime() - killed);
			Patience.get(next, "the next holder").close();
		}
	}

	private static RecordedHolder holder(Trial trial, Client client) {
		return RecordedHolder.of(KEY, client, trial.server().port(), trial.recorder().another());
	}

	private static Held acquireNext(Trial trial) {
		return trial.recorder()
			.acquire(trial.rival().engine(), LockRequest.of(KEY).fenced(true).waitTime(LONG_ENOUGH))
			.orElseThrow();
	}

	/** {@code UPDATE … SET token = ? WHERE token < ?}. */
	private static final class GuardedRow {

		private long token;

		boolean update(long token) {
			boolean newer = this.token < token;
			this.token = newer ? token : this.token;
			return newer;
		}

	}

}
