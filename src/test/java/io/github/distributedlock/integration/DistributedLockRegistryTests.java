package io.github.distributedlock.integration;

import java.util.UUID;
import java.util.concurrent.locks.Lock;

import io.github.distributedlock.LockHandle;
import io.github.distributedlock.concurrent.JdkLocks;
import io.github.distributedlock.engine.EngineFixture;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

import org.springframework.integration.support.locks.LockRegistry;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;
import static org.awaitility.Awaitility.await;

/**
 * Tests for {@link DistributedLockRegistry}.
 */
class DistributedLockRegistryTests extends EngineFixture {

	private final DistributedLockRegistry registry = new DistributedLockRegistry(this.engine);

	@Test
	void obtainsTheLockOfAKey() {
		Lock lock = this.registry.obtain("k");
		lock.lock();
		assertThat(LockHandle.current().orElseThrow().keys()).containsExactly("k");
		this.registry.obtain("k").unlock();
		assertThat(holderOf("k")).isNull();
		assertThatExceptionOfType(IllegalMonitorStateException.class).isThrownBy(lock::unlock);
	}

	@ParameterizedTest
	@MethodSource("io.github.distributedlock.integration.Registry#all")
	@SuppressWarnings("rawtypes")
	void isTheSameForEqualKeys(Registry type) {
		LockRegistry any = type.of(this.engine);
		assertThat(any.obtain("k")).isSameAs(any.obtain(new String("k"))).isNotSameAs(any.obtain("other"));
	}

	/**
	 * What a thread has locked does not depend on it.
	 */
	@Test
	void keepsALockForAsLongAsAnybodyRefersToIt() {
		JdkLocks jdkLocks = new JdkLocks(this.engine);
		RegistryLocks<Lock> locks = new RegistryLocks<>(jdkLocks::lock);
		Lock kept = locks.obtain("kept");
		locks.obtain("forgotten").lock();
		await().until(() -> {
			System.gc();
			locks.obtain("kept");
			return locks.entries.size() == 1;
		});
		assertThat(locks.obtain("kept")).isSameAs(kept);
		assertThat(holderOf("forgotten")).isNotNull();
		locks.obtain("forgotten").unlock();
		assertThat(holderOf("forgotten")).isNull();
	}

	// It is raw, so that what the code throws is not known.
	@Test
	@SuppressWarnings("unchecked")
	void executesLocked() throws Throwable {
		this.registry.executeLocked("k", () -> assertThat(holderOf("k")).isNotNull());
		assertThat(holderOf("k")).isNull();
	}

	@Test
	void refusesWhatMayBeAnotherKeyInAnotherJvm() {
		assertThatIllegalArgumentException().isThrownBy(() -> this.registry.obtain(new UUID(1, 2)))
			.withMessage("The key of a lock is a java.util.UUID, but its text may differ from JVM to JVM."
					+ " Obtain the lock by a String");
		assertThatIllegalArgumentException().isThrownBy(() -> this.registry.obtain(" "));
	}

}
