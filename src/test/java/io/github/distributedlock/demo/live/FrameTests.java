package io.github.distributedlock.demo.live;

import java.util.List;
import java.util.stream.IntStream;

import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;

class FrameTests {

	@Test
	void showsHoldersWaitersRatesAndLosses() {
		List<String> frame = Frame.of(Looks.look(State.KILLED, 1, Looks.OF_JVM_2),
				List.of("  1.0 s  JVM 1 is running.", " 12.3 s  JVM 1 is killed and has stock:apples."),
				"What to say.");
		assertThat(String.join("\n", frame)).isEqualTo("""
				What the endpoint distributedlocks of three JVMs says                    12.3 s

				KEY            HOLDER           LEASE LEFT  HELD FOR  RENEWED  WAITING IN JVM
				stock:apples   JVM 1, killed         1.3 s         -        -  1: -  2: 2  3: -
				stock:pears    JVM 2, running        3.0 s     2.3 s        2  1: -  2: 1  3: -
				stock:plums    -                         -         -        -  1: -  2: 0  3: -

				JVM  STATE      LOCKS/S    HOLDS  WAITING     LOST  RENEWED LATE
				1    killed           -        -        -        -             -
				2    running       62.3        1        3        3             4
				3    starting         -        -        -        -             -

				  1.0 s  JVM 1 is running.
				 12.3 s  JVM 1 is killed and has stock:apples.





				What to say.
				p1 pauses JVM 1, r1 resumes, k1 kills, s1 starts; w writes a picture; q quits""");
	}

	@Test
	void isAsLongAsAnyOtherAndShowsTheLatestNews() {
		List<String> news = IntStream.rangeClosed(1, 50).mapToObj((number) -> "News " + number).toList();
		Look look = Looks.look(State.RUNNING, 2, Looks.OF_JVM_2);
		List<String> frame = Frame.of(look, news, "");
		assertThat(frame).contains("News 50").doesNotContain("News 1");
		assertThat(frame).hasSameSizeAs(Frame.of(look, List.of(), ""));
		assertThat(frame).hasSizeLessThan(24).allMatch((line) -> line.length() <= Frame.WIDTH);
	}

}
