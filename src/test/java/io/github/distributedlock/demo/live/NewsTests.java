package io.github.distributedlock.demo.live;

import java.util.List;
import java.util.Map;

import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;

class NewsTests {

	@Test
	void aFirstLookIsAllNew() {
		assertThat(News.of(Look.NOTHING, Looks.look(State.SILENT, 2, locks(Map.of()))))
			.containsExactly(" 12.3 s  JVM 1 is silent.", " 12.3 s  JVM 2 is running.", " 12.3 s  JVM 3 is starting.");
	}

	@Test
	void theSameIsNoNews() {
		Look look = Looks.look(State.KILLED, 1, Looks.OF_JVM_2);
		assertThat(News.of(look, look)).isEmpty();
	}

	@Test
	void aJvmThatLeavesHasItsLocksYet() {
		Look before = Looks.look(State.RUNNING, 2, Looks.OF_JVM_2);
		assertThat(News.of(before, Looks.look(State.KILLED, 1, Looks.OF_JVM_2)))
			.containsExactly(" 12.3 s  JVM 1 is killed and has stock:apples.");
		assertThat(News.of(before, Looks.look(State.PAUSED, 2, Looks.OF_JVM_2)))
			.containsExactly(" 12.3 s  JVM 1 is paused.");
	}

	@Test
	void anotherTakesOverFromOneThatDoesNotRun() {
		assertThat(News.of(Looks.look(State.KILLED, 1, Looks.OF_JVM_2), Looks.look(State.KILLED, 2, Looks.OF_JVM_2)))
			.containsExactly(" 12.3 s  JVM 2 has stock:apples, which JVM 1 had.");
		assertThat(News.of(Looks.look(State.RUNNING, 1, Looks.OF_JVM_2), Looks.look(State.RUNNING, 2, Looks.OF_JVM_2)))
			.as("what happens all the time")
			.isEmpty();
	}

	@Test
	void tellsLossesByReason() {
		Look before = Looks.look(State.RUNNING, 2, locks(Map.of("TAKEN", 1L)));
		assertThat(News.of(before, Looks.look(State.RUNNING, 2, locks(Map.of("EXPIRED", 1L, "TAKEN", 3L)))))
			.containsExactlyInAnyOrder(" 12.3 s  JVM 2 has lost 1 lock: EXPIRED.",
					" 12.3 s  JVM 2 has lost 2 locks: TAKEN.");
	}

	private static Locks locks(Map<String, Long> losses) {
		return new Locks(List.of(), Map.of(), 0, losses, 0);
	}

}
