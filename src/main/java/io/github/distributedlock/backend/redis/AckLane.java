package io.github.distributedlock.backend.redis;

import java.time.Duration;

import org.springframework.data.redis.connection.RedisConnection;

/**
 * Connections that serve one step at a time, so that a step can wait for the replicas
 * without making anybody else wait, and asks about its own writes.
 */
interface AckLane extends Lane {

	/**
	 * Waits until replicas have all that was written on a connection (WAIT).
	 * @param connection a connection of this lane
	 * @param replicas how many of them
	 * @param timeout how long to wait
	 * @return how many have it
	 */
	long awaitReplicas(RedisConnection connection, int replicas, Duration timeout);

}
