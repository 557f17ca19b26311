package io.github.distributedlock.backend.redis.wire;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.function.Supplier;

import io.github.distributedlock.backend.Holder;
import io.github.distributedlock.backend.redis.wire.Command.Verb;
import org.jspecify.annotations.Nullable;

import org.springframework.dao.InvalidDataAccessApiUsageException;

/**
 * The values of keys, by commands that are atomic on every server.
 */
public final class Values {

	// By turns for a value and for readers.
	private static final int ATTEMPTS = 10;

	private static final byte[] PX = KeyNames.bytes("PX");

	private static final byte[] NX = KeyNames.bytes("NX");

	private static final byte[] XX = KeyNames.bytes("XX");

	private static final byte[] WITHSCORES = KeyNames.bytes("WITHSCORES");

	private Values() {
	}

	/**
	 * Sets the value of a key that does not exist.
	 * @return whether it did not
	 */
	public static boolean setIfAbsent(Link link, byte[] name, String value, long millis) {
		return link.ok(Command.of(Verb.SET, name, KeyNames.bytes(value), PX, KeyNames.number(millis), NX));
	}

	/**
	 * Sets the value of a key that exists.
	 * @return whether it did
	 */
	public static boolean setIfPresent(Link link, byte[] name, byte[] value, long millis) {
		return link.ok(Command.of(Verb.SET, name, value, PX, KeyNames.number(millis), XX));
	}

	/**
	 * The holder of a lock, which readers may share that use scripts.
	 * @return the holder, of a shared lock one of those; {@code null} if the lock is free
	 */
	public static @Nullable Holder holder(Link link, byte[] name) {
		return aloneOrShared(() -> alone(link, name), () -> reader(link, name));
	}

	/**
	 * Asks for a lock that may be shared, and may become so, or cease to be, between two
	 * questions. So both are asked several times before it is taken for no lock at all.
	 * @param alone a question that fails if the lock is shared
	 * @param shared a question that fails if it is not
	 * @return the answer
	 */
	public static <T> @Nullable T aloneOrShared(Supplier<@Nullable T> alone, Supplier<@Nullable T> shared) {
		for (int asked = 1;; asked++) {
			try {
				return (asked % 2 == 1) ? alone.get() : shared.get();
			}
			catch (RuntimeException ex) {
				if (asked == ATTEMPTS || !RedisRefusal.WRONGTYPE.isIn(ex)) {
					throw ex;
				}
			}
		}
	}

	private static @Nullable Holder alone(Link link, byte[] name) {
		String value = get(link, name);
		return (value != null) ? LockCodec.holder(value) : null;
	}

	private static @Nullable Holder reader(Link link, byte[] name) {
		List<byte[]> members = members(link, name, 0, 0);
		if (members.isEmpty()) {
			return null; // Gone meanwhile.
		}
		return member(KeyNames.text(members.get(0)));
	}

	/**
	 * Reads a member of a lock that is shared.
	 * @return the holder; fails if the sorted set is no lock
	 */
	public static Holder member(String member) {
		Holder holder = LockCodec.member(member);
		if (holder == null) {
			throw new InvalidDataAccessApiUsageException("WRONGTYPE The sorted set is no shared lock");
		}
		return holder;
	}

	/**
	 * In how long a lock is free.
	 * @param millis its time to live as the server tells it, to the end of which it has
	 * its value
	 * @return {@code null} if it has none
	 */
	public static @Nullable Duration left(@Nullable Long millis) {
		if (millis == null || millis == -1) {
			return null;
		}
		return Duration.ofMillis(Math.max(0, millis) + 1);
	}

	public static @Nullable String get(Link link, byte[] name) {
		byte[] value = link.bytes(Command.of(Verb.GET, name));
		return (value != null) ? KeyNames.text(value) : null;
	}

	/**
	 * Reads members of a sorted set, the least first.
	 */
	public static List<byte[]> members(Link link, byte[] name, int from, int to) {
		return link.list(Command.of(Verb.ZRANGE, name, KeyNames.number(from), KeyNames.number(to)))
			.stream()
			.map((member) -> (byte[]) member)
			.toList();
	}

	/**
	 * Reads members of a sorted set with their scores, the least first.
	 */
	public static List<Scored> scored(Link link, byte[] name, int from, int to) {
		List<?> reply = link
			.list(Command.of(Verb.ZRANGE, name, KeyNames.number(from), KeyNames.number(to), WITHSCORES));
		List<Scored> scored = new ArrayList<>();
		for (int i = 0; i < reply.size(); i++) {
			// Pairs in the third version of the protocol, before it one after another.
			List<?> pair = (reply.get(i) instanceof List<?> two) ? two : reply.subList(i, ++i + 1);
			scored.add(new Scored((byte[]) pair.get(0), score(pair.get(1))));
		}
		return scored;
	}

	private static double score(Object score) {
		return (score instanceof Double number) ? number : Double.parseDouble(KeyNames.text((byte[]) score));
	}

	/**
	 * The time of the node that serves a key, in microseconds.
	 */
	public static long micros(Link link, byte[] name) {
		List<?> time = link.list(Command.at(name, Verb.TIME));
		return TimeUnit.SECONDS.toMicros(number(time.get(0))) + number(time.get(1));
	}

	private static long number(Object text) {
		return Long.parseLong(KeyNames.text((byte[]) text));
	}

	/**
	 * A member of a sorted set.
	 */
	public static final class Scored {

		private final byte[] value;

		private final double score;

		Scored(byte[] value, double score) {
			this.value = value;
			this.score = score;
		}

		public byte[] value() {
			return this.value;
		}

		public double score() {
			return this.score;
		}

	}

}
