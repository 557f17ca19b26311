package io.github.distributedlock.test;

import java.io.IOException;
import java.io.OutputStream;
import java.io.UncheckedIOException;
import java.net.URLDecoder;
import java.net.URLEncoder;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.OptionalLong;

import io.github.distributedlock.LockHandle;

/**
 * Writes down who held which key when, to a file that outlives a killed process.
 * <p>
 * Times are those of {@link System#nanoTime()}. On Linux that is {@code CLOCK_MONOTONIC},
 * which counts from the start of the machine, so that the times of all processes of one
 * machine can be compared. {@code JvmProcessTests} checks it.
 * <p>
 * Each line is on its way to the disk before the method returns: what has no end in the
 * file was not given back before the process died. Thread-safe.
 */
public final class History implements AutoCloseable {

	private static final String BEGIN = "begin";

	private static final String RENEWED = "renewed";

	private static final String END = "end";

	private static final long NO_TOKEN = -1;

	private static final long LOOKING_NANOS = 1_000_000;

	private final OutputStream file;

	private long count;

	private History(OutputStream file) {
		this.file = file;
	}

	/**
	 * Begins a history. Each process needs a file of its own.
	 * @param file the file, which must not exist
	 * @return the history
	 */
	public static History write(Path file) {
		try {
			return new History(Files.newOutputStream(file, StandardOpenOption.CREATE_NEW));
		}
		catch (IOException ex) {
			throw new UncheckedIOException(ex);
		}
	}

	/**
	 * Says that the calling thread has acquired a lock. Call it as soon as the handle is
	 * there; not for a lock that was re-entered.
	 * @param handle the handle
	 * @return the entry, to be ended right before the handle is closed
	 */
	public Entry acquired(LockHandle handle) {
		// The order matters: the time that remains was longer at the time noted before.
		long now = System.nanoTime();
		long until = now + handle.remaining().toNanos();
		long token = handle.fencingToken().orElse(NO_TOKEN);
		List<Long> numbers = new ArrayList<>();
		for (String key : handle.keys()) {
			numbers.add(begin(key, handle.owner(), now, until, token));
		}
		return new Entry(handle, numbers, until);
	}

	/**
	 * Says that a key is held from now.
	 * @param key the key
	 * @param owner who holds it
	 * @param now the time
	 * @param until until when it is certainly held if it does not end before
	 * @return the entry's number
	 */
	public long begin(String key, String owner, long now, long until) {
		return begin(key, owner, now, until, NO_TOKEN);
	}

	private synchronized long begin(String key, String owner, long now, long until, long token) {
		long number = ++this.count;
		append(BEGIN, number, encode(key), encode(owner), now, until, token);
		return number;
	}

	/**
	 * Says that an entry that does not end before is held for longer than it was said.
	 * @param number the entry's number
	 * @param until until when it is certainly held
	 */
	public synchronized void renewed(long number, long until) {
		append(RENEWED, number, until);
	}

	/**
	 * Says that an entry ends: the key is given back after this.
	 * @param number the entry's number
	 * @param now the time
	 */
	public synchronized void end(long number, long now) {
		append(END, number, now);
	}

	@Override
	public void close() {
		try {
			this.file.close();
		}
		catch (IOException ex) {
			throw new UncheckedIOException(ex);
		}
	}

	private void append(Object... fields) {
		StringBuilder line = new StringBuilder();
		for (Object field : fields) {
			line.append(field).append(' ');
		}
		line.setCharAt(line.length() - 1, '\n');
		try {
			this.file.write(line.toString().getBytes(StandardCharsets.UTF_8));
		}
		catch (IOException ex) {
			throw new UncheckedIOException(ex);
		}
	}

	private static String encode(String text) {
		return URLEncoder.encode(text, StandardCharsets.UTF_8);
	}

	/**
	 * Reads what a process has written, also if it was killed.
	 * @param file the file
	 * @return its holds, in the order in which they began
	 */
	public static List<Hold> read(Path file) {
		String text;
		try {
			text = Files.readString(file);
		}
		catch (IOException ex) {
			throw new UncheckedIOException(ex);
		}
		Map<Long, Hold> holds = new LinkedHashMap<>();
		// What follows the last line's end was being written when the process died.
		text.substring(0, text.lastIndexOf('\n') + 1).lines().forEach((line) -> apply(line.split(" "), holds));
		return List.copyOf(holds.values());
	}

	private static void apply(String[] fields, Map<Long, Hold> holds) {
		Long number = Long.valueOf(fields[1]);
		switch (fields[0]) {
			case BEGIN -> holds.put(number, new Hold(decode(fields[2]), decode(fields[3]), Long.parseLong(fields[4]),
					Long.parseLong(fields[5]), false, token(fields[6])));
			case RENEWED -> holds.computeIfPresent(number, (same, hold) -> hold.renewed(Long.parseLong(fields[2])));
			default -> holds.computeIfPresent(number, (same, hold) -> hold.end(Long.parseLong(fields[2])));
		}
	}

	private static OptionalLong token(String field) {
		long token = Long.parseLong(field);
		return (token != NO_TOKEN) ? OptionalLong.of(token) : OptionalLong.empty();
	}

	private static String decode(String text) {
		return URLDecoder.decode(text, StandardCharsets.UTF_8);
	}

	/**
	 * A lock that is held, until the first of its ends.
	 */
	public final class Entry {

		private final LockHandle handle;

		private final List<Long> numbers;

		private long until;

		private boolean ended;

		private Entry(LockHandle handle, List<Long> numbers, long until) {
			this.handle = handle;
			this.numbers = numbers;
			this.until = until;
		}

		/**
		 * Looks whether the lock was renewed. To be called often enough that no deadline
		 * is missed, if a lock that is lost in the end is to count until then.
		 */
		public synchronized void look() {
			long now = System.nanoTime();
			long remaining = this.handle.remaining().toNanos();
			long seen = now + remaining;
			// Two looks at the same deadline differ by what passed within them. Nothing
			// remains of a lock that is lost, which is no deadline.
			if (!this.ended && remaining > 0 && seen - this.until > LOOKING_NANOS) {
				this.until = seen;
				this.numbers.forEach((number) -> renewed(number, seen));
			}
		}

		/**
		 * Until when the lock is certainly held if nothing renews it, as last seen.
		 * @return the time
		 */
		public synchronized long until() {
			return this.until;
		}

		/**
		 * Says that the lock is about to be given back.
		 */
		public synchronized void end() {
			long now = System.nanoTime();
			// It was held at the time noted before. If not, the entry ends with its
			// last deadline.
			if (!this.ended && this.handle.isHeld()) {
				this.numbers.forEach((number) -> History.this.end(number, now));
			}
			this.ended = true;
		}

		/**
		 * Says that the holder was told that the lock is lost: it counts on it no more.
		 */
		public synchronized void lost() {
			long now = System.nanoTime();
			if (!this.ended && now < this.until) {
				this.numbers.forEach((number) -> History.this.end(number, now));
			}
			this.ended = true;
		}

	}

	/**
	 * A key that was certainly held for some time.
	 *
	 * @param key the key
	 * @param owner who held it
	 * @param from the time at which it was held already
	 * @param until the time at which it was still held
	 * @param returned whether it was given back then; otherwise its lease had that
	 * deadline
	 * @param token its fencing token, if it had one
	 */
	public record Hold(String key, String owner, long from, long until, boolean returned, OptionalLong token) {

		/**
		 * A hold without a fencing token.
		 * @param key the key
		 * @param owner who held it
		 * @param from the time at which it was held already
		 * @param until the time at which it was still held
		 * @param returned whether it was given back then
		 */
		public Hold(String key, String owner, long from, long until, boolean returned) {
			this(key, owner, from, until, returned, OptionalLong.empty());
		}

		Hold renewed(long later) {
			return new Hold(this.key, this.owner, this.from, later, false, this.token);
		}

		Hold end(long now) {
			return new Hold(this.key, this.owner, this.from, now, true, this.token);
		}

	}

}
