package io.github.distributedlock.backend.redis.atomic;

import java.util.ArrayList;
import java.util.List;

import io.github.distributedlock.LockMode;
import io.github.distributedlock.LockStatus;
import io.github.distributedlock.backend.Holder;
import io.github.distributedlock.backend.redis.wire.Command;
import io.github.distributedlock.backend.redis.wire.Command.Verb;
import io.github.distributedlock.backend.redis.wire.KeyNames;
import io.github.distributedlock.backend.redis.wire.Link;
import io.github.distributedlock.backend.redis.wire.LockCodec;
import io.github.distributedlock.backend.redis.wire.Values;

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
			holders.add(holder(KeyNames.text((byte[]) answer.get(i)), mode, (Long) answer.get(i + 1)));
		}
		return LockStatus.of(key, holders,
				answer.stream().skip(firstWaiter).map((waiter) -> waiter((byte[]) waiter)).toList());
	}

	/**
	 * Reads by plain commands: the holders, and then the waiters.
	 */
	static LockStatus of(String key, Link link, KeyNames names) {
		byte[] lock = names.lock(key);
		List<LockStatus.Holder> holders = Values.aloneOrShared(() -> alone(link, lock), () -> shared(link, lock));
		List<byte[]> waiters = Values.members(link, names.waiters(key), 0, -1);
		return LockStatus.of(key, (holders != null) ? holders : List.of(),
				waiters.stream().map(Inspection::waiter).toList());
	}

	private static List<LockStatus.Holder> alone(Link link, byte[] lock) {
		String value = Values.get(link, lock);
		return (value != null) ? List.of(holder(value, LockMode.EXCLUSIVE, link.number(Command.of(Verb.PTTL, lock))))
				: List.of();
	}

	private static List<LockStatus.Holder> shared(Link link, byte[] lock) {
		List<Values.Scored> members = Values.scored(link, lock, 0, -1);
		if (members.isEmpty()) {
			return List.of();
		}
		long now = Values.micros(link, lock) / 1000;
		return members.stream()
			.filter((member) -> member.score() > now)
			.map((member) -> holder(KeyNames.text(member.value()), LockMode.SHARED, (long) member.score() - now))
			.toList();
	}

	private static LockStatus.Holder holder(String text, LockMode mode, long millis) {
		Holder holder = (mode == LockMode.SHARED) ? Values.member(text) : LockCodec.holder(text);
		return holder.describe(mode, Values.left(millis));
	}

	private static LockStatus.Waiter waiter(byte[] text) {
		return LockCodec.waiter(KeyNames.text(text)).describe();
	}

}
