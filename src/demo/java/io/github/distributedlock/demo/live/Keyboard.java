package io.github.distributedlock.demo.live;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStream;
import java.io.InputStreamReader;
import java.nio.charset.Charset;
import java.time.Duration;
import java.util.Optional;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;

/**
 * Lines that are entered, read by a thread as they come. Their end is a line, too: that
 * of one who wants to quit.
 */
final class Keyboard {

	private final BlockingQueue<String> lines = new LinkedBlockingQueue<>();

	Keyboard(InputStream input) {
		Thread reader = new Thread(() -> read(input), "keyboard");
		reader.setDaemon(true);
		reader.start();
	}

	/**
	 * Waits for the next line, but not for longer than that.
	 */
	Optional<String> await(Duration time) throws InterruptedException {
		return Optional.ofNullable(this.lines.poll(time.toMillis(), TimeUnit.MILLISECONDS));
	}

	private void read(InputStream input) {
		try (BufferedReader reader = new BufferedReader(new InputStreamReader(input, Charset.defaultCharset()))) {
			for (String line = reader.readLine(); line != null; line = reader.readLine()) {
				this.lines.add(line);
			}
		}
		catch (IOException ex) {
			ex.printStackTrace();
		}
		this.lines.add(String.valueOf(Command.QUIT));
	}

}
