package io.github.distributedlock.backend.redis;

import java.util.ArrayList;
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

	private static final Long SHARED = 1L;

	private Inspection() {
	}

	/**
	 * Reads the answer of {@code inspect.lua}.
	 */
	static LockStatus of(String key, List<?> answer) {
		LockMode mode = SHARED.equals(answer.get(0)) ? LockMode.SHARED : LockMode.EXCLUSIVE;
		int firstWaiter = 2 + 2 * ((Long) answer.get(1)).intValue();
		List<LockStatus.Holder> holders = new ArrayList<>();
		for (int i = 2; i < firstWaiter; i += 2) {
			holders.add(holder(Values.text(answer.get(i)), mode, (Long) answer.get(i + 1)));
		}
		return status(key, holders, answer.stream().skip(firstWaiter).map(Values::text).toList());
	}

	/**
	 * Reads by plain commands: the holders, and then the waiters.
	 */
	static LockStatus of(String key, Link link, KeyNames names) {
		byte[] lock = names.lock(key);
		List<LockStatus.Holder> holders = Values.aloneOrShared(() -> alone(link, lock), () -> shared(link, lock));
		return status(key, (holders != null) ? holders : List.of(), Values.members(link, names.waiters(key), 0, -1));
	}

	private static LockStatus status(String key, List<LockStatus.Holder> holders, List<String> waiters) {
		return LockStatus.of(key, holders,
				waiters.stream().map((waiter) -> LockCodec.waiter(waiter).describe()).toList());
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
