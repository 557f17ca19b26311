package com.example.locks;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.channels.ClosedByInterruptException;
import java.nio.channels.FileChannel;
import java.nio.channels.FileLock;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.StandardOpenOption;
import java.time.Duration;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.HexFormat;
import java.util.concurrent.Callable;

import io.github.distributedlock.LockBackendException;
import io.github.distributedlock.backend.KeyState;
import io.github.distributedlock.backend.OptimisticLockBackend;

/**
 * Locks in the files of a folder that all JVMs of a machine share: one file for each key,
 * which is replaced as a whole while a lock of the operating system is held.
 */
public class FileLocks extends OptimisticLockBackend {

	/**
	 * A name of a file has 255 letters at most, and each byte of a key takes two.
	 */
	private static final int LONGEST_KEY = 120;

	private final Path folder;

	public FileLocks(Path folder) {
		super(Duration.ofMillis(500), Duration.ofMillis(1500));
		this.folder = folder;
		try {
			Files.createDirectories(folder);
		}
		catch (IOException ex) {
			throw new UncheckedIOException(ex);
		}
	}

	@Override
	public void checkKey(String key) {
		if (key.getBytes(StandardCharsets.UTF_8).length > LONGEST_KEY) {
			throw new IllegalArgumentException("Lock key '" + key + "' is too long for the name of a file: at most "
					+ LONGEST_KEY + " bytes of UTF-8");
		}
	}

	@Override
	protected Read read(String key) {
		try {
			return readNow(key);
		}
		catch (IOException ex) {
			throw failure(ex);
		}
	}

	private Read readNow(String key) throws IOException {
		String text;
		try {
			text = Files.readString(file(key));
		}
		catch (NoSuchFileException ex) {
			return new Read(KeyState.FREE, now(), 0L);
		}
		String[] lines = text.split("\n", -1);
		return new Read(KeyState.of(lines[3], Long.parseLong(lines[1]), lines[4], Long.parseLong(lines[2])), now(),
				Long.valueOf(lines[0]));
	}

	@Override
	protected boolean write(String key, Read before, KeyState after) {
		return locked(() -> {
			if (!readNow(key).version().equals(before.version())) {
				return false;
			}
			Path next = this.folder.resolve("next");
			Files.writeString(next,
					String.join("\n", String.valueOf((Long) before.version() + 1), String.valueOf(after.end()),
							String.valueOf(after.fencingToken()), after.holders(), after.waiters()));
			Files.move(next, file(key), StandardCopyOption.ATOMIC_MOVE);
			return true;
		});
	}

	private Path file(String key) {
		return this.folder.resolve(HexFormat.of().formatHex(key.getBytes(StandardCharsets.UTF_8)) + ".lock");
	}

	private static long now() {
		return ChronoUnit.MICROS.between(Instant.EPOCH, Instant.now());
	}

	/**
	 * Runs one writer of all JVMs at a time. An interrupt ends the wait for the lock of
	 * the operating system, but must not end the step.
	 */
	private <T> T locked(Callable<T> action) {
		boolean interrupted = Thread.interrupted();
		try {
			while (true) {
				// A JVM cannot lock a file twice.
				synchronized (FileLocks.class) {
					try (FileChannel file = FileChannel.open(this.folder.resolve("writer"), StandardOpenOption.CREATE,
							StandardOpenOption.WRITE); FileLock lock = file.lock()) {
						return action.call();
					}
					catch (ClosedByInterruptException | java.nio.channels.FileLockInterruptionException ex) {
						interrupted |= Thread.interrupted();
					}
					catch (Exception ex) {
						throw failure(ex);
					}
				}
			}
		}
		finally {
			if (interrupted) {
				Thread.currentThread().interrupt();
			}
		}
	}

	private static LockBackendException failure(Exception cause) {
		return LockBackendException.of("The folder of locks failed").cause(cause).build();
	}

}
