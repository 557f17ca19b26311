package io.github.distributedlock.backend;

import java.lang.reflect.Method;
import java.lang.reflect.Modifier;
import java.util.Arrays;

import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Tests for {@link ForwardingLockBackend}.
 */
class ForwardingLockBackendTests {

	@Test
	void forwardsEverything() {
		assertThat(LockBackend.class.getDeclaredMethods())
			.filteredOn((step) -> !Modifier.isStatic(step.getModifiers()) && !step.isSynthetic())
			.hasSizeGreaterThan(20)
			.allMatch(ForwardingLockBackendTests::isForwarded);
	}

	private static boolean isForwarded(Method step) {
		return Arrays.stream(ForwardingLockBackend.class.getDeclaredMethods())
			.anyMatch((own) -> own.getName().equals(step.getName())
					&& Arrays.equals(own.getParameterTypes(), step.getParameterTypes()));
	}

}
