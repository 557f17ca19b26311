package io.github.distributedlock.integration;

import java.util.UUID;
import java.util.concurrent.locks.Lock;

import io.github.distributedlock.LockHandle;
import io.github.distributedlock.engine.EngineFixture;
import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

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

	// The registry is raw, so that the compiler does not know what the code throws.
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
