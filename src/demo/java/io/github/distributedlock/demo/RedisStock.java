package io.github.distributedlock.demo;

import org.springframework.context.annotation.Profile;
import org.springframework.data.redis.core.StringRedisTemplate;
import org.springframework.stereotype.Component;

@Component
@Profile(Server.REDIS)
class RedisStock implements Stock {

	private final StringRedisTemplate redis;

	RedisStock(StringRedisTemplate redis) {
		this.redis = redis;
	}

	@Override
	public int left(String sku) {
		return Integer.parseInt(this.redis.opsForValue().get("left:" + sku));
	}

	@Override
	public void leave(String sku, int left) {
		this.redis.opsForValue().set("left:" + sku, String.valueOf(left));
	}

	@Override
	public void recordSale(String sku, String seller) {
		this.redis.opsForHash().increment("sales:" + sku, seller, 1);
	}

	@Override
	public int sold(String sku, String seller) {
		Object sold = this.redis.opsForHash().get("sales:" + sku, seller);
		return (sold != null) ? Integer.parseInt(sold.toString()) : 0;
	}

}
