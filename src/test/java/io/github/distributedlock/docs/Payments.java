package io.github.distributedlock.docs;

import io.github.distributedlock.annotation.DistributedLock;
import reactor.core.publisher.Mono;
import reactor.core.scheduler.Schedulers;

import org.springframework.data.redis.core.StringRedisTemplate;
import org.springframework.stereotype.Service;

@Service
public class Payments {

	private final StringRedisTemplate redis;

	public Payments(StringRedisTemplate redis) {
		this.redis = redis;
	}

	// tag::reactive[]
	@DistributedLock(key = "order:#{#id}", waitTime = "2s")
	public Mono<String> pay(String id) {
		return find(id).switchIfEmpty(charge(id)); // one at a time for each order
	}
	// end::reactive[]

	private Mono<String> find(String id) {
		return Mono.fromCallable(() -> this.redis.opsForValue().get("paid:" + id))
			.subscribeOn(Schedulers.boundedElastic());
	}

	private Mono<String> charge(String id) {
		return Mono.fromCallable(() -> {
			this.redis.opsForList().rightPush("charged", id);
			this.redis.opsForValue().set("paid:" + id, "paid " + id);
			return "paid " + id;
		}).subscribeOn(Schedulers.boundedElastic());
	}

}
