package io.github.distributedlock.backend.redis.atomic;

import java.util.Arrays;
import java.util.concurrent.TimeUnit;

import io.github.distributedlock.backend.redis.wire.Command;
import io.github.distributedlock.backend.redis.wire.Command.Verb;
import io.github.distributedlock.backend.redis.wire.KeyNames;
import io.github.distributedlock.backend.redis.wire.Link;
import io.github.distributedlock.backend.redis.wire.Values;
import org.jspecify.annotations.Nullable;

/**
 * Compares, and then sets. Not atomic, and yet nobody else changes the value in between:
 * <ul>
 * <li>A value is changed only by the instance that it names: by that of its owner, or of
 * the waiter that it is reserved for. See {@link PlainRelease}.</li>
 * <li>An instance compares and changes a key one time after another.</li>
 * <li>The value does not run out in between: one that has not got some time to live is
 * left alone. A command that comes later than that is what is left of the risk; and
 * beside instances that use {@link Atomicity#NATIVE} or {@link Atomicity#TRANSACTION},
 * which pass on a reservation whose waiter does not hear, that waiter.</li>
 * </ul>
 */
final class BestEffortCompareAndSet implements CompareAndSet {

	/**
	 * How long a key must have to live: half of a reservation, so that they can be taken.
	 */
	static final long MARGIN_MILLIS = WaitingList.RESERVATION.toMillis() / 2;

	private final NameLocks underWay = new NameLocks();

	@Override
	public boolean isAtomic() {
		return false;
	}

	@Override
	public boolean replace(Link link, byte[] name, byte[] expected, byte @Nullable [] replacement, long millis) {
		String key = KeyNames.text(name);
		this.underWay.enter(key);
		try {
			return isSafe(link, name, expected) && change(link, name, expected, replacement, millis);
		}
		finally {
			this.underWay.leave(key);
		}
	}

	private static boolean change(Link link, byte[] name, byte[] expected, byte @Nullable [] replacement, long millis) {
		if (replacement == null) {
			return link.number(Command.of(Verb.DEL, name)) == 1;
		}
		return Arrays.equals(replacement, expected)
				? link.number(Command.of(Verb.PEXPIRE, name, KeyNames.number(millis))) == 1
				: Values.setIfPresent(link, name, replacement, millis);
	}

	private static boolean isSafe(Link link, byte[] name, byte[] expected) {
		long begin = System.nanoTime();
		long left = link.number(Command.of(Verb.PTTL, name));
		boolean same = Arrays.equals(link.bytes(Command.of(Verb.GET, name)), expected);
		long elapsed = TimeUnit.NANOSECONDS.toMillis(System.nanoTime() - begin);
		return same && left - elapsed > MARGIN_MILLIS;
	}

}
