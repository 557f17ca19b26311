package io.github.distributedlock.benchmark;

import java.util.OptionalLong;
import java.util.concurrent.atomic.LongAdder;

import io.lettuce.core.RedisClient;
import io.lettuce.core.RedisURI;
import io.lettuce.core.ScriptOutputType;
import io.lettuce.core.SetArgs;
import io.lettuce.core.api.sync.RedisCommands;

/**
 * The lock that most people write by hand, over one connection of Lettuce.
 */
final class RawLettuceLocks implements Locks {

	private final RedisClient client;

	private final RedisCommands<String, String> commands;

	private final String digest;

	private final LongAdder attempts = new LongAdder();

	RawLettuceLocks(int port) {
		this.client = RedisClient.create(RedisURI.create(Connections.HOST, port));
		this.commands = this.client.connect().sync();
		this.digest = this.commands.scriptLoad(Spinning.RELEASE);
	}

	@Override
	public Mutex mutex(String key) {
		return new Spinning(this.attempts) {

			@Override
			boolean tryLock(String owner) {
				return RawLettuceLocks.this.commands.set(key, owner, SetArgs.Builder.nx().px(LEASE_MILLIS)) != null;
			}

			@Override
			void unlock(String owner) {
				RawLettuceLocks.this.commands.evalsha(RawLettuceLocks.this.digest, ScriptOutputType.INTEGER,
						new String[] { key }, owner);
			}

		};
	}

	@Override
	public OptionalLong attempts() {
		return OptionalLong.of(this.attempts.sum());
	}

	@Override
	public void close() {
		this.client.shutdown();
	}

}
