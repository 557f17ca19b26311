package io.github.distributedlock.faults;

import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Future;
import java.util.stream.Stream;

import io.github.distributedlock.LockRequest;
import io.github.distributedlock.engine.LockEngine;
import io.github.distributedlock.faults.Recorder.Held;
import io.github.distributedlock.fixtures.Client;
import io.github.distributedlock.fixtures.OwnThreads;
import io.github.distributedlock.fixtures.Patience;
import io.github.distributedlock.fixtures.RespMessage;
import io.github.distributedlock.fixtures.Variant;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.extension.RegisterExtension;
import redis.clients.jedis.Jedis;
import redis.clients.jedis.args.ClientPauseMode;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assumptions.assumeThat;
import static org.awaitility.Awaitility.await;

/**
 * A fault between a grant, which the store makes, and the message of the grant, which
 * makes the waiter a holder.
 * <p>
 * A waiter that has not asked lately, as on a machine that is too busy, gets a
 * reservation instead. So each row hands the lock over until the lock was granted.
 */
@Tag("faults")
class GrantFaultsTests {

	@RegisterExtension
	static final OwnThreads THREADS = new OwnThreads();

	private static final String KEY = "granted";

	private static final String LOCK = "lock:{granted}";

	private static final String WAITERS = "lock-waiters:{granted}";

	private static final String CLAIMS = "lock-claims:{granted}";

	/** Short enough that a waiter has asked lately afterwards, too. */
	private static final Duration MOMENT = Duration.ofMillis(200);

	private static final LockRequest PATIENT = LockRequest.of(KEY).waitTime(Workload.PATIENCE);

	@BeforeEach
	void onlyScriptsGrant() {
		assumeThat(Variant.isByScripts()).as("steps by scripts, which grant locks").isTrue();
	}

	@EachClient
	void itsMessageIsLost(Client client) throws Exception {
		row("message of a grant lost", client).run((trial) -> {
			GrantTrap trap = set(trial, GrantTrap.lose(KEY));
			try (Held served = handOverUntilStruck(trial, trap)) {
				assertThat(served.handle().owner()).as("found by a poll").isEqualTo(trap.owner());
				assertThat(ownerIn(trial)).isEqualTo(trap.owner());
			}
		});
	}

	@EachClient
	void itsMessageIsDelayedPastItsLease(Client client) throws Exception {
		row("message of a grant delayed for 1.5 leases", client).run((trial) -> {
			GrantTrap trap = set(trial, GrantTrap.holdBack(KEY));
			try (Held served = handOverUntilStruck(trial, trap)) {
				assertThat(served.handle().owner()).as("found by a poll").isEqualTo(trap.owner());
			}
			Thread.sleep(Trial.LEASE.multipliedBy(3).dividedBy(2).toMillis());
			Future<Held> next;
			try (Held held = acquire(trial, trial.holder().engine())) {
				next = waits(trial, trial.rival().engine());
				CompletableFuture<List<String>> takesOver = new CompletableFuture<>();
				trial.rival().relay().add((request, connection) -> {
					if (Step.REGISTER.isIn(request.words()) && request.words().contains(trap.owner())) {
						takesOver.complete(request.words());
					}
					return false;
				});
				trap.deliver();
				assertThat(Patience.get(takesOver, "the question that names the late owner")).contains(LOCK);
				assertThat(next).isNotDone();
				assertThat(held.handle().isHeld()).isTrue();
				assertThat(ownerIn(trial)).isEqualTo(held.handle().owner());
			}
			try (Held served = Patience.get(next, "the lock")) {
				assertThat(served.handle().owner()).isNotEqualTo(trap.owner());
			}
		});
	}

	@EachClient
	void itsJvmStandsStillForLongerThanItsLease(Client client) throws Exception {
		FaultRow.of("JVM stopped between a grant and its message for longer than the lease", client).run((trial) -> {
			try (RecordedWaiter waiter = waiter(trial, client); Jedis admin = trial.server().admin()) {
				String owner = stopUntilGranted(trial, waiter, admin);
				try (Held next = acquire(trial, trial.rival().engine())) {
					trial.recorder().strikes();
					waiter.process().resume();
					// The waiter waits anew, behind the one that has the lock.
					await("another question").until(() -> admin.hexists(CLAIMS, waiter.instance()));
					assertThat(next.handle().isHeld()).isTrue();
					assertThat(admin.get(LOCK)).isEqualTo(next.handle().owner());
				}
				assertThat(waiter.awaitOwner()).as("of the same request").isEqualTo(owner);
				waiter.release();
			}
		});
	}

	@EachClient
	void itsJvmStandsStillAndOthersHaveALongerLease(Client client) throws Exception {
		itsJvmStandsStill("JVM stopped before a grant that is shorter than the lease of 10 min", client, false);
	}

	@EachClient
	void itsJvmStandsStillAndItWaitsFairly(Client client) throws Exception {
		itsJvmStandsStill("JVM stopped before a fair grant that is shorter than the lease of 10 min", client, true);
	}

	private static void itsJvmStandsStill(String fault, Client client, boolean fair) throws Exception {
		Duration lease = Duration.ofMinutes(10);
		FaultRow.of(fault, client).run((trial) -> {
			LockRequest patient = PATIENT.fair(fair);
			try (RecordedWaiter waiter = RecordedWaiter.of(KEY, client, trial.server().port(),
					trial.recorder().another(), lease, fair); Jedis admin = trial.server().admin()) {
				String owner = stopUntilGranted(trial, waiter, admin);
				long left = admin.pttl(LOCK);
				assertThat(left).as("the lease of the grant").isBetween(1L, 3000L);
				try (Held next = trial.recorder().acquire(trial.rival().engine(), patient).orElseThrow()) {
					assertThat(admin.get(LOCK)).isEqualTo(next.handle().owner());
					waiter.process().resume();
					await("another question").until(() -> waits(admin, waiter, owner));
					assertThat(next.handle().isHeld()).isTrue();
				}
				assertThat(waiter.awaitOwner()).as("of the same request").isEqualTo(owner);
				waiter.release();
			}
		});
	}

	private static boolean waits(Jedis admin, RecordedWaiter waiter, String owner) {
		return admin.hexists(CLAIMS, waiter.instance()) || admin.hexists(CLAIMS, owner);
	}

	@EachClient
	void itsJvmIsKilled(Client client) throws Exception {
		FaultRow.of("JVM killed between a grant and its message", client).run((trial) -> {
			try (RecordedWaiter waiter = waiter(trial, client); Jedis admin = trial.server().admin()) {
				String owner = stopUntilGranted(trial, waiter, admin);
				Future<Held> next = waits(trial, trial.rival().engine());
				long killed = System.nanoTime();
				waiter.process().kill();
				while (owner.equals(admin.get(LOCK))) {
					Thread.sleep(1);
				}
				trial.recorder().orphan(System.nanoTime() - killed);
				Patience.get(next, "the lock").close();
			}
		});
	}

	@EachClient
	void theServerStandsStillForLessThanItsLease(Client client) throws Exception {
		theServerStandsStill("server stopped between a grant and its message for 0.4 leases", client,
				Promise.NOTHING_LOST, Trial.LEASE.multipliedBy(2).dividedBy(5));
	}

	@EachClient
	void theServerStandsStillForLongerThanItsLease(Client client) throws Exception {
		theServerStandsStill("server stopped between a grant and its message for 1.5 leases", client, Promise.WHOLE,
				Trial.LEASE.multipliedBy(3).dividedBy(2));
	}

	private static void theServerStandsStill(String fault, Client client, Promise promise, Duration time)
			throws Exception {
		row(fault, client).promising(promise).run((trial) -> {
			GrantTrap trap = GrantTrap.first(KEY, trial.server()::pause);
			CompletableFuture<Void> resumed = CompletableFuture.runAsync(() -> {
				trap.owner();
				pause(time);
				trial.server().resume();
			}, THREADS);
			set(trial, trap);
			try (Held served = handOverUntilStruck(trial, trap)) {
				Patience.get(resumed, "the server to go on");
				assertThat(served.handle().owner()).isEqualTo(trap.owner());
			}
		});
	}

	@EachClient
	void theServerIsPausedAsTheLockIsReleased(Client client) throws Exception {
		row("CLIENT PAUSE from before a grant on", client).promising(Promise.NOTHING_LOST).run((trial) -> {
			GrantTrap trap = set(trial, GrantTrap.none(KEY));
			trial.holder().relay().add((request, connection) -> {
				if (Step.RELEASE.isIn(request.words()) && request.words().contains(LOCK) && !trap.hasStruck()) {
					trial.admin((redis) -> redis.clientPause(MOMENT.toMillis(), ClientPauseMode.ALL));
				}
				return false;
			});
			handOverUntilStruck(trial, trap).close();
		});
	}

	private static FaultRow row(String fault, Client client) {
		return FaultRow.of(fault, client).relayed();
	}

	private static GrantTrap set(Trial trial, GrantTrap trap) {
		Stream.of(trial.holder(), trial.rival()).forEach((member) -> member.relay().addForMessages(trap));
		return trap;
	}

	/**
	 * Hands the lock from the holder to the rival, if need be again and again, until the
	 * lock was granted.
	 * @return the hold that the grant has led to
	 */
	private static Held handOverUntilStruck(Trial trial, GrantTrap trap) {
		while (true) {
			Held given = acquire(trial, trial.holder().engine());
			Future<Held> next = waits(trial, trial.rival().engine());
			given.close();
			Held served = Patience.get(next, "the lock");
			if (trap.hasStruck()) {
				return served;
			}
			served.close();
		}
	}

	/**
	 * Stops a waiting JVM, and hands the lock over, if need be again and again, until the
	 * lock was granted to that JVM. The message of the grant is on the connection then.
	 * @return the owner to which the lock was granted
	 */
	private static String stopUntilGranted(Trial trial, RecordedWaiter waiter, Jedis admin) {
		while (true) {
			Held given = acquire(trial, trial.holder().engine());
			waiter.request();
			await("a claim of the JVM")
				.until(() -> admin.hkeys(CLAIMS).stream().anyMatch((claim) -> claim.startsWith(waiter.instance())));
			waiter.process().pause();
			given.close();
			String owner = admin.get(LOCK);
			if (owner != null && owner.startsWith(waiter.instance() + ":")) {
				return owner;
			}
			waiter.process().resume();
			waiter.awaitOwner();
			waiter.release();
		}
	}

	private static RecordedWaiter waiter(Trial trial, Client client) {
		return RecordedWaiter.of(KEY, client, trial.server().port(), trial.recorder().another());
	}

	private static Held acquire(Trial trial, LockEngine engine) {
		return trial.recorder().acquire(engine, PATIENT).orElseThrow();
	}

	private static Future<Held> waits(Trial trial, LockEngine engine) {
		Future<Held> waiting = CompletableFuture.supplyAsync(() -> acquire(trial, engine), THREADS);
		trial.admin((redis) -> await("one that waits").until(() -> waiting.isDone() || redis.zcard(WAITERS) == 1));
		return waiting;
	}

	private static String ownerIn(Trial trial) {
		try (Jedis admin = trial.server().admin()) {
			return admin.get(LOCK);
		}
	}

	private static String published(RespMessage message) {
		return message.words().get(2);
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
