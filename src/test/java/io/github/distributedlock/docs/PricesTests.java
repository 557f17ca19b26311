package io.github.distributedlock.docs;

import java.lang.reflect.Proxy;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;

import io.github.distributedlock.backend.redis.RedisLockBackend;
import io.github.distributedlock.engine.LockEngine;
import io.github.distributedlock.fixtures.Patience;
import io.github.distributedlock.fixtures.RedisServers;
import org.junit.jupiter.api.Test;

import org.springframework.data.redis.connection.RedisStandaloneConfiguration;
import org.springframework.data.redis.connection.jedis.JedisConnectionFactory;
import org.springframework.data.redis.core.StringRedisTemplate;
import org.springframework.data.redis.core.ValueOperations;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * An empty cache is filled once, however many ask at the same time in how many JVMs.
 */
class PricesTests {

	private static final int READERS = 16;

	private static final Duration PATIENCE = Patience.PATIENCE;

	private final Set<Thread> lookers = ConcurrentHashMap.newKeySet();

	private final CountDownLatch looks = new CountDownLatch(READERS);

	private final AtomicInteger loads = new AtomicInteger();

	@Test
	void rebuildsOnce() throws Exception {
		ExecutorService readers = Executors.newFixedThreadPool(READERS);
		try (RedisServers.Server server = RedisServers.start(RedisServers.EMBEDDED)) {
			JedisConnectionFactory factory = new JedisConnectionFactory(
					new RedisStandaloneConfiguration("localhost", server.port()));
			factory.afterPropertiesSet();
			factory.start();
			try (RedisLockBackend here = new RedisLockBackend(factory);
					LockEngine one = LockEngine.builder(here).waitTime(PATIENCE).build();
					RedisLockBackend there = new RedisLockBackend(factory);
					LockEngine two = LockEngine.builder(there).waitTime(PATIENCE).build()) {
				StringRedisTemplate redis = new Watched(factory);
				Prices onePrices = new Prices(one, redis, this::load);
				Prices twoPrices = new Prices(two, redis, this::load);
				List<Future<String>> prices = new ArrayList<>();
				for (int reader = 0; reader < READERS; reader++) {
					Prices mine = (reader % 2 == 0) ? onePrices : twoPrices;
					prices.add(readers.submit(() -> mine.price("A1")));
				}
				for (Future<String> price : prices) {
					assertThat(price.get(PATIENCE.toSeconds(), TimeUnit.SECONDS)).isEqualTo("9.99");
				}
				assertThat(this.loads).hasValue(1);
			}
			finally {
				factory.destroy();
			}
		}
		finally {
			readers.shutdownNow();
		}
	}

	/**
	 * Takes until all have found the cache empty. Without the lock and the second look
	 * each reader would load.
	 */
	private String load(String sku) {
		this.loads.incrementAndGet();
		Patience.await(this.looks, "the looks of all readers");
		return "9.99";
	}

	/**
	 * Counts who has looked into the cache.
	 */
	private final class Watched extends StringRedisTemplate {

		private Watched(JedisConnectionFactory factory) {
			super(factory);
		}

		@Override
		@SuppressWarnings("unchecked")
		public ValueOperations<String, String> opsForValue() {
			ValueOperations<String, String> values = super.opsForValue();
			return (ValueOperations<String, String>) Proxy.newProxyInstance(getClass().getClassLoader(),
					new Class<?>[] { ValueOperations.class }, (proxy, method, arguments) -> {
						Object answer = method.invoke(values, arguments);
						if (method.getName().equals("get") && PricesTests.this.lookers.add(Thread.currentThread())) {
							PricesTests.this.looks.countDown();
						}
						return answer;
					});
		}

	}

}
