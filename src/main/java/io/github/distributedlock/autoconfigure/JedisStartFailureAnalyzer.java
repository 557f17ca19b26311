package io.github.distributedlock.autoconfigure;

import java.util.Arrays;

import io.github.distributedlock.LockException;
import org.jspecify.annotations.Nullable;

import org.springframework.beans.factory.BeanCreationException;
import org.springframework.boot.diagnostics.AbstractFailureAnalyzer;
import org.springframework.boot.diagnostics.FailureAnalysis;

/**
 * Says that it is Jedis which cannot start while a Redis Cluster or Sentinel is out of
 * reach: its connection factory asks them when it is made. Goes by names, since Jedis may
 * be absent.
 */
class JedisStartFailureAnalyzer extends AbstractFailureAnalyzer<BeanCreationException> {

	private static final String EXCEPTIONS = "redis.clients.jedis.exceptions.";

	private static final String FACTORY = "org.springframework.data.redis.connection.jedis.JedisConnectionFactory";

	@Override
	protected @Nullable FailureAnalysis analyze(Throwable rootFailure, BeanCreationException cause) {
		for (Throwable inner : LockException.causes(cause)) {
			if (inner.getClass().getName().startsWith(EXCEPTIONS) && isFromStart(inner)) {
				return new FailureAnalysis(
						"Redis Cluster or Sentinel could not be used while the application was starting,"
								+ " and the Jedis client cannot start without it: " + inner.getMessage(),
						"Check that Redis runs where spring.data.redis.cluster.nodes say; or that Sentinels run where"
								+ " spring.data.redis.sentinel.nodes say, know spring.data.redis.sentinel.master, and"
								+ " accept spring.data.redis.sentinel.username and spring.data.redis.sentinel.password."
								+ " If the application has to start while Redis is down, use the Lettuce client,"
								+ " which connects later: add the dependency io.lettuce:lettuce-core,"
								+ " and remove spring.data.redis.client-type=jedis if it is set.",
						cause);
			}
		}
		return null;
	}

	private static boolean isFromStart(Throwable failure) {
		return Arrays.stream(failure.getStackTrace())
			.anyMatch((frame) -> frame.getClassName().equals(FACTORY) && frame.getMethodName().equals("start"));
	}

}
