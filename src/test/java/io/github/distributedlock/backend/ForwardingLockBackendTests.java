package io.github.distributedlock.backend;

import java.lang.reflect.Method;
import java.lang.reflect.Modifier;
import java.lang.reflect.Proxy;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.stream.IntStream;
import java.util.stream.Stream;

import io.github.distributedlock.LockRequest;
import io.github.distributedlock.LockStatus;
import io.github.distributedlock.backend.LockBackend.HandOverResult;
import io.github.distributedlock.backend.LockBackend.Listening;
import io.github.distributedlock.tck.Ear;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Tests for {@link ForwardingLockBackend}.
 */
class ForwardingLockBackendTests {

	private record Call(Method step, List<Object> arguments) {
	}

	@Test
	void hasManySteps() {
		assertThat(steps()).hasSizeGreaterThan(20);
	}

	static Stream<Method> steps() {
		return Arrays.stream(LockBackend.class.getDeclaredMethods())
			.filter((step) -> !Modifier.isStatic(step.getModifiers()) && !step.isSynthetic());
	}

	@ParameterizedTest
	@MethodSource("steps")
	void forwardsEachStepWithItsArgumentsAndItsAnswer(Method step) throws Exception {
		Object answer = answer(step.getReturnType());
		List<Call> calls = new ArrayList<>();
		LockBackend delegate = (LockBackend) Proxy.newProxyInstance(getClass().getClassLoader(),
				new Class<?>[] { LockBackend.class }, (proxy, method, arguments) -> {
					calls.add(new Call(method, (arguments != null) ? List.of(arguments) : List.of()));
					return answer;
				});
		Object[] arguments = IntStream.range(0, step.getParameterCount())
			.mapToObj((number) -> argument(step.getParameterTypes()[number], number))
			.toArray();
		Object forwarded = step.invoke(new ForwardingLockBackend(delegate) {
		}, arguments);
		assertThat(calls).containsExactly(new Call(step, List.of(arguments)));
		assertThat(forwarded).isEqualTo(answer);
	}

	/**
	 * No two of a step are equal, and none is what a default would be.
	 */
	private static Object argument(Class<?> type, int number) {
		if (type == String.class) {
			return "argument " + number;
		}
		if (type == boolean.class) {
			return true;
		}
		if (type == Duration.class) {
			return Duration.ofDays(1);
		}
		if (type == List.class) {
			return List.of("one", "other");
		}
		if (type == Set.class) {
			return Set.of("one");
		}
		if (type == Claim.class) {
			return claim();
		}
		if (type == Waiter.class) {
			return claim().waiter();
		}
		if (type == LockRequest.class) {
			return LockRequest.of("asked");
		}
		if (type == ReleaseListener.class) {
			return new Ear();
		}
		throw new IllegalArgumentException("No argument of " + type);
	}

	/**
	 * None that a default of {@link LockBackend} would give.
	 */
	private static Object answer(Class<?> type) {
		if (type == void.class) {
			return null;
		}
		if (type == boolean.class) {
			return true;
		}
		if (type == int.class) {
			return 4_711;
		}
		if (type == Duration.class) {
			return Duration.ofDays(1);
		}
		if (type == List.class) {
			return List.of(true, false);
		}
		if (type == Set.class) {
			return Set.of(LockFeature.FENCING);
		}
		if (type == Map.class) {
			return Map.of("type", "delegate");
		}
		if (type == AcquireResult.class) {
			return AcquireResult.fenced(4_711);
		}
		if (type == HandOverResult.class) {
			return HandOverResult.of(true, AcquireResult.fenced(4_711));
		}
		if (type == LockStatus.class) {
			return LockStatus.of("k", List.of(), List.of());
		}
		return (type == Listening.class) ? Listening.DEAF : new Object();
	}

	private static Claim claim() {
		return Claim.of("k", "a:1", "a", Duration.ofMinutes(1));
	}

}
