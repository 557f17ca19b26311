package io.github.distributedlock.docs;

import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;

import io.github.distributedlock.LockHandle;
import io.github.distributedlock.ReleaseOn;
import io.github.distributedlock.annotation.DistributedLock;
import io.github.distributedlock.annotation.IfBusy;

/**
 * The replacements that the documents show beside the annotations of home-made locks.
 */
public class Migrated {

	private final Queue<Runnable> work = new ConcurrentLinkedQueue<>();

	public Queue<Runnable> work() {
		return this.work;
	}

	@DistributedLock(key = "'order:' + #id", leaseTime = "3s", waitTime = "1s")
	public void fixedLease(String id) {
		workUnderLock();
	}

	@DistributedLock(key = "#key", ifBusy = IfBusy.SKIP)
	public void giveUp(String key) {
		workUnderLock();
	}

	@DistributedLock(key = "#key", ifBusy = IfBusy.SKIP, waitTime = "1s")
	public void goOnTrying(String key) {
		workUnderLock();
	}

	@DistributedLock(key = "#key", maxHoldTime = "4s", releaseOn = ReleaseOn.EXPIRY)
	public void watchdog(String key) {
		workUnderLock();
	}

	private void workUnderLock() {
		LockHandle.current().orElseThrow().checkHeld();
		this.work.remove().run();
	}

}
