package io.github.distributedlock.backend.redis;

import java.util.List;

import io.github.distributedlock.LockMode;
import io.github.distributedlock.LockStatus;
import io.github.distributedlock.backend.Holder;
import io.github.distributedlock.backend.redis.connection.KeyNames;
import io.github.distributedlock.backend.redis.connection.Link;
import io.github.distributedlock.backend.redis.connection.LockCodec;

/**
 * Reads what Redis knows of a lock.
 */
final class Inspection {

	private Inspection() {
	}

	/**
	 * Reads by plain commands: the holders, and then the waiters.
	 */
	static LockStatus of(String key, Link link, KeyNames names) {
		byte[] lock = names.lock(key);
		List<LockStatus.Holder> holders = Values.aloneOrShared(() -> alone(link, lock), () -> shared(link, lock));
		return LockStatus.of(key, (holders != null) ? holders : List.of(),
				Values.members(link, names.waiters(key), 0, -1)
					.stream()
					.map((waiter) -> LockCodec.waiter(waiter).describe())
					.toList());
	}

	private static List<LockStatus.Holder> alone(Link link, byte[] lock) {
		String value = Values.get(link, lock);
		return (value != null) ? List.of(holder(value, LockMode.EXCLUSIVE, Values.timeToLive(link, lock))) : List.of();
	}

	private static List<LockStatus.Holder> shared(Link link, byte[] lock) {
		List<Values.Scored> members = Values.scored(link, lock, 0, -1);
		if (members.isEmpty()) {
			return List.of();
		}
		long now = Values.micros(link, lock) / 1000;
		return members.stream()
			.filter((member) -> member.score() > now)
			.map((member) -> holder(member.value(), LockMode.SHARED, (long) member.score() - now))
			.toList();
	}

	private static LockStatus.Holder holder(String text, LockMode mode, long millis) {
		Holder holder = (mode == LockMode.SHARED) ? Values.member(text) : LockCodec.holder(text);
		return holder.describe(mode, Values.left(millis));
	}

}
