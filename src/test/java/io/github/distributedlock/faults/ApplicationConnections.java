package io.github.distributedlock.faults;

import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Proxy;
import java.time.Duration;

import io.github.distributedlock.backend.redis.RedisLockBackend;

import org.springframework.data.redis.connection.RedisConnectionFactory;
import org.springframework.data.redis.connection.RedisStandaloneConfiguration;
import org.springframework.data.redis.connection.lettuce.LettuceClientConfiguration;
import org.springframework.data.redis.connection.lettuce.LettuceConnectionFactory;

/**
 * What an application has that wraps its Lettuce factory, so that locks have to use its
 * connections as they are: after a reconnect these send again what was under way.
 */
final class ApplicationConnections {

	private final LettuceConnectionFactory factory;

	private ApplicationConnections(LettuceConnectionFactory factory) {
		this.factory = factory;
	}

	static ApplicationConnections to(int port) {
		LettuceConnectionFactory factory = new LettuceConnectionFactory(
				new RedisStandaloneConfiguration("localhost", port),
				LettuceClientConfiguration.builder()
					.commandTimeout(Trial.COMMAND_TIMEOUT)
					.shutdownQuietPeriod(Duration.ZERO)
					.build());
		factory.afterPropertiesSet();
		factory.start();
		return new ApplicationConnections(factory);
	}

	RedisLockBackend backend() {
		Object wrapper = Proxy.newProxyInstance(getClass().getClassLoader(),
				new Class<?>[] { RedisConnectionFactory.class }, (self, method, arguments) -> {
					try {
						return method.invoke(this.factory, arguments);
					}
					catch (InvocationTargetException ex) {
						throw ex.getTargetException();
					}
				});
		return new RedisLockBackend((RedisConnectionFactory) wrapper, Trial.SETTINGS);
	}

	void close() {
		this.factory.destroy();
	}

}
