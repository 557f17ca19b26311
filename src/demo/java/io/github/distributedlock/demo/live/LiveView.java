package io.github.distributedlock.demo.live;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Optional;

import io.github.distributedlock.demo.Terminal;

/**
 * Draws the locks of three JVMs, twice a second, and obeys what is typed meanwhile.
 * <p>
 * The end of {@code ./mvnw -f src/demo spring-boot:test-run -Plive} ends all JVMs and
 * servers that were started.
 */
public final class LiveView implements AutoCloseable {

	private static final Duration PAUSE = Duration.ofMillis(500);

	private static final Duration LONGEST_START = Duration.ofMinutes(5);

	private final Keyboard keyboard;

	private final Screen screen;

	private final Path picture;

	private final Markets markets = new Markets();

	private final News news = new News();

	private Look look = Look.NOTHING;

	private String answer = "";

	LiveView(Keyboard keyboard, Screen screen, Path picture) {
		this.keyboard = keyboard;
		this.screen = screen;
		this.picture = picture;
	}

	public static void main(String[] arguments) throws Exception {
		Screen screen = new Screen(System.out, Terminal.isThere());
		try (LiveView view = new LiveView(new Keyboard(System.in), screen, Path.of("target", "live-view.svg"))) {
			view.run();
		}
	}

	/**
	 * Shows what happens until somebody wants to quit.
	 */
	void run() throws IOException, InterruptedException {
		awaitStart();
		boolean goesOn = true;
		while (goesOn) {
			Optional<String> line = this.keyboard.await(PAUSE);
			if (line.isPresent()) {
				goesOn = obey(line.get());
				this.screen.anew();
			}
			draw();
		}
	}

	private void awaitStart() throws InterruptedException {
		draw();
		while (this.look.jvms().stream().anyMatch((jvm) -> jvm.state() != State.RUNNING)) {
			for (Look.Jvm jvm : this.look.jvms()) {
				if (jvm.state() == State.KILLED || this.look.at().compareTo(LONGEST_START) > 0) {
					throw new IllegalStateException(
							jvm.name() + " does not start:\n" + this.markets.jvm(jvm.number()).output());
				}
			}
			Thread.sleep(PAUSE.toMillis());
			draw();
		}
	}

	private void draw() {
		this.look = this.markets.look();
		boolean isNews = this.news.update(this.look);
		this.screen.show(frame(), isNews);
	}

	private List<String> frame() {
		return Frame.of(this.look, this.news.sentences(), this.answer);
	}

	private boolean obey(String line) throws IOException {
		this.answer = "";
		try {
			Command command = Command.parse(line);
			switch (command.letter()) {
				case Command.PAUSE -> this.markets.jvm(command.jvm()).pause();
				case Command.RESUME -> this.markets.jvm(command.jvm()).resume();
				case Command.KILL -> this.markets.jvm(command.jvm()).kill();
				case Command.START -> this.markets.jvm(command.jvm()).start();
				case Command.WRITE -> this.answer = write();
				default -> {
					return false;
				}
			}
		}
		catch (IllegalArgumentException | IllegalStateException ex) {
			this.answer = ex.getMessage();
		}
		return true;
	}

	private String write() throws IOException {
		Files.createDirectories(this.picture.toAbsolutePath().getParent());
		Files.writeString(this.picture, Picture.of(frame()));
		return "Written: " + this.picture;
	}

	@Override
	public void close() {
		this.markets.close();
	}

}
