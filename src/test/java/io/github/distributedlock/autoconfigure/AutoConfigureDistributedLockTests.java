package io.github.distributedlock.autoconfigure;

import io.github.distributedlock.backend.LockBackend;
import io.github.distributedlock.backend.memory.InMemoryLockBackend;
import org.junit.jupiter.api.Nested;
import org.junit.jupiter.api.Test;

import org.springframework.beans.factory.annotation.Autowired;
import org.springframework.boot.autoconfigure.EnableAutoConfiguration;
import org.springframework.boot.test.autoconfigure.json.JsonTest;
import org.springframework.context.ApplicationContext;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.Import;
import org.springframework.test.context.ContextConfiguration;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Annotated methods in a slice: the one whose annotation has the same package on both
 * lines of Spring Boot.
 */
class AutoConfigureDistributedLockTests {

	@Nested
	@JsonTest(properties = "distributed-lock.backend=redis")
	@AutoConfigureDistributedLock
	@ContextConfiguration(classes = Application.class)
	class Annotated {

		@Autowired
		private Greeter greeter;

		@Autowired
		private LockBackend store;

		@Test
		void methodsAreLockedInMemory() {
			assertThat(this.store).isInstanceOf(InMemoryLockBackend.class);
			assertThat(this.greeter.heldKeys()).containsExactly("greeting");
		}

	}

	@Nested
	@JsonTest
	@ContextConfiguration(classes = Application.class)
	class NotAnnotated {

		@Autowired
		private Greeter greeter;

		@Autowired
		private ApplicationContext context;

		@Test
		void methodsRunUnlocked() {
			assertThat(this.context.getBeanNamesForType(LockBackend.class)).isEmpty();
			assertThat(this.greeter.heldKeys()).isEmpty();
		}

	}

	@Configuration(proxyBeanMethods = false)
	@EnableAutoConfiguration
	@Import(Greeter.class)
	static class Application {

	}

}
