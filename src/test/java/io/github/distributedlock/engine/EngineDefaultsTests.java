package io.github.distributedlock.engine;

import io.github.distributedlock.autoconfigure.DistributedLockProperties;
import io.github.distributedlock.backend.memory.InMemoryLockBackend;
import io.github.distributedlock.engine.queue.PollInterval;
import org.junit.jupiter.api.Test;

import org.springframework.boot.context.properties.bind.Binder;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * An engine of Spring Boot's and one that is built by hand have the same defaults.
 */
class EngineDefaultsTests {

	@Test
	void areThoseOfTheProperties() {
		LockEngineBuilder builder = new LockEngineBuilder(new InMemoryLockBackend());
		DistributedLockProperties properties = new Binder().bindOrCreate("distributed-lock",
				DistributedLockProperties.class);
		assertThat(builder.waitTime).isEqualTo(properties.waitTime());
		assertThat(builder.leaseTime).isEqualTo(properties.leaseTime());
		assertThat(builder.localSlice).isEqualTo(properties.localSlice());
		assertThat(builder.maxKeyBytes).isEqualTo(properties.maxKeyBytes());
		assertThat(builder.warnHeldAfter).isEqualTo(properties.warnHeldAfter());
		assertThat(builder.pollInterval)
			.isEqualTo(new PollInterval(properties.pollInterval().min(), properties.pollInterval().max()));
	}

}
