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
 * Compares, and then sets. Not atomic: if the key runs out and another owner gets it
 * before the second command arrives, the lock of that owner is changed. So it leaves
 * alone what has not got some time to live, and a command that comes later than that is
 * what is left of the risk.
 */
public final class BestEffortCompareAndSet implements CompareAndSet {

	/**
	 * How long a key must have to live: half of a reservation, so that they can be taken.
	 */
	static final long MARGIN_MILLIS = WaitingList.RESERVATION.toMillis() / 2;

	@Override
	public boolean replace(Link link, byte[] name, byte[] expected, byte @Nullable [] replacement, long millis) {
		if (!isSafe(link, name, expected)) {
			return false;
		}
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
