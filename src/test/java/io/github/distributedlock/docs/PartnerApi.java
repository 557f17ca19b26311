package io.github.distributedlock.docs;

// tag::permits[]
import io.github.distributedlock.annotation.DistributedLock;

import org.springframework.http.HttpHeaders;
import org.springframework.http.HttpStatus;
import org.springframework.http.ResponseEntity;
import org.springframework.stereotype.Service;

@Service
public class PartnerApi {

	private final PriceSource partner;

	public PartnerApi(PriceSource partner) {
		this.partner = partner;
	}

	// At most ten of these calls at a time, in all JVMs together.
	@DistributedLock(key = "'partner-api'", permitsString = "${partner.calls:10}", waitTime = "2s", fallback = "busy")
	public ResponseEntity<String> price(String sku) {
		return ResponseEntity.ok(this.partner.load(sku));
	}

	private ResponseEntity<String> busy(String sku) {
		return ResponseEntity.status(HttpStatus.TOO_MANY_REQUESTS).header(HttpHeaders.RETRY_AFTER, "2").build();
	}

	// end::permits[]
	// tag::rate[]
	// At most ten of these calls begin in any second, in all JVMs together.
	@DistributedLock(key = "'partner-rate'", permits = 10, minHoldTime = "1s", waitTime = "3s")
	public String offer(String sku) {
		return this.partner.load(sku);
	}

	// end::rate[]
	// tag::kept[]
	// Mostly one JVM asks for an article, again and again: the lock stays there.
	@DistributedLock(key = "offer:#{#sku}", keepTime = "100ms")
	public String cheapest(String sku) {
		return this.partner.load(sku);
	}
	// end::kept[]

	// tag::permits[]

}
