package io.github.distributedlock.docs;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;

import io.github.distributedlock.DistributedLock;
import io.github.distributedlock.LockHandle;
import io.github.distributedlock.LockMode;
import io.github.distributedlock.LockRequest;
import io.github.distributedlock.fixtures.OwnThreads;
import io.github.distributedlock.fixtures.Patience;
import io.github.distributedlock.fixtures.RedisServers;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import redis.clients.jedis.Jedis;

import org.springframework.context.ConfigurableApplicationContext;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Finding things is shared, swapping them is not, and customers are served in order.
 */
class WarehouseTests {

	@RegisterExtension
	final OwnThreads threads = new OwnThreads();

	@Test
	void sharesAndKeepsTheOrder() throws Exception {
		try (RedisServers.Server redis = RedisServers.start(RedisServers.EMBEDDED);
				Jedis admin = redis.admin();
				ConfigurableApplicationContext one = DocsApplication.start(redis);
				ConfigurableApplicationContext two = DocsApplication.start(redis)) {
			admin.mset("shelf:A1", "left", "shelf:B2", "right");
			DistributedLock lock = one.getBean(DistributedLock.class);
			Warehouse here = one.getBean(Warehouse.class);
			Warehouse there = two.getBean(Warehouse.class);

			LockHandle finding = lock.acquire(LockRequest.of("shelves").mode(LockMode.SHARED));
			assertThat(there.find("A1")).isEqualTo("left");
			CompletableFuture<Void> swap = CompletableFuture.runAsync(() -> there.swap("A1", "B2"), this.threads);
			untilWaiting(admin, "shelves", 1);
			CompletableFuture<String> later = CompletableFuture.supplyAsync(() -> there.find("A1"), this.threads);
			untilWaiting(admin, "shelves", 2);
			assertThat(admin.get("shelf:A1")).isEqualTo("left");
			finding.close();
			assertThat(later.get(Patience.PATIENCE.toSeconds(), TimeUnit.SECONDS)).isEqualTo("right");
			swap.get(Patience.PATIENCE.toSeconds(), TimeUnit.SECONDS);

			LockHandle serving = lock.acquire(LockRequest.of("counter").fair(true));
			List<CompletableFuture<Void>> customers = new ArrayList<>();
			for (int i = 0; i < 6; i++) {
				String customer = String.valueOf(i);
				customers.add(CompletableFuture.runAsync(
						() -> ((Integer.parseInt(customer) % 3 == 0) ? here : there).serve(customer), this.threads));
				untilWaiting(admin, "counter", i + 1);
			}
			serving.close();
			for (CompletableFuture<Void> customer : customers) {
				customer.get(Patience.PATIENCE.toSeconds(), TimeUnit.SECONDS);
			}
			assertThat(admin.lrange("served", 0, -1)).containsExactly("0", "1", "2", "3", "4", "5");
		}
	}

	private static void untilWaiting(Jedis admin, String key, int waiters) {
		Awaitility.await().until(() -> admin.zcard("lock-waiters:{" + key + "}") == waiters);
	}

}
