package io.github.distributedlock.docs;

// tag::cache-rebuild[]
import java.time.Duration;

import io.github.distributedlock.DistributedLock;

import org.springframework.data.redis.core.StringRedisTemplate;
import org.springframework.stereotype.Service;

@Service
public class Prices {

	private final DistributedLock lock;

	private final StringRedisTemplate redis;

	private final PriceSource source;

	public Prices(DistributedLock lock, StringRedisTemplate redis, PriceSource source) {
		this.lock = lock;
		this.redis = redis;
		this.source = source;
	}

	public String price(String sku) {
		String cached = this.redis.opsForValue().get("price:" + sku);
		return (cached != null) ? cached : this.lock.execute("rebuild:" + sku, () -> rebuild(sku));
	}

	private String rebuild(String sku) {
		String cached = this.redis.opsForValue().get("price:" + sku); // the second look
		if (cached != null) {
			return cached;
		}
		String price = this.source.load(sku);
		this.redis.opsForValue().set("price:" + sku, price, Duration.ofMinutes(5));
		return price;
	}

}
// end::cache-rebuild[]
