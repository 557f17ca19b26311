package io.github.distributedlock.backend.redis;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.function.Supplier;

import io.github.distributedlock.LockMode;
import io.github.distributedlock.LockStatus;
import io.github.distributedlock.backend.Holder;
import io.github.distributedlock.backend.redis.internal.Command;
import io.github.distributedlock.backend.redis.internal.Command.Verb;
import io.github.distributedlock.backend.redis.internal.Link;
import io.github.distributedlock.backend.redis.internal.RedisRefusal;
import org.jspecify.annotations.Nullable;

import org.springframework.dao.InvalidDataAccessApiUsageException;

/**
 * The values of keys, by commands that are atomic on every server.
 */
final class Values {

	// How often a lock is asked for, alternately as a value and as a shared lock.
	private static final int ATTEMPTS = 10;

	private static final byte[] PX = KeyNames.bytes("PX");

	private static final byte[] NX = KeyNames.bytes("NX");

	private Values() {
	}

	/**
	 * Sets the value of a key that does not exist.
	 * @return {@code true} if the key did not exist
	 */
	static boolean setIfAbsent(Link link, byte[] name, String value, long millis) {
		return link.ok(Command.of(Verb.SET, name, value, PX, millis, NX));
	}

	/**
	 * Sets the value of a key that exists.
	 * @return {@code true} if the key existed
	 */
	static boolean setIfPresent(Link link, byte[] name, String value, long millis) {
		return link.ok(Command.of(Verb.SET, name, value, PX, millis, "XX"));
	}

	/**
	 * Returns the holder of a lock. Readers of JVMs that use scripts may share the lock.
	 * @return the holder, of a shared lock one of the holders; {@code null} if the lock
	 * is free
	 */
	static @Nullable Holder holder(Link link, byte[] name) {
		return aloneOrShared(() -> {
			String value = get(link, name);
			return (value != null) ? LockCodec.holder(value) : null;
		}, () -> {
			List<String> members = members(link, name, 0, 0);
			return members.isEmpty() ? null : member(members.get(0)); // The lock may be
																		// gone by now.
		});
	}

	/**
	 * Returns what Redis knows of a lock: the holders and the waiters, which are read
	 * after the holders.
	 */
	static LockStatus status(String key, Link link, KeyNames names) {
		byte[] lock = names.lock(key);
		List<LockStatus.Holder> holders = aloneOrShared(() -> alone(link, lock), () -> shared(link, lock));
		return LockStatus.of(key, (holders != null) ? holders : List.of(),
				members(link, names.waiters(key), 0, -1).stream()
					.map((waiter) -> LockCodec.waiter(waiter).describe())
					.toList());
	}

	private static List<LockStatus.Holder> alone(Link link, byte[] lock) {
		String value = get(link, lock);
		return (value != null)
				? List.of(LockCodec.holder(value).describe(LockMode.EXCLUSIVE, left(timeToLive(link, lock))))
				: List.of();
	}

	private static List<LockStatus.Holder> shared(Link link, byte[] lock) {
		List<Scored> members = scored(link, lock, 0, -1);
		if (members.isEmpty()) {
			return List.of();
		}
		long now = micros(link, lock) / 1000;
		return members.stream()
			.filter((member) -> member.score() > now)
			.map((member) -> member(member.value()).describe(LockMode.SHARED, left((long) member.score() - now))
				.permit(LockCodec.isPermit(member.value())))
			.toList();
	}

	/**
	 * Asks for a lock that may be shared, and that may become shared, or cease to be
	 * shared, between two questions. So both questions are asked several times before the
	 * key counts as no lock at all.
	 * @param alone a question that fails if the lock is shared
	 * @param shared a question that fails if the lock is not shared
	 * @return the answer
	 */
	static <T> @Nullable T aloneOrShared(Supplier<@Nullable T> alone, Supplier<@Nullable T> shared) {
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

	/**
	 * Reads a member of a lock that is shared.
	 * @return the holder; fails if the sorted set is no lock
	 */
	static Holder member(String member) {
		Holder holder = LockCodec.member(member);
		if (holder == null) {
			throw new InvalidDataAccessApiUsageException("WRONGTYPE The sorted set is no shared lock");
		}
		return holder;
	}

	/**
	 * Returns in how long a lock is free.
	 * @param millis the time to live as the server tells; the lock keeps its value until
	 * that time is over
	 * @return the time, {@code null} if the lock has no time to live
	 */
	static @Nullable Duration left(long millis) {
		return (millis != -1) ? Duration.ofMillis(Math.max(0, millis) + 1) : null;
	}

	static long timeToLive(Link link, byte[] name) {
		return link.number(Command.of(Verb.PTTL, name));
	}

	static @Nullable String get(Link link, byte[] name) {
		byte[] value = link.bytes(Command.of(Verb.GET, name));
		return (value != null) ? KeyNames.text(value) : null;
	}

	/**
	 * Reads members of a sorted set, the least first.
	 */
	static List<String> members(Link link, byte[] name, int from, int to) {
		return link.list(Command.of(Verb.ZRANGE, name, from, to)).stream().map(Values::text).toList();
	}

	/**
	 * Reads members of a sorted set with their scores, the least first.
	 */
	static List<Scored> scored(Link link, byte[] name, int from, int to) {
		List<?> reply = link.list(Command.of(Verb.ZRANGE, name, from, to, "WITHSCORES"));
		List<Scored> scored = new ArrayList<>();
		for (int i = 0; i < reply.size(); i++) {
			// Version 3 of the protocol answers with pairs, version 2 with a flat list.
			List<?> pair = (reply.get(i) instanceof List<?> two) ? two : reply.subList(i, ++i + 1);
			double score = (pair.get(1) instanceof Double number) ? number : Double.parseDouble(text(pair.get(1)));
			scored.add(new Scored(text(pair.get(0)), score));
		}
		return scored;
	}

	/**
	 * Returns the time of the node that serves a key, in microseconds.
	 */
	static long micros(Link link, byte[] name) {
		List<?> time = link.list(Command.at(name, Verb.TIME));
		return TimeUnit.SECONDS.toMicros(Long.parseLong(text(time.get(0)))) + Long.parseLong(text(time.get(1)));
	}

	static String text(Object bytes) {
		return KeyNames.text((byte[]) bytes);
	}

	/**
	 * A member of a sorted set, with the score of that member.
	 */
	record Scored(String value, double score) {
	}

}
