package io.github.distributedlock.demo;

import java.util.List;
import java.util.Map;

import io.github.distributedlock.fixtures.RedisServers;
import redis.clients.jedis.Jedis;

/**
 * What Redis says about the sale, for one who does not take part in it.
 */
final class Ledger implements AutoCloseable {

	private final Jedis redis;

	Ledger(RedisServers.Server server) {
		this.redis = server.admin();
	}

	void stockUp(String sku, int units) {
		this.redis.set(Stock.leftKey(sku), String.valueOf(units));
	}

	int left(String sku) {
		return Integer.parseInt(this.redis.get(Stock.leftKey(sku)));
	}

	/**
	 * How many units were sold, by each of the sellers.
	 */
	List<Integer> sales(String sku, List<String> sellers) {
		Map<String, String> sales = this.redis.hgetAll(Stock.salesKey(sku));
		return sellers.stream().map((seller) -> Integer.valueOf(sales.getOrDefault(seller, "0"))).toList();
	}

	@Override
	public void close() {
		this.redis.close();
	}

}
