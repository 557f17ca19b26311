package io.github.distributedlock.docs;

import io.github.distributedlock.annotation.DistributedLock;

import org.springframework.data.redis.core.StringRedisTemplate;
import org.springframework.stereotype.Service;

@Service
public class Shop {

	private final StringRedisTemplate redis;

	public Shop(StringRedisTemplate redis) {
		this.redis = redis;
	}

	// tag::shop[]
	@DistributedLock(key = "stock:#{#sku}", waitTime = "2s")
	public boolean buy(String sku) {
		int left = Integer.parseInt(this.redis.opsForValue().get("left:" + sku));
		if (left == 0) {
			return false;
		}
		this.redis.opsForValue().set("left:" + sku, String.valueOf(left - 1));
		return true;
	}
	// end::shop[]

}
