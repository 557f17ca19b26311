package io.github.distributedlock.docs;

// tag::by-hand[]
import java.time.Duration;
import java.util.List;

import io.github.distributedlock.DistributedLock;
import io.github.distributedlock.LockHandle;
import io.github.distributedlock.LockRequest;

import org.springframework.stereotype.Service;

@Service
public class Reports {

	private final DistributedLock lock;

	private final Archive archive;

	public Reports(DistributedLock lock, Archive archive) {
		this.lock = lock;
		this.archive = archive;
	}

	// Waits, then throws LockNotAcquiredException.
	public void write() {
		try (LockHandle handle = this.lock.acquire("nightly-report")) {
			String report = this.archive.collect();
			handle.checkHeld(); // the guard before a step that cannot be taken back
			this.archive.publish(report);
		}
	}

	// Does not wait.
	public boolean writeUnlessSomebodyDoes() {
		try (LockHandle handle = this.lock.tryAcquire("nightly-report").orElse(null)) {
			if (handle == null) {
				return false;
			}
			this.archive.publish(this.archive.collect());
			return true;
		}
	}

	// Several keys, all or none, with a result.
	public String merge(List<String> reports) {
		LockRequest request = LockRequest.of(reports)
			.waitTime(Duration.ofSeconds(2))
			.maxHoldTime(Duration.ofMinutes(1))
			.name("merge-reports");
		return this.lock.execute(request, this.archive::collect);
	}

}
// end::by-hand[]
