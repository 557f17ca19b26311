package io.github.distributedlock.multijvm;

import java.nio.file.Path;
import java.time.Duration;
import java.util.Comparator;
import java.util.List;
import java.util.stream.IntStream;

import io.github.distributedlock.fixtures.Client;
import io.github.distributedlock.fixtures.JvmProcess;
import io.github.distributedlock.fixtures.TestRedis;
import io.github.distributedlock.tck.History;
import io.github.distributedlock.tck.History.Hold;
import io.github.distributedlock.tck.HistoryChecker;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.api.io.TempDir;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

/**
 * A JVM that dies or stands still while its threads hand a lock on to each other.
 */
@Tag("thorough")
class SliceFaultsTests {

	@RegisterExtension
	final TestRedis redis = new TestRedis();

	private static final int JVMS = 3;

	private static final Duration LEASE = Duration.ofSeconds(6);

	@TempDir
	private Path directory;

	private List<JvmProcess> processes;

	@BeforeEach
	void start() {
		this.processes = IntStream.range(0, JVMS)
			.mapToObj((number) -> JvmProcess.start(Slicer.class,
					Client.values()[number % Client.values().length].name(), String.valueOf(this.redis.port()),
					String.valueOf(LEASE.toMillis()), history(number).toString()))
			.toList();
		this.processes.forEach((process) -> process.awaitLine("running"));
		await().until(() -> IntStream.range(0, JVMS).noneMatch((number) -> History.read(history(number)).isEmpty()));
	}

	@AfterEach
	void end() {
		this.processes.forEach(JvmProcess::close);
	}

	@Test
	void whoIsKilledHoldsUpTheOthersOnlyForItsLease() {
		Hold last = stopWhileItHolds(0);
		this.processes.get(0).kill();
		awaitNext(last);
		assertTheOthersGoOn(last);
	}

	@Test
	void whoStandsStillForLongerThanItsLeaseIsToldAndHarmsNobody() {
		Hold last = stopWhileItHolds(0);
		awaitNext(last);
		this.processes.get(0).resume();
		assertThat(this.processes.get(0).awaitLineAfter("lost ")).isEqualTo(last.owner());
		int before = History.read(history(0)).size();
		await("the resumed JVM has the lock again").until(() -> History.read(history(0)).size() > before);
		assertTheOthersGoOn(last);
		this.processes.forEach(JvmProcess::kill);
		assertThat(this.processes.get(0).output()).as("told once")
			.filteredOn((line) -> line.startsWith("lost "))
			.hasSize(1);
		assertThat(this.processes.subList(1, JVMS)).flatExtracting(JvmProcess::output)
			.noneMatch((line) -> line.startsWith("lost "));
	}

	private Hold stopWhileItHolds(int number) {
		JvmProcess process = this.processes.get(number);
		while (true) {
			process.pause();
			List<Hold> holds = History.read(history(number));
			Hold last = holds.get(holds.size() - 1);
			if (!last.returned() && last.owner().equals(this.redis.admin().get("lock:{" + Slicer.KEY + "}"))) {
				return last;
			}
			process.resume();
		}
	}

	private void awaitNext(Hold last) {
		await().until(() -> othersSince(last.until()).size() > 0);
		Hold next = othersSince(last.from()).get(0);
		System.out.printf("Stopped in a slice: next hold %d ms after its lease%n",
				Duration.ofNanos(next.from() - last.until()).toMillis());
		assertThat(next.from() - last.until()).isNotNegative();
	}

	private void assertTheOthersGoOn(Hold last) {
		await().until(() -> IntStream.range(1, JVMS)
			.allMatch((number) -> History.read(history(number))
				.stream()
				.filter((hold) -> hold.from() > last.until())
				.count() > 2));
		HistoryChecker.assertExclusive(holds(0));
	}

	private List<Hold> othersSince(long time) {
		return holds(1).stream()
			.filter((hold) -> hold.from() > time)
			.sorted(Comparator.comparingLong(Hold::from))
			.toList();
	}

	private List<Hold> holds(int first) {
		return IntStream.range(first, JVMS)
			.mapToObj((number) -> History.read(history(number)))
			.flatMap(List::stream)
			.toList();
	}

	private Path history(int number) {
		return this.directory.resolve("history-" + number);
	}

}
