package io.github.distributedlock.multijvm;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.function.LongConsumer;
import java.util.stream.IntStream;
import java.util.stream.Stream;

import io.github.distributedlock.fixtures.Client;
import io.github.distributedlock.fixtures.JvmProcess;
import io.github.distributedlock.fixtures.TestRedis;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * JVMs that want one lock all the time take turns, each woken by exactly one message, for
 * {@code -Dlock.shares.millis} in each case. That nobody is bypassed is what makes their
 * shares equal, of which the times are only printed. A contest in which a JVM stood still
 * until a reservation had lapsed says nothing about that, and is held again.
 */
@Tag("thorough")
class SharesTests {

	@RegisterExtension
	static final TestRedis redis = new TestRedis();

	private static final Duration DURATION = Duration.ofMillis(Integer.getInteger("lock.shares.millis", 1000));

	private static final int THREADS = 4;

	private static final int MOST_JVMS = 3;

	private static final int CONTESTS = 20;

	private static List<JvmProcess> processes;

	@BeforeAll
	static void start() {
		processes = IntStream.range(0, MOST_JVMS).mapToObj((number) -> JvmProcess.start(Sharer.class)).toList();
		// A JVM whose code is not compiled yet does less in the same time.
		share(processes, Duration.ZERO, Duration.ofMillis(10), (holds) -> {
		}).run();
	}

	@AfterAll
	static void end() {
		processes.forEach(JvmProcess::close);
	}

	static Stream<Arguments> cases() {
		Stream<Arguments> slices = Stream.of(2, MOST_JVMS)
			.flatMap((jvms) -> Stream.of(0, 1, 10).map((hold) -> Arguments.of(jvms, hold, 10)));
		return Stream.concat(slices, Stream.of(0, 1).map((hold) -> Arguments.of(MOST_JVMS, hold, 0)));
	}

	@ParameterizedTest(name = "{0} JVMs, holds of {1} ms, slices of {2} ms")
	@MethodSource("cases")
	void takeTurnsAndNobodyIsBypassed(int jvms, int hold, int slice) {
		List<JvmProcess> sharers = processes.subList(0, jvms);
		try (ClientCommands commands = new ClientCommands(redis.server())) {
			StoreTrace trace = contest(commands, sharers, hold, slice);
			for (int i = 1; i < CONTESTS && (trace.lapses() > 0 || trace.slices().size() < jvms); i++) {
				trace = contest(commands, sharers, hold, slice);
			}
			assertThat(trace.mostBypasses()).as("bypasses").isLessThan(jvms);
			assertThat(trace.wakeUps()).as("wake-ups").isEqualTo(trace.handOvers() + trace.lapses());
			assertThat(trace.slices()).as("slices by JVM").hasSize(jvms);
		}
	}

	private static StoreTrace contest(ClientCommands commands, List<JvmProcess> sharers, int hold, int slice) {
		List<Long> holds = new ArrayList<>();
		Runnable contest = share(sharers, Duration.ofMillis(hold), Duration.ofMillis(slice), holds::add);
		StoreTrace trace = new StoreTrace(Sharer.KEY).read(commands.linesDuring(contest));
		System.out.printf("%d JVMs, holds of %d ms, slices of %d ms: %s by JVM; %s%n", sharers.size(), hold, slice,
				holds, trace);
		return trace;
	}

	/**
	 * Gets some JVMs ready.
	 * @return lets them begin, and waits for their ends
	 */
	private static Runnable share(List<JvmProcess> sharers, Duration hold, Duration slice, LongConsumer holds) {
		for (int i = 0; i < sharers.size(); i++) {
			Client client = Client.values()[i % Client.values().length];
			sharers.get(i).send(Sharer.order(client, redis.port(), THREADS, hold, slice, DURATION));
		}
		sharers.forEach((sharer) -> sharer.awaitLine("ready"));
		return () -> {
			sharers.forEach((sharer) -> sharer.send("go"));
			sharers.forEach((sharer) -> holds.accept(Long.parseLong(sharer.awaitLineAfter("holds "))));
		};
	}

}
