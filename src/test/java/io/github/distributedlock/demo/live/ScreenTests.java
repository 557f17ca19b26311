package io.github.distributedlock.demo.live;

import java.io.ByteArrayOutputStream;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.util.List;

import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;

class ScreenTests {

	private final ByteArrayOutputStream shown = new ByteArrayOutputStream();

	@Test
	void aTerminalShowsEachFrameOverTheLastOne() {
		Screen screen = screen(true);
		screen.show(List.of("JVM 1 is killed", ""), true);
		assertThat(shown()).isEqualTo("\033[HJVM 1 is \033[31mkilled\033[0m\033[K\n\033[K\n\033[J> ");
		screen.show(List.of("a", "b"), true);
		assertThat(shown()).as("what is being typed stays").isEqualTo("\0337\033[Ha\033[K\nb\033[K\n\0338");
		screen.anew();
		screen.show(List.of("a", "b"), false);
		assertThat(shown()).as("what was entered goes").isEqualTo("\033[Ha\033[K\nb\033[K\n\033[J> ");
	}

	@Test
	void elsewhereThereAreNewsOnly() {
		Screen screen = screen(false);
		screen.show(List.of("JVM 1 is killed", "b"), false);
		assertThat(shown()).isEqualTo("JVM 1 is killed\nb\n\n");
		screen.show(List.of("c"), false);
		assertThat(shown()).isEmpty();
		screen.show(List.of("d"), true);
		assertThat(shown()).isEqualTo("d\n\n");
		screen.anew();
		screen.show(List.of("e"), false);
		assertThat(shown()).isEqualTo("e\n\n");
	}

	private Screen screen(boolean terminal) {
		return new Screen(new PrintStream(this.shown, true, StandardCharsets.UTF_8), terminal);
	}

	private String shown() {
		String text = this.shown.toString(StandardCharsets.UTF_8);
		this.shown.reset();
		return text;
	}

}
