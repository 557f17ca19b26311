package io.github.distributedlock.benchmark;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.channels.FileChannel;
import java.nio.channels.FileChannel.MapMode;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;

/**
 * A few numbers in memory that several JVMs share. Whoever holds the lock writes, and
 * nobody else: nothing but the lock keeps two of them from writing at once, so that a
 * lock that fails shows in a total that is too low.
 */
final class Blackboard {

	private static final VarHandle LONG = MethodHandles.byteBufferViewVarHandle(long[].class, ByteOrder.nativeOrder());

	private static final int HOLDS = 0;

	private static final int LAST_JVM = 8;

	private static final int HAND_OVERS = 16;

	private static final int SIZE = 24;

	private final ByteBuffer memory;

	Blackboard(Path file) {
		try (FileChannel channel = FileChannel.open(file, StandardOpenOption.READ, StandardOpenOption.WRITE,
				StandardOpenOption.CREATE)) {
			this.memory = channel.map(MapMode.READ_WRITE, 0, SIZE);
		}
		catch (IOException ex) {
			throw new UncheckedIOException(ex);
		}
	}

	/**
	 * Notes that a JVM has the lock.
	 * @param jvm the number of the JVM
	 */
	void held(long jvm) {
		set(HOLDS, get(HOLDS) + 1);
		if (get(LAST_JVM) != jvm) {
			set(LAST_JVM, jvm);
			set(HAND_OVERS, get(HAND_OVERS) + 1);
		}
	}

	long holds() {
		return get(HOLDS);
	}

	/**
	 * How often the lock went from one JVM to another.
	 * @return the number
	 */
	long handOvers() {
		return get(HAND_OVERS);
	}

	private long get(int index) {
		return (long) LONG.getVolatile(this.memory, index);
	}

	private void set(int index, long value) {
		LONG.setVolatile(this.memory, index, value);
	}

}
