package io.github.distributedlock.docs;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;

import io.github.distributedlock.LockNotAcquiredException;
import io.github.distributedlock.fixtures.Patience;
import io.github.distributedlock.fixtures.RedisServers;
import org.junit.jupiter.api.Test;

import org.springframework.context.ConfigurableApplicationContext;
import org.springframework.data.redis.core.StringRedisTemplate;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * The README's first example keeps its promise.
 */
class ShopTests {

	private static final int STOCK = 100;

	private static final int BUYERS = 8;

	@Test
	void sellsWhatIsThere() throws Exception {
		ExecutorService buyers = Executors.newFixedThreadPool(BUYERS);
		try (RedisServers.Server redis = RedisServers.start(RedisServers.EMBEDDED);
				ConfigurableApplicationContext one = DocsApplication.start(redis);
				ConfigurableApplicationContext two = DocsApplication.start(redis)) {
			StringRedisTemplate store = one.getBean(StringRedisTemplate.class);
			store.opsForValue().set("left:A1", String.valueOf(STOCK));
			List<Callable<Integer>> purchases = new ArrayList<>();
			for (int buyer = 0; buyer < BUYERS; buyer++) {
				Shop shop = ((buyer % 2 == 0) ? one : two).getBean(Shop.class);
				purchases.add(() -> buyAll(shop));
			}
			int sold = 0;
			for (Future<Integer> purchase : buyers.invokeAll(purchases, Patience.PATIENCE.toSeconds(),
					TimeUnit.SECONDS)) {
				sold += Patience.get(purchase, "a purchase");
			}
			assertThat(sold).isEqualTo(STOCK);
			assertThat(store.opsForValue().get("left:A1")).isEqualTo("0");
		}
		finally {
			buyers.shutdownNow();
		}
	}

	private static int buyAll(Shop shop) {
		int bought = 0;
		boolean left = true;
		while (left) {
			try {
				left = shop.buy("A1");
				bought += left ? 1 : 0;
			}
			catch (LockNotAcquiredException ex) {
				// The machine has stood still for the wait time.
			}
		}
		return bought;
	}

}
