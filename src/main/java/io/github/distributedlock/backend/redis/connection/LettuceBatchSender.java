package io.github.distributedlock.backend.redis.connection;

import java.util.List;

import io.github.distributedlock.backend.redis.wire.UnsentException;
import io.lettuce.core.api.StatefulRedisConnection;
import io.lettuce.core.api.async.RedisAsyncCommands;

import org.springframework.data.redis.RedisConnectionFailureException;
import org.springframework.data.redis.connection.RedisConnection;

/**
 * One connection to a server. Lettuce by itself writes, and flushes, each command for
 * itself, but those of a batch together.
 */
final class LettuceBatchSender implements LettuceSender {

	private final StatefulRedisConnection<byte[], byte[]> connection;

	private final LettuceBatches batches = new LettuceBatches(this::write);

	LettuceBatchSender(StatefulRedisConnection<byte[], byte[]> connection) {
		this.connection = connection;
	}

	/**
	 * A sender over Spring Data's connection to a server.
	 */
	// What replaces it exists only for other kinds.
	@SuppressWarnings({ "deprecation", "unchecked" })
	static LettuceBatchSender of(RedisConnection connection) {
		return new LettuceBatchSender(
				((RedisAsyncCommands<byte[], byte[]>) connection.getNativeConnection()).getStatefulConnection());
	}

	@Override
	public void send(List<LettuceCommand> commands, byte[] key) {
		this.batches.add(commands);
	}

	private void write(List<LettuceCommand> batch) {
		if (!isOpen()) {
			batch.forEach((command) -> command.completeExceptionally(
					new UnsentException(new RedisConnectionFailureException("the connection was closed before"))));
			return;
		}
		try {
			if (batch.size() == 1) {
				this.connection.dispatch(batch.get(0));
			}
			else {
				this.connection.dispatch(batch);
			}
		}
		catch (RuntimeException ex) {
			batch.forEach((command) -> command.completeExceptionally(ex));
		}
	}

	@Override
	public boolean isOpen() {
		return this.connection.isOpen();
	}

	void close() {
		this.connection.closeAsync();
	}

}
