package io.github.distributedlock.engine;

import java.time.Duration;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;

import io.github.distributedlock.LockHandle;
import io.github.distributedlock.LockMode;
import io.github.distributedlock.LockRequest;
import io.github.distributedlock.backend.Claim;
import io.github.distributedlock.backend.ForwardingLockBackend;
import io.github.distributedlock.backend.LockBackend.Listening;
import io.github.distributedlock.backend.ReleaseListener;
import io.github.distributedlock.backend.ReleaseNotification;
import io.github.distributedlock.backend.Waiter;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;

import org.springframework.boot.test.system.CapturedOutput;
import org.springframework.boot.test.system.OutputCaptureExtension;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * The identity of an engine, of which several JVMs may have been resumed.
 */
@ExtendWith(OutputCaptureExtension.class)
class InstanceTests extends EngineFixture {

	private final LockEngine resumed = build(Resumed.engine(this.backend).watchdogTimeout(LEASE));

	private final LockEngine twin = build(
			Resumed.engine(new ScriptedBackend(this.store)).watchdogTimeout(LEASE).waitTime(Duration.ZERO));

	@Test
	void twoJvmsOfOneSnapshotDoNotShareALock(CapturedOutput output) {
		try (LockHandle held = this.resumed.acquire(LockRequest.of("k").detached(true))) {
			assertThat(this.twin.tryAcquire("k")).isEmpty();
			assertThat(held.isHeld()).isTrue();
		}
		assertThat(this.twin.tryAcquire("k")).isPresent();
		assertThat(output).containsOnlyOnce("Another JVM acts as ");
	}

	@Test
	void jvmThatMeetsATokenOfItsIdentityTakesAnotherOne(CapturedOutput output) {
		String before = instanceOf(this.resumed);
		String twins = this.twin.acquire(LockRequest.of("k").detached(true)).owner();
		assertThat(Claim.instanceOf(twins)).isEqualTo(before);
		assertThat(this.resumed.tryAcquire("k")).isEmpty();
		assertThat(instanceOf(this.resumed)).isNotEqualTo(before);
		assertThat(output).contains(before, twins, instanceOf(this.resumed), "from one snapshot");
	}

	@Test
	void grantOfATwinIsLeftToIt() {
		LockHandle held = this.twin.acquire(LockRequest.of("k").detached(true));
		String instance = Claim.instanceOf(held.owner());
		this.backend.forgetSteps();
		this.backend.listener()
			.onRelease(ReleaseNotification.granted("k", Waiter.exclusive(instance), held.owner(), 1));
		this.time.advance(Duration.ofSeconds(5));
		assertThat(this.backend.steps()).as("steps that undo the grant").isEmpty();
		assertThat(held.isHeld()).isTrue();
		assertThat(holderOf("k")).isNotNull();
	}

	@Test
	void ownTokensAreNoReasonToTakeAnotherIdentity() {
		String before = instanceOf(this.resumed);
		LockHandle held = this.resumed.acquire(LockRequest.of("k").detached(true));
		for (int i = 0; i < 2000; i++) {
			this.resumed.acquire("other").close();
			if (i % 100 == 0) {
				assertThat(this.resumed
					.tryAcquire(LockRequest.of("k").mode(LockMode.SHARED).detached(true).waitTime(Duration.ZERO)))
					.isEmpty();
			}
		}
		held.close();
		assertThat(instanceOf(this.resumed)).isEqualTo(before);
	}

	@Test
	void tokensAreUnique() {
		Set<String> tokens = ConcurrentHashMap.newKeySet();
		for (int i = 0; i < 5000; i++) {
			try (LockHandle handle = this.resumed.acquire("k" + i % 3)) {
				assertThat(tokens.add(handle.owner())).isTrue();
			}
		}
	}

	@Test
	void startAfterAStopTakesAnotherIdentityAndKeepsWhatIsHeld() {
		String before = instanceOf(this.resumed);
		LockHandle held = this.resumed.acquire(LockRequest.of("held").detached(true));
		this.resumed.start();
		assertThat(instanceOf(this.resumed)).as("the same instance without a stop").isEqualTo(before);
		this.resumed.stop();
		this.resumed.start();
		assertThat(instanceOf(this.resumed)).isNotEqualTo(before);
		this.time.advance(LEASE.multipliedBy(2));
		assertThat(held.isHeld()).isTrue();
		assertThat(this.resumed.inspect("held").heldHere()).isTrue();
		held.close();
		assertThat(holderOf("held")).isNull();
	}

	@Test
	void isGrantedLocksUnderItsNewIdentity() {
		this.resumed.stop();
		this.resumed.start();
		ownedElsewhere("k", LEASE);
		var acquired = this.resumed.acquireAsync(LockRequest.of("k").waitTime(Duration.ofMinutes(1)));
		act();
		this.time.advance(Duration.ofSeconds(1));
		releasedElsewhere("k");
		act();
		assertThat(acquired).isCompleted();
		assertThat(Claim.instanceOf(acquired.join().owner())).isEqualTo(instance());
	}

	@Test
	void startsLeaveTwoSubscriptions() {
		Set<String> open = ConcurrentHashMap.newKeySet();
		LockEngine restarted = build(LockEngine.builder(new ForwardingLockBackend(this.store) {

			@Override
			public Listening listen(String instance, ReleaseListener listener) {
				open.add(instance);
				Listening listening = super.listen(instance, listener);
				return new Listening() {

					@Override
					public boolean hears() {
						return listening.hears();
					}

					@Override
					public void close() {
						open.remove(instance);
						listening.close();
					}

				};
			}

		}));
		String held = restarted.acquire(LockRequest.of("held").detached(true)).owner();
		for (int i = 0; i < 5; i++) {
			restarted.stop();
			restarted.start();
		}
		assertThat(open).as("the present one, and that before it").hasSize(2).contains(instanceOf(restarted));
		assertThat(restarted.inspect("held").heldHere()).as("held under " + held).isTrue();
		restarted.close();
		assertThat(open).isEmpty();
	}

	/**
	 * A thread took the first number, and makes its token 1024 numbers later.
	 */
	@Test
	void tokenOfASlowThreadMakesNoOtherOneForeign() {
		Instance instance = new Instance("us", this.store, () -> "1");
		String last = "";
		for (int i = 0; i < 1025; i++) {
			last = instance.nextOwner();
		}
		String slow = instance.owner(1);
		assertThat(instance.hasMade(last)).isTrue();
		assertThat(instance.hasMade(slow)).isTrue();
		assertThat(instance.hasMade(slow + "0")).as("a twin's").isFalse();
	}

	private static String instanceOf(LockEngine engine) {
		try (LockHandle probe = engine.acquire(LockRequest.of("probe").detached(true))) {
			return Claim.instanceOf(probe.owner());
		}
	}

}
