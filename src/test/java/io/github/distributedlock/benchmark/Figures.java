package io.github.distributedlock.benchmark;

import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.List;

import io.github.distributedlock.LockRequest;
import io.github.distributedlock.aop.DistributedLockAdvisor;
import io.github.distributedlock.backend.memory.InMemoryLockBackend;
import io.github.distributedlock.backend.redis.RedisLockBackend;
import io.github.distributedlock.engine.LockEngine;
import io.github.distributedlock.test.RedisServers;
import org.jspecify.annotations.Nullable;
import redis.clients.jedis.Jedis;
import redis.clients.jedis.JedisPool;
import redis.clients.jedis.JedisPoolConfig;
import redis.clients.jedis.params.SetParams;

import org.springframework.aop.framework.ProxyFactory;
import org.springframework.beans.factory.support.DefaultListableBeanFactory;
import org.springframework.core.env.StandardEnvironment;
import org.springframework.data.redis.connection.jedis.JedisConnectionFactory;

/**
 * The figures of the foundation: uncontended cycles against raw Jedis, and what an
 * annotated call costs over a plain proxied one.
 *
 * <pre>
 * ./mvnw -q spring-boot:test-run -Dspring-boot.test-run.optimizedLaunch=false \
 *     -Dspring-boot.run.main-class=io.github.distributedlock.benchmark.Figures
 * </pre>
 */
@SuppressWarnings("deprecation") // A pool of Jedis is what both lines of Jedis have.
public final class Figures {

	private static final String RELEASE = "if redis.call('get', KEYS[1]) == ARGV[1] then"
			+ " return redis.call('del', KEYS[1]) else return 0 end";

	private Figures() {
	}

	public static void main(String[] args) {
		cycles();
		annotatedCall();
		System.exit(0);
	}

	private static void cycles() {
		RedisServers.Server server = RedisServers.shared(RedisServers.EMBEDDED);
		JedisConnectionFactory factory = new JedisConnectionFactory();
		factory.getStandaloneConfiguration().setPort(server.port());
		factory.afterPropertiesSet();
		factory.start();
		try (RedisLockBackend backend = new RedisLockBackend(factory);
				LockEngine engine = LockEngine.builder(backend).build();
				JedisPool pool = new JedisPool(poolConfig(), "localhost", server.port())) {
			String digest = scriptLoad(pool);
			for (int threads : List.of(1, 16)) {
				double[] perSecond = new Throughput(threads, 1000).with((number) -> raw(pool, digest, number))
					.with((number) -> ours(engine, number))
					.measure();
				System.out.printf("%2d threads, own keys: raw Jedis %,.0f/s, ours %,.0f/s, ratio %.2f%n", threads,
						perSecond[0], perSecond[1], perSecond[1] / perSecond[0]);
			}
		}
		factory.destroy();
	}

	private static Runnable ours(LockEngine engine, int number) {
		LockRequest request = LockRequest.of("ours-" + number);
		return () -> engine.acquire(request).close();
	}

	private static Runnable raw(JedisPool pool, String digest, int number) {
		String key = "raw-" + number;
		long[] count = new long[1];
		return () -> {
			String owner = number + ":" + count[0]++;
			try (Jedis jedis = pool.getResource()) {
				jedis.set(key, owner, SetParams.setParams().nx().px(30_000));
			}
			try (Jedis jedis = pool.getResource()) {
				jedis.evalsha(digest, List.of(key), List.of(owner));
			}
		};
	}

	private static String scriptLoad(JedisPool pool) {
		try (Jedis jedis = pool.getResource()) {
			return new String(jedis.scriptLoad(RELEASE.getBytes(StandardCharsets.UTF_8)), StandardCharsets.UTF_8);
		}
	}

	private static JedisPoolConfig poolConfig() {
		JedisPoolConfig config = new JedisPoolConfig();
		config.setMaxTotal(64);
		config.setMaxIdle(64);
		config.setMaxWait(Duration.ofSeconds(1));
		return config;
	}

	private static void annotatedCall() {
		try (LockEngine engine = LockEngine.builder(new InMemoryLockBackend()).build()) {
			ProxyFactory locked = new ProxyFactory(new Service());
			locked.addAdvisor(new DistributedLockAdvisor(() -> engine, new DefaultListableBeanFactory(),
					new StandardEnvironment()));
			ProxyFactory plain = new ProxyFactory(new Service());
			plain.addAdvice((org.aopalliance.intercept.MethodInterceptor) (call) -> call.proceed());
			Service lockedService = (Service) locked.getProxy();
			Service plainService = (Service) plain.getProxy();
			double[] perSecond = new Throughput(1, 1000).with((number) -> () -> plainService.buy("plain", 1))
				.with((number) -> () -> lockedService.buy("locked", 1))
				.with((number) -> () -> engine.acquire("by hand").close())
				.measure();
			System.out.printf("annotated call over a plain proxied one: %.2f µs (template key; by hand %.2f µs)%n",
					1e6 / perSecond[1] - 1e6 / perSecond[0], 1e6 / perSecond[2]);
		}
	}

	/**
	 * A service that does nothing.
	 */
	public static class Service {

		@io.github.distributedlock.annotation.DistributedLock(key = "stock:#{#sku}")
		public @Nullable String buy(String sku, int units) {
			return sku;
		}

	}

}
