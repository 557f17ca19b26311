package io.github.distributedlock.internal.observability;

import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.function.Consumer;

import io.github.distributedlock.LockEvent;
import io.github.distributedlock.LockEvent.Lost.Reason;
import io.github.distributedlock.LockHandle;
import io.github.distributedlock.LockRequest;
import io.github.distributedlock.backend.memory.InMemoryLockBackend;
import io.github.distributedlock.engine.LockEngine;
import io.github.distributedlock.fixtures.Allocations;
import jdk.jfr.Recording;
import jdk.jfr.consumer.RecordedEvent;
import jdk.jfr.consumer.RecordingFile;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

import static org.assertj.core.api.Assertions.assertThat;

class FlightRecorderEventsTests {

	private static final String PREFIX = "io.github.distributedlock.";

	private static final LockRequest SALE = LockRequest.of("a", "b").name("sale");

	private final FlightRecorderEvents events = new FlightRecorderEvents();

	@TempDir
	private Path directory;

	@Test
	void areOffUnlessARecordingEnablesThem() throws IOException {
		assertThat(recorded((recording) -> {
		})).isEmpty();
	}

	@Test
	void makeNothingWhileTheyAreOff() {
		LockEvent acquired = new LockEvent.Acquired(SALE, "us", Duration.ZERO);
		assertThat(Allocations.perCall(() -> this.events.onEvent(acquired))).isZero();
		LockEvent released = new LockEvent.Released(SALE, "a", "us", Duration.ZERO);
		assertThat(Allocations.perCall(() -> this.events.onEvent(released))).isZero();
	}

	@Test
	void sayHowLongRequestsWaitedAndKeysWereHeld() throws IOException {
		List<RecordedEvent> recorded = recorded((recording) -> {
			recording.enable(PREFIX + "LockAcquire");
			recording.enable(PREFIX + "LockHeld");
			recording.enable(PREFIX + "LockLost");
		});
		assertThat(recorded).extracting((event) -> event.getEventType().getName())
			.containsExactly(PREFIX + "LockAcquire", PREFIX + "LockAcquire", PREFIX + "LockHeld", PREFIX + "LockLost");
		RecordedEvent acquired = recorded.get(0);
		assertThat(acquired.getString("name")).isEqualTo("sale");
		assertThat(acquired.getString("keys")).isEqualTo("a,b");
		assertThat(acquired.getBoolean("acquired")).isTrue();
		assertThat(acquired.getDuration("waited")).isEqualTo(Duration.ofMillis(20));
		assertThat(acquired.getString("owner")).isEqualTo("us");
		assertThat(acquired.getString("holder")).isNull();
		assertThat(acquired.getThread().getJavaName()).isEqualTo(Thread.currentThread().getName());
		RecordedEvent busy = recorded.get(1);
		assertThat(busy.getBoolean("acquired")).isFalse();
		assertThat(busy.getString("owner")).isNull();
		assertThat(busy.getString("holder")).isEqualTo("other");
		RecordedEvent held = recorded.get(2);
		assertThat(held.getString("key")).isEqualTo("a");
		assertThat(held.getDuration("held")).isEqualTo(Duration.ofSeconds(4));
		RecordedEvent lost = recorded.get(3);
		assertThat(lost.getString("reason")).isEqualTo("NOT_RENEWED");
		assertThat(lost.getString("owner")).isEqualTo("us");
	}

	@Test
	void hearWhatAnEngineDoes() throws IOException {
		try (LockEngine engine = LockEngine.builder(new InMemoryLockBackend()).listener(this.events).build();
				Recording recording = new Recording()) {
			recording.enable(PREFIX + "LockHeld");
			recording.start();
			LockHandle handle = engine.acquire(LockRequest.of("k").name("sale"));
			handle.close();
			assertThat(stop(recording)).singleElement()
				.satisfies((event) -> assertThat(event.getString("owner")).isEqualTo(handle.owner()));
		}
	}

	@Test
	void showTheBeginningOfLongKeys() throws IOException {
		String most = "a".repeat(250);
		try (Recording recording = new Recording()) {
			recording.enable(PREFIX + "LockAcquire");
			recording.start();
			for (String key : List.of(most, most + "a")) {
				this.events.onEvent(new LockEvent.Acquired(LockRequest.of(key), "us", Duration.ZERO));
			}
			assertThat(stop(recording)).extracting((event) -> event.getString("keys"))
				.containsExactly(most, most + "…");
		}
	}

	private List<RecordedEvent> recorded(Consumer<Recording> settings) throws IOException {
		try (Recording recording = new Recording()) {
			settings.accept(recording);
			recording.start();
			this.events.onEvent(new LockEvent.Acquired(SALE, "us", Duration.ofMillis(20)));
			this.events.onEvent(new LockEvent.NotAcquired(SALE, Duration.ofMillis(300), "other"));
			this.events.onEvent(new LockEvent.Released(SALE, "a", "us", Duration.ofSeconds(4)));
			this.events.onEvent(new LockEvent.Lost(SALE, "b", "us", Reason.NOT_RENEWED, Duration.ofSeconds(30)));
			return stop(recording);
		}
	}

	private List<RecordedEvent> stop(Recording recording) throws IOException {
		recording.stop();
		Path file = this.directory.resolve("recording.jfr");
		recording.dump(file);
		return RecordingFile.readAllEvents(file)
			.stream()
			.filter((event) -> event.getEventType().getName().startsWith(PREFIX))
			.sorted((one, other) -> one.getStartTime().compareTo(other.getStartTime()))
			.toList();
	}

}
