package io.github.distributedlock.demo.live;

import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Optional;

import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;

class NewsTests {

	private final News news = new News();

	@Test
	void aFirstLookIsAllNew() {
		assertThat(update(Looks.look(State.SILENT, 2, locks(Map.of())))).containsExactly(" 12.3 s  JVM 1 is silent.",
				" 12.3 s  JVM 2 is running.", " 12.3 s  JVM 3 is starting.");
	}

	@Test
	void theSameIsNoNews() {
		Look look = Looks.look(State.KILLED, 1, Looks.OF_JVM_2);
		assertThat(this.news.update(look)).isTrue();
		assertThat(this.news.update(look)).isFalse();
	}

	@Test
	void aJvmThatLeavesHasItsLocksYet() {
		update(Looks.look(State.RUNNING, 2, Looks.OF_JVM_2));
		assertThat(update(Looks.look(State.KILLED, 1, Looks.OF_JVM_2)))
			.containsExactly(" 12.3 s  JVM 1 is killed and has stock:apples.");
	}

	@Test
	void aJvmMayLeaveWithoutLocks() {
		update(Looks.look(State.RUNNING, 2, Looks.OF_JVM_2));
		assertThat(update(Looks.look(State.PAUSED, 2, Looks.OF_JVM_2))).containsExactly(" 12.3 s  JVM 1 is paused.");
	}

	@Test
	void anotherTakesOverFromOneThatDoesNotRun() {
		update(Looks.look(State.KILLED, 1, Looks.OF_JVM_2));
		assertThat(update(Looks.look(State.KILLED, 2, Looks.OF_JVM_2)))
			.containsExactly(" 12.3 s  JVM 2 has stock:apples, which JVM 1 had.");
	}

	@Test
	void anotherTakesOverAfterAMomentWithoutHolder() {
		Look before = Looks.look(State.KILLED, 1, Looks.OF_JVM_2);
		update(before);
		Look free = new Look(before.at(), before.jvms(), List.of(new Look.Key("stock:apples", Optional.empty())));
		assertThat(update(free)).isEmpty();
		assertThat(update(Looks.look(State.KILLED, 2, Looks.OF_JVM_2)))
			.containsExactly(" 12.3 s  JVM 2 has stock:apples, which JVM 1 had.");
	}

	@Test
	void handOversBetweenRunningJvmsHappenAllTheTime() {
		update(Looks.look(State.RUNNING, 1, Looks.OF_JVM_2));
		assertThat(update(Looks.look(State.RUNNING, 2, Looks.OF_JVM_2))).isEmpty();
	}

	@Test
	void tellsLossesByReason() {
		update(Looks.look(State.RUNNING, 2, locks(Map.of("TAKEN", 1L))));
		assertThat(update(Looks.look(State.RUNNING, 2, locks(Map.of("EXPIRED", 1L, "TAKEN", 3L)))))
			.containsExactlyInAnyOrder(" 12.3 s  JVM 2 has lost 1 lock: EXPIRED.",
					" 12.3 s  JVM 2 has lost 2 locks: TAKEN.");
	}

	@Test
	void tellsALossOnceThoughThereWasAPause() {
		update(ofJvm2(State.RUNNING, Optional.of(locks(Map.of("TAKEN", 3L)))));
		update(ofJvm2(State.PAUSED, Optional.empty()));
		assertThat(update(ofJvm2(State.RUNNING, Optional.of(locks(Map.of("TAKEN", 4L))))))
			.containsExactly("  1.0 s  JVM 2 is running.", "  1.0 s  JVM 2 has lost 1 lock: TAKEN.");
	}

	@Test
	void aNewProcessCountsItsLossesFromZero() {
		update(ofJvm2(State.RUNNING, Optional.of(locks(Map.of("TAKEN", 3L)))));
		update(ofJvm2(State.STARTING, Optional.empty()));
		assertThat(update(ofJvm2(State.RUNNING, Optional.of(locks(Map.of("TAKEN", 2L))))))
			.containsExactly("  1.0 s  JVM 2 is running.", "  1.0 s  JVM 2 has lost 2 locks: TAKEN.");
	}

	private List<String> update(Look look) {
		int before = this.news.sentences().size();
		this.news.update(look);
		return List.copyOf(this.news.sentences().subList(before, this.news.sentences().size()));
	}

	private static Look ofJvm2(State state, Optional<Locks> locks) {
		return new Look(Duration.ofSeconds(1), List.of(new Look.Jvm(2, state, 0, locks)), List.of());
	}

	private static Locks locks(Map<String, Long> losses) {
		return new Locks(List.of(), Map.of(), 0, losses, 0);
	}

}
