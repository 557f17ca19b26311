package io.github.distributedlock.demo;

import org.springframework.beans.factory.annotation.Value;
import org.springframework.data.redis.core.StringRedisTemplate;
import org.springframework.stereotype.Component;

/**
 * How many units are left, and how many each JVM has sold, in Redis.
 */
@Component
class Stock {

	private final StringRedisTemplate redis;

	private final String seller;

	Stock(StringRedisTemplate redis, @Value("${spring.application.name}") String seller) {
		this.redis = redis;
		this.seller = seller;
	}

	int left(String sku) {
		return Integer.parseInt(this.redis.opsForValue().get(leftKey(sku)));
	}

	void leave(String sku, int left) {
		this.redis.opsForValue().set(leftKey(sku), String.valueOf(left));
	}

	/**
	 * Notes that one more unit was sold; in one step, so that each sale counts.
	 */
	void recordSale(String sku) {
		this.redis.opsForHash().increment(salesKey(sku), this.seller, 1);
	}

	static String leftKey(String sku) {
		return "left:" + sku;
	}

	static String salesKey(String sku) {
		return "sales:" + sku;
	}

}
