package io.github.distributedlock.multijvm;

import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.stream.IntStream;

import io.github.distributedlock.LockHandle;
import io.github.distributedlock.LockStatus;
import io.github.distributedlock.backend.LockBackend;
import io.github.distributedlock.engine.LockEngine;
import io.github.distributedlock.fixtures.JvmProcess;
import io.github.distributedlock.fixtures.OwnThreads;
import io.github.distributedlock.fixtures.Patience;
import io.github.distributedlock.multijvm.Visitor.Kind;
import io.github.distributedlock.tck.History;
import io.github.distributedlock.tck.History.Hold;
import io.github.distributedlock.tck.HistoryChecker;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

/**
 * Three JVMs share, limit and queue up for a lock.
 */
abstract class JvmsContract {

	private static final int JVMS = 3;

	/** Threads of each JVM that may hold the lock together, and one that holds alone. */
	private static final int TOGETHER = 4;

	private static final int ROUNDS = 25;

	@RegisterExtension
	final OwnThreads threads = new OwnThreads();

	@TempDir
	private Path directory;

	private final List<JvmProcess> visitors = new ArrayList<>();

	private LockEngine engine;

	/**
	 * Opens an empty store for the JVM of the test.
	 */
	abstract LockBackend open();

	/**
	 * Returns where another JVM finds the store.
	 */
	abstract String[] store(int jvm);

	void closeStore() {
	}

	@BeforeEach
	void start() {
		this.engine = LockEngine.builder(open()).watchdogTimeout(Visitor.LEASE).build();
		for (int jvm = 0; jvm < JVMS; jvm++) {
			List<String> arguments = new ArrayList<>(List.of(store(jvm)));
			arguments.add(0, file(jvm));
			this.visitors.add(JvmProcess.start(Visitor.class, arguments.toArray(String[]::new)));
		}
		this.visitors.forEach((visitor) -> visitor.awaitLine("ready"));
	}

	@AfterEach
	void stop() {
		this.visitors.forEach(JvmProcess::close);
		this.engine.close();
		closeStore();
	}

	@Tag("thorough")
	@Test
	void fairRequestsAreServedInTheOrderOfTheirArrival() {
		int requests = 24;
		List<String> arrived = new ArrayList<>();
		try (LockHandle held = this.engine.acquire(Kind.FAIR.request())) {
			assertThat(held.isHeld()).isTrue();
			for (int i = 0; i < requests; i++) {
				// Each JVM has neighbours of its own and of both others.
				this.visitors.get((i * i / 2) % JVMS).send("FAIR 1");
				int waiting = i + 1;
				await().until(() -> status().waiters().size() == waiting);
			}
			status().waiters().forEach((waiter) -> arrived.add(waiter.ticket()));
		}
		await().until(() -> holds(Kind.FAIR).size() == requests);
		assertThat(holds(Kind.FAIR)).extracting(Hold::owner).isEqualTo(arrived);
	}

	@ParameterizedTest
	@EnumSource(names = { "SHARED", "PERMIT" })
	void nobodyHoldsBesideOneThatHoldsAlone(Kind kind) {
		for (JvmProcess visitor : this.visitors) {
			IntStream.range(0, TOGETHER).forEach((thread) -> visitor.send(kind + " " + ROUNDS));
			visitor.send("EXCLUSIVE " + ROUNDS);
		}
		this.visitors
			.forEach((visitor) -> IntStream.rangeClosed(0, TOGETHER).forEach((i) -> visitor.awaitLine("done")));
		List<Hold> together = holds(kind);
		List<Hold> alone = holds(Kind.EXCLUSIVE);
		assertThat(together).hasSize(JVMS * TOGETHER * ROUNDS);
		assertThat(alone).hasSize(JVMS * ROUNDS);
		HistoryChecker.assertExclusive(alone);
		HistoryChecker.assertApart(together, alone);
		if (kind == Kind.PERMIT) {
			HistoryChecker.assertAtMost(Visitor.PERMITS, together);
			assertThat(HistoryChecker.mostTogether(together)).as("all permits").hasSize(Visitor.PERMITS);
		}
		assertThat(HistoryChecker.overlaps(together)).as("several JVMs together")
			.anyMatch((overlap) -> !instance(overlap.first()).equals(instance(overlap.second())));
		await().until(() -> status().isFree());
	}

	/**
	 * The lock is renewed by the holder's JVM, and not free before the last lease has run
	 * out.
	 */
	@Tag("thorough")
	@ParameterizedTest
	@EnumSource(names = { "SHARED", "PERMIT" })
	void theLockOfAJvmThatIsKilledEndsWithItsLease(Kind kind) {
		List<JvmProcess> holders = this.visitors.subList(0, 2);
		holders.forEach((holder) -> holder.send(kind + " 0"));
		holders.forEach((holder) -> holder.awaitLine("holds"));
		Path file = this.directory.resolve("alone");
		CompletableFuture<Void> alone = CompletableFuture.runAsync(() -> {
			try (History history = History.write(file);
					LockHandle handle = this.engine.acquire(Kind.EXCLUSIVE.request())) {
				history.acquired(handle).end();
			}
		}, this.threads);
		await().until(() -> status().waiters().size() == 1);
		holders.get(0).kill();
		await().until(() -> status().holders().size() == 1);
		assertThat(alone).as("while the other JVM holds the lock").isNotDone();
		holders.get(1).kill();
		Patience.get(alone, "the lock of those that were killed");
		HistoryChecker.assertApart(holds(kind), History.read(file));
	}

	private LockStatus status() {
		return this.engine.inspect(Visitor.KEY);
	}

	private String file(int jvm) {
		return this.directory.resolve("jvm-" + jvm).toString();
	}

	private List<Hold> holds(Kind kind) {
		return IntStream.range(0, JVMS)
			.mapToObj((jvm) -> History.read(kind.history(file(jvm))))
			.flatMap(List::stream)
			.sorted(Comparator.comparingLong(Hold::from))
			.toList();
	}

	private static String instance(Hold hold) {
		return hold.owner().substring(0, hold.owner().indexOf(':'));
	}

}
