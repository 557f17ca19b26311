package io.github.distributedlock.demo.live;

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.PipedInputStream;
import java.io.PipedOutputStream;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.regex.MatchResult;
import java.util.regex.Pattern;
import java.util.stream.Collectors;

import io.github.distributedlock.fixtures.OwnThreads;
import io.github.distributedlock.fixtures.Patience;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.api.io.TempDir;

import static org.assertj.core.api.Assertions.assertThat;

@Tag("thorough")
class LiveViewTests {

	@RegisterExtension
	final OwnThreads threads = new OwnThreads();

	private final ByteArrayOutputStream shown = new ByteArrayOutputStream();

	private final PipedOutputStream typed = new PipedOutputStream();

	private CompletableFuture<Void> quit;

	@TempDir
	Path directory;

	@Test
	void othersTakeTheLocksOfAJvmThatIsKilled() throws Exception {
		Set<ProcessHandle> others = processes();
		Path picture = this.directory.resolve("a/picture.svg");
		Keyboard keyboard = new Keyboard(new PipedInputStream(this.typed));
		Screen screen = new Screen(new PrintStream(this.shown, true, StandardCharsets.UTF_8), false);
		Set<ProcessHandle> started;
		try (LiveView view = new LiveView(keyboard, screen, picture)) {
			started = processes();
			started.removeAll(others);
			assertThat(started).as("a Redis and three JVMs").hasSizeGreaterThanOrEqualTo(4);
			this.quit = CompletableFuture.runAsync(() -> run(view), this.threads);
			String key = killWithLock();
			await("JVM [23] has " + key + ", which JVM 1 had\\.");
			enter("p1");
			await("\n1    killed           -        -        -        -             -\n(?s:.*)\nJVM 1 is dead\\.");
			enter("w");
			await("Written: .*picture\\.svg");
			assertThat(picture).content().contains(">killed</tspan>");
			enter("q");
			Patience.get(this.quit, "the end of the view");
		}
		assertThat(started).noneMatch(ProcessHandle::isAlive);
	}

	/**
	 * Kills JVM 1 under a lock.
	 * @return the key
	 */
	private String killWithLock() throws IOException {
		// A paused JVM keeps the locks that it has. If there are none, the test pauses
		// the JVM again.
		while (true) {
			await("\n1    running");
			enter("p1");
			String has = await("JVM 1 is paused(?: and has (stock:\\w+).*)?\\.").group(1);
			if (has != null) {
				enter("k1");
				await("JVM 1 is killed");
				return has;
			}
			enter("r1");
		}
	}

	private void enter(String line) throws IOException {
		this.shown.reset();
		this.typed.write((line + "\n").getBytes(StandardCharsets.UTF_8));
		this.typed.flush();
	}

	/**
	 * Waits for something to be shown since a line was entered.
	 * @return the last place of the text: the latest news
	 */
	private MatchResult await(String pattern) {
		return Awaitility.await(pattern)
			.failFast("The view has ended", () -> assertThat(this.quit).isNotDone())
			.until(() -> Pattern.compile(pattern).matcher(wholeFrames()).results().reduce((first, second) -> second),
					Optional::isPresent)
			.orElseThrow();
	}

	private String wholeFrames() {
		String text = this.shown.toString(StandardCharsets.UTF_8);
		return text.substring(0, Math.max(0, text.lastIndexOf(Command.HELP)));
	}

	private static Set<ProcessHandle> processes() {
		return ProcessHandle.current().descendants().collect(Collectors.toSet());
	}

	private static void run(LiveView view) {
		try {
			view.run();
		}
		catch (IOException | InterruptedException ex) {
			throw new IllegalStateException(ex);
		}
	}

}
