package io.github.distributedlock.backend.redis;

import java.time.Duration;

import org.jspecify.annotations.Nullable;

import org.springframework.data.redis.connection.RedisConnection;

/**
 * A pool of Jedis connections, each of which serves one step at a time anyway.
 */
record JedisAckLane(JedisLane lane) implements AckLane {

	@Override
	public <T> @Nullable T run(Command<T> command) {
		return this.lane.run(command);
	}

	@Override
	public long awaitReplicas(RedisConnection connection, int replicas, Duration timeout) {
		Object answer = connection.execute("WAIT", KeyNames.bytes(String.valueOf(replicas)),
				KeyNames.bytes(String.valueOf(timeout.toMillis())));
		return (answer instanceof Long acknowledged) ? acknowledged : 0;
	}

	@Override
	public void close() {
		this.lane.close();
	}

}
