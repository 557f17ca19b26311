package io.github.distributedlock.docs;

// tag::testing-plain[]
import java.io.IOException;
// end::testing-plain[]
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
// tag::testing-plain[]
import java.nio.file.Path;
// end::testing-plain[]
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
// tag::testing-plain[]

// end::testing-plain[]
import io.github.distributedlock.LockEvent;
// tag::testing-plain[]
import io.github.distributedlock.LockHandle;
// end::testing-plain[]
import io.github.distributedlock.LockLostException;
// tag::testing-plain[]
import io.github.distributedlock.backend.memory.InMemoryLockBackend;
import io.github.distributedlock.engine.LockEngine;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

import static org.assertj.core.api.Assertions.assertThat;
// end::testing-plain[]
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

// tag::testing-plain[]

class ReportsTests {

	private final InMemoryLockBackend store = new InMemoryLockBackend();

	@TempDir
	private Path directory;

	@Test
	void writesOnlyIfNobodyElseDoes() throws IOException {
		Path file = this.directory.resolve("report");
		try (LockEngine here = LockEngine.builder(this.store).build();
				LockEngine otherJvm = LockEngine.builder(this.store).build()) {
			Reports reports = new Reports(here);
			try (LockHandle held = otherJvm.acquire("nightly-report")) {
				assertThat(reports.writeUnlessBusy(file, () -> "text")).isFalse();
			}
			assertThat(reports.writeUnlessBusy(file, () -> "text")).isTrue();
			assertThat(file).hasContent("text");
		}
	}

	// end::testing-plain[]

	@Test
	void writesUnderTheLock() throws IOException {
		Path file = this.directory.resolve("report");
		try (LockEngine here = LockEngine.builder(this.store).build()) {
			new Reports(here).write(file, ReportsTests::keys);
		}
		assertThat(file).hasContent("[nightly-report]");
	}

	@Test
	void doesNotWriteWhatItNoLongerMay() {
		Path file = this.directory.resolve("report");
		try (LockEngine here = LockEngine.builder(this.store).build()) {
			Reports reports = new Reports(here);
			assertThatExceptionOfType(LockLostException.class).isThrownBy(() -> reports.write(file, () -> {
				here.close(); // its locks are lost
				return "stale";
			}));
		}
		assertThat(file).doesNotExist();
	}

	@Test
	void mergesUnderAllLocks() throws IOException {
		Path first = this.directory.resolve("first");
		Path second = this.directory.resolve("second");
		Files.writeString(first, "1");
		List<LockEvent> events = new CopyOnWriteArrayList<>();
		try (LockEngine here = LockEngine.builder(this.store).listener(events::add).build()) {
			MergedReports merged = new MergedReports(here);
			assertThatExceptionOfType(NoSuchFileException.class).isThrownBy(() -> merged.merge(List.of(first, second)));
			Files.writeString(second, "2");
			assertThat(merged.merge(List.of(first, second))).isEqualTo("12");
		}
		assertThat(events).filteredOn(LockEvent.Acquired.class::isInstance)
			.hasSize(2)
			.allSatisfy((event) -> assertThat(((LockEvent.Acquired) event).keys())
				.containsExactlyInAnyOrder("file:" + first, "file:" + second));
		assertThat(events).filteredOn(LockEvent.Released.class::isInstance).hasSize(4);
	}

	private static String keys() {
		return String.valueOf(LockHandle.current().orElseThrow().keys());
	}

	// tag::testing-plain[]

}
// end::testing-plain[]
