package io.github.distributedlock.engine;

import io.github.distributedlock.backend.memory.InMemoryLockBackend;
import org.junit.jupiter.api.Test;

import org.springframework.boot.context.properties.bind.Binder;
import org.springframework.test.util.ReflectionTestUtils;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * An engine of Spring Boot's and one that is built by hand have the same defaults.
 */
class EngineDefaultsTests {

	@Test
	void areThoseOfTheProperties() throws ClassNotFoundException {
		LockEngine.Builder builder = LockEngine.builder(new InMemoryLockBackend());
		Object properties = new Binder().bindOrCreate("distributed-lock",
				Class.forName("io.github.distributedlock.autoconfigure.DistributedLockProperties"));
		for (String name : new String[] { "waitTime", "watchdogTimeout", "localSlice", "keepTime", "maxKeyBytes",
				"warnHeldAfter" }) {
			assertThat(ReflectionTestUtils.getField(builder, name)).as(name)
				.isEqualTo(ReflectionTestUtils.getField(properties, name));
		}
		Object interval = ReflectionTestUtils.getField(properties, "pollInterval");
		assertThat(ReflectionTestUtils.getField(builder, "shortestPoll"))
			.isEqualTo(ReflectionTestUtils.getField(interval, "min"));
		assertThat(ReflectionTestUtils.getField(builder, "longestPoll"))
			.isEqualTo(ReflectionTestUtils.getField(interval, "max"));
	}

}
