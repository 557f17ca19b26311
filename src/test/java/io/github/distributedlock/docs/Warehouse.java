package io.github.distributedlock.docs;

// tag::modes[]
import io.github.distributedlock.LockMode;
import io.github.distributedlock.annotation.DistributedLock;

import org.springframework.data.redis.core.StringRedisTemplate;
import org.springframework.stereotype.Service;

@Service
public class Warehouse {

	private final StringRedisTemplate redis;

	public Warehouse(StringRedisTemplate redis) {
		this.redis = redis;
	}

	// Any number of these at the same time, in all JVMs.
	@DistributedLock(key = "'shelves'", mode = LockMode.SHARED)
	public String find(String sku) {
		return this.redis.opsForValue().get("shelf:" + sku);
	}

	// None beside this: it waits for the readers, and later readers wait for it.
	@DistributedLock(key = "'shelves'")
	public void swap(String sku, String other) {
		String shelf = this.redis.opsForValue().get("shelf:" + sku);
		this.redis.opsForValue().set("shelf:" + sku, this.redis.opsForValue().get("shelf:" + other));
		this.redis.opsForValue().set("shelf:" + other, shelf);
	}

	// First come, first served, across all JVMs.
	@DistributedLock(key = "'counter'", fair = true, waitTime = "1m")
	public void serve(String customer) {
		this.redis.opsForList().rightPush("served", customer);
	}

}
// end::modes[]
