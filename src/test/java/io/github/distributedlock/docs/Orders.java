package io.github.distributedlock.docs;

import java.util.List;
import java.util.concurrent.CompletableFuture;

import io.github.distributedlock.LockNotAcquiredException;
import io.github.distributedlock.annotation.DistributedLock;
import io.github.distributedlock.annotation.IfBusy;

import org.springframework.stereotype.Service;

// tag::annotation[]
@Service
public class Orders {

	public record Order(String id) {
	}

	// One at a time for each order. Waits 5 s, then throws LockNotAcquiredException.
	@DistributedLock(key = "order:#{#order.id}")
	public String pay(Order order) {
		return "paid " + order.id();
	}

	// Both accounts or none. Two transfers in opposite directions cannot deadlock.
	@DistributedLock(key = { "account:#{#from}", "account:#{#to}" }, waitTime = "2s")
	public String transfer(String from, String to) {
		return "transferred from " + from + " to " + to;
	}

	// If the lock is busy, this call does nothing and returns null.
	@DistributedLock(key = "'price-list'", ifBusy = IfBusy.SKIP)
	public String refreshPrices() {
		return "refreshed";
	}

	// end::annotation[]

	// tag::more-annotations[]
	// If the lock is busy, another method answers.
	@DistributedLock(key = "'close:' + #year", fallback = "closing")
	public String close(int year) {
		return "closed " + year;
	}

	private String closing(int year, LockNotAcquiredException busy) {
		return "being closed by " + busy.holder().orElse("somebody");
	}

	// One key for each element of the list.
	@DistributedLock(key = "item:#{#items}")
	public String reserve(List<String> items) {
		return "reserved " + items;
	}

	// Held until the future completes, but never for more than 10 minutes.
	@DistributedLock(key = "'export'", maxHoldTime = "10m")
	public CompletableFuture<String> export() {
		return CompletableFuture.completedFuture("exported");
	}
	// end::more-annotations[]

	// tag::annotation[]

}
// end::annotation[]
