package io.github.distributedlock.test;

import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.time.Duration;
import java.util.List;
import java.util.OptionalLong;
import java.util.concurrent.CompletableFuture;
import java.util.stream.IntStream;

import io.github.distributedlock.LockHandle;
import io.github.distributedlock.test.History.Hold;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.api.io.TempDir;

import static org.assertj.core.api.Assertions.assertThat;

class HistoryTests {

	private static final int WRITERS = 8;

	@RegisterExtension
	final OwnThreads threads = new OwnThreads();

	@TempDir
	private Path directory;

	@Test
	void whatWasWrittenIsRead() {
		try (History history = History.write(file())) {
			long first = history.begin("a key:{x} ⇄", "app@host/1#r:1", 10, 100);
			long second = history.begin("b", "app@host/1#r:1", 20, 200);
			history.end(second, 30);
			history.end(first, 40);
			history.begin("b", "app@host/1#r:2", 50, 500);
		}
		assertThat(History.read(file())).containsExactly(new Hold("a key:{x} ⇄", "app@host/1#r:1", 10, 40, true),
				new Hold("b", "app@host/1#r:1", 20, 30, true), new Hold("b", "app@host/1#r:2", 50, 500, false));
	}

	@Test
	void aHandleIsCertainlyHeldFromAcquiringToClosing() {
		FakeHandle handle = new FakeHandle();
		long before = System.nanoTime();
		try (History history = History.write(file())) {
			history.acquired(handle).end();
		}
		long after = System.nanoTime();
		assertThat(History.read(file())).hasSize(2).allSatisfy((hold) -> {
			assertThat(hold.from()).isBetween(before, after);
			assertThat(hold.until()).isBetween(hold.from(), after);
			assertThat(hold.returned()).isTrue();
		}).extracting(Hold::key).containsExactly("a", "b");
	}

	@Test
	void aHandleThatWasLostIsCertainlyHeldOnlyToItsFirstDeadline() {
		FakeHandle handle = new FakeHandle();
		try (History history = History.write(file())) {
			History.Entry entry = history.acquired(handle);
			handle.held = false;
			entry.end();
		}
		assertThat(History.read(file())).hasSize(2).allSatisfy((hold) -> {
			assertThat(hold.until() - hold.from()).isEqualTo(FakeHandle.REMAINING.toNanos());
			assertThat(hold.returned()).isFalse();
		});
	}

	@Test
	void aHandleThatWasRenewedAndLostIsCertainlyHeldToTheLastDeadlineSeen() {
		FakeHandle handle = new FakeHandle();
		long[] renewed = new long[1];
		try (History history = History.write(file())) {
			History.Entry entry = history.acquired(handle);
			handle.remaining = FakeHandle.REMAINING.multipliedBy(2);
			entry.look();
			renewed[0] = entry.until();
			handle.held = false;
			handle.remaining = Duration.ZERO;
			entry.look();
			entry.end();
		}
		assertThat(History.read(file())).hasSize(2).allSatisfy((hold) -> {
			assertThat(hold.until()).isEqualTo(renewed[0]);
			assertThat(hold.until() - hold.from()).isGreaterThan(FakeHandle.REMAINING.toNanos());
			assertThat(hold.returned()).isFalse();
		});
	}

	@Test
	void whoIsToldOfALossDoesNotCountOnTheDeadline() {
		FakeHandle handle = new FakeHandle();
		try (History history = History.write(file())) {
			History.Entry entry = history.acquired(handle);
			handle.held = false;
			entry.lost();
			entry.end();
		}
		long now = System.nanoTime();
		assertThat(History.read(file())).hasSize(2).allSatisfy((hold) -> {
			assertThat(hold.until()).isBetween(hold.from(), now);
			assertThat(hold.returned()).isTrue();
		});
	}

	@Test
	void aTokenIsWrittenWithItsHold() {
		FakeHandle handle = new FakeHandle();
		handle.token = OptionalLong.of(7);
		try (History history = History.write(file())) {
			history.acquired(handle).end();
		}
		assertThat(History.read(file())).hasSize(2).extracting(Hold::token).containsOnly(OptionalLong.of(7));
	}

	@Test
	void aKilledProcessLeavesItsHoldWithTheDeadline() {
		try (JvmProcess process = JvmProcess.start(Child.class, file().toString())) {
			process.awaitLine("written");
			process.kill();
		}
		assertThat(History.read(file())).containsExactly(new Hold("k", "o", 1, 2, false));
	}

	@Test
	void aLineThatWasCutOffIsLeftOut() throws Exception {
		try (History history = History.write(file())) {
			history.begin("k", "o", 1, 2);
		}
		Files.writeString(file(), "end 1 12", StandardOpenOption.APPEND);
		assertThat(History.read(file())).containsExactly(new Hold("k", "o", 1, 2, false));
	}

	@Test
	void manyThreadsWriteWholeLines() {
		int count = 2_000;
		try (History history = History.write(file())) {
			List<CompletableFuture<Void>> writers = IntStream.range(0, WRITERS)
				.mapToObj((writer) -> CompletableFuture.runAsync(() -> {
					for (int i = writer; i < count; i += WRITERS) {
						history.end(history.begin("k" + i, "o", i, Long.MAX_VALUE), i + 1);
					}
				}, this.threads))
				.toList();
			writers.forEach((writer) -> Patience.get(writer, "all is written"));
		}
		assertThat(History.read(file())).hasSize(count)
			.allMatch((hold) -> hold.returned() && hold.until() == hold.from() + 1);
	}

	private Path file() {
		return this.directory.resolve("history");
	}

	static final class Child {

		public static void main(String[] arguments) throws Exception {
			History history = History.write(Path.of(arguments[0]));
			history.begin("k", "o", 1, 2);
			System.out.println("written");
			ChildJvm.awaitLine();
		}

	}

	private static final class FakeHandle implements LockHandle {

		static final Duration REMAINING = Duration.ofSeconds(10);

		private boolean held = true;

		private Duration remaining = REMAINING;

		private OptionalLong token = OptionalLong.empty();

		@Override
		public List<String> keys() {
			return List.of("a", "b");
		}

		@Override
		public String owner() {
			return "o";
		}

		@Override
		public OptionalLong fencingToken() {
			return this.token;
		}

		@Override
		public boolean isHeld() {
			return this.held;
		}

		@Override
		public boolean isClosed() {
			return false;
		}

		@Override
		public Duration remaining() {
			return this.remaining;
		}

		@Override
		public void checkHeld() {
		}

		@Override
		public boolean extend(Duration lease) {
			return false;
		}

		@Override
		public LockHandle onLost(Runnable action) {
			return this;
		}

		@Override
		public void close() {
		}

	}

}
