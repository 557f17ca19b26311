package io.github.distributedlock.backend;

import java.lang.reflect.Method;
import java.lang.reflect.Modifier;
import java.lang.reflect.Proxy;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Objects;
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

import static java.util.Map.entry;
import static org.assertj.core.api.Assertions.assertThat;

class ForwardingLockBackendTests {

	private static final Claim CLAIM = Claim.of("k", "a:1", "a", Duration.ofMinutes(1));

	/**
	 * Arguments and answers by their types. None of the answers is one that a default
	 * method of {@link LockBackend} gives.
	 */
	private static final Map<Class<?>, Object> VALUES = Map.ofEntries(entry(boolean.class, true),
			entry(int.class, 4_711), entry(Duration.class, Duration.ofDays(1)), entry(List.class, List.of(true, false)),
			entry(Set.class, Set.of(LockFeature.FENCING)), entry(Map.class, Map.of("type", "delegate")),
			entry(AcquireResult.class, AcquireResult.fenced(4_711)),
			entry(HandOverResult.class, HandOverResult.of(true, AcquireResult.fenced(4_711))),
			entry(LockStatus.class, LockStatus.of("k", List.of(), List.of())), entry(Listening.class, Listening.DEAF),
			entry(Object.class, new Object()), entry(Claim.class, CLAIM), entry(Waiter.class, CLAIM.waiter()),
			entry(LockRequest.class, LockRequest.of("asked")), entry(ReleaseListener.class, new Ear()));

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
		Object answer = VALUES.get(step.getReturnType());
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

	private static Object argument(Class<?> type, int number) {
		return (type == String.class) ? "argument " + number : Objects.requireNonNull(VALUES.get(type), type.getName());
	}

}
