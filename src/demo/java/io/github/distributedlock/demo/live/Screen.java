package io.github.distributedlock.demo.live;

import java.io.PrintStream;
import java.util.List;
import java.util.stream.Collectors;

/**
 * Shows frames: on a terminal each over the last one, elsewhere those with news one after
 * the other.
 */
final class Screen {

	private static final String SAVE_CURSOR = "\0337";

	private static final String RESTORE_CURSOR = "\0338";

	private static final String HOME = "\033[H";

	private static final String CLEAR_LINE = "\033[K\n";

	private static final String CLEAR_BELOW = "\033[J";

	private static final String PROMPT = "> ";

	private final PrintStream out;

	private final boolean terminal;

	private boolean anew = true;

	Screen(PrintStream out, boolean terminal) {
		this.out = out;
		this.terminal = terminal;
	}

	/**
	 * Shows the next frame with or without news, and on a terminal with an empty prompt:
	 * a line was entered, or the next frame is the last one.
	 */
	void anew() {
		this.anew = true;
	}

	void show(List<String> frame, boolean news) {
		if (this.terminal) {
			String text = frame.stream()
				.map((line) -> Words.paint(line, (word, state) -> "\033[" + state.ansi() + "m" + word + "\033[0m"))
				.collect(Collectors.joining(CLEAR_LINE, HOME, CLEAR_LINE));
			// The text that is being typed stays in its place.
			this.out.print(this.anew ? text + CLEAR_BELOW + PROMPT : SAVE_CURSOR + text + RESTORE_CURSOR);
		}
		else if (news || this.anew) {
			this.out.print(String.join("\n", frame) + "\n\n");
		}
		this.out.flush();
		this.anew = false;
	}

}
