package io.github.distributedlock.docs;

import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;

import io.github.distributedlock.LockHandle;
import io.github.distributedlock.LockMode;
import io.github.distributedlock.LockRequest;
import io.github.distributedlock.LockedCall;
import io.github.distributedlock.LockedTask;
import io.github.distributedlock.annotation.DistributedLock;
import io.github.distributedlock.annotation.IfBusy;

import org.springframework.stereotype.Service;

/**
 * The replacements that the documents show beside the locks of other libraries.
 */
@Service
public class FromOthers {

	private final io.github.distributedlock.DistributedLock lock;

	public FromOthers(io.github.distributedlock.DistributedLock lock) {
		this.lock = lock;
	}

	@DistributedLock(key = "'report'", ifBusy = IfBusy.SKIP, minHoldTime = "30s")
	public List<String> shedLock() {
		LockHandle.current().orElseThrow().checkHeld();
		return keys();
	}

	@DistributedLock(key = "order:#{#id}")
	public List<String> lock4j(String id) {
		return keys();
	}

	@DistributedLock(key = "pair:#{#a}:#{#b}")
	public List<String> lock4jOfTwo(String a, String b) {
		return keys();
	}

	@DistributedLock(key = "order:#{#id}", waitTime = "60s")
	public List<String> klock(String id) {
		return keys();
	}

	public LockHandle lock() {
		return this.lock.acquire("k");
	}

	public Optional<LockHandle> tryLock() {
		return this.lock.tryAcquire("k");
	}

	public Optional<LockHandle> tryLockForTwoSeconds() {
		return this.lock.tryAcquire("k", Duration.ofSeconds(2));
	}

	public CompletableFuture<LockHandle> lockAsync() {
		return this.lock.acquireAsync("k");
	}

	@DistributedLock(key = "'k'", waitTime = "2s")
	public List<String> wholeMethod() {
		return keys();
	}

	public boolean ifTryLock(LockedTask<RuntimeException> work) {
		return this.lock.tryRun("k", work);
	}

	public void waitingForTwoSeconds(LockedTask<RuntimeException> code) {
		this.lock.run("k", Duration.ofSeconds(2), code);
	}

	public String elseOther(LockedCall<String, RuntimeException> code, LockedCall<String, RuntimeException> busy) {
		return this.lock.tryExecute("k", code, busy);
	}

	public LockRequest waitingAndLeased() {
		return LockRequest.of("k").waitTime(Duration.ofSeconds(2)).leaseTime(Duration.ofSeconds(10));
	}

	public LockRequest leased() {
		return LockRequest.of("k").leaseTime(Duration.ofSeconds(10));
	}

	public LockRequest fair() {
		return LockRequest.of("k").fair(true);
	}

	LockRequest rateLimited() {
		return LockRequest.of("k").permits(10).minHoldTime(Duration.ofSeconds(1));
	}

	public LockRequest limited() {
		return LockRequest.of("k").permits(10);
	}

	public LockRequest reading() {
		return LockRequest.of("k").mode(LockMode.SHARED);
	}

	public LockRequest several() {
		return LockRequest.of("a", "b");
	}

	public LockRequest fenced() {
		return LockRequest.of("k").fenced(true);
	}

	public LockRequest detached() {
		return LockRequest.of("k").detached(true);
	}

	private static List<String> keys() {
		return LockHandle.current().orElseThrow().keys();
	}

}
