package io.github.distributedlock;

import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Random;
import java.util.function.Consumer;
import java.util.function.IntFunction;
import java.util.stream.Stream;

import io.github.distributedlock.fixtures.StubHandle;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * What the bindings of a thread cost. Whoever looks at one asks its handle whether it is
 * closed, so that these questions count the steps.
 */
class BindingCostTests {

	private static final int MANY = 10_000;

	/**
	 * For each binding that is made, looked for and ended.
	 */
	private static final int MOST_STEPS = 15;

	private int steps;

	@AfterEach
	void nothingIsLeftBehind() {
		CurrentLock.all().forEach(CurrentLock::unbind);
		assertThat(CurrentLock.all()).isEmpty();
	}

	@ParameterizedTest
	@MethodSource
	void doesNotGrowWithTheirNumber(IntFunction<String> keys, Consumer<List<?>> order) {
		List<CurrentLock> bindings = new ArrayList<>();
		for (int i = 0; i < MANY; i++) {
			Handle handle = new Handle(keys.apply(i));
			bindings.add(CurrentLock.bind(handle));
			assertThat(LockHandle.current()).containsSame(handle);
			assertThat(CurrentLock.find(keys.apply(i), (any) -> true)).containsSame(handle);
			assertThat(CurrentLock.find("another", (any) -> true)).isEmpty();
		}
		order.accept(bindings);
		for (CurrentLock binding : bindings) {
			String key = binding.keys.get(0);
			binding.close();
			CurrentLock.find(key, (any) -> true);
			LockHandle.current();
		}
		assertThat(this.steps).isLessThan(MOST_STEPS * MANY);
		assertThat(CurrentLock.all()).isEmpty();
	}

	static Stream<Arguments> doesNotGrowWithTheirNumber() {
		IntFunction<String> same = (i) -> "k";
		IntFunction<String> different = (i) -> "k" + i;
		Consumer<List<?>> oldestFirst = (bindings) -> {
		};
		return Stream.of(same, different)
			.flatMap((keys) -> Stream
				.<Consumer<List<?>>>of(oldestFirst, Collections::reverse,
						(bindings) -> Collections.shuffle(bindings, new Random(42)))
				.map((order) -> Arguments.of(keys, order)));
	}

	@Test
	void doesNotGrowWithThoseThatEndedBelowOneThatGoesOn() {
		Handle below = new Handle("below");
		CurrentLock.bind(below);
		CurrentLock last = CurrentLock.bind(new Handle("k"));
		for (int i = 0; i < MANY; i++) {
			CurrentLock next = CurrentLock.bind(new Handle("k"));
			last.close();
			last = next;
			assertThat(CurrentLock.find("below", (any) -> true)).containsSame(below);
		}
		assertThat(this.steps).isLessThan(MOST_STEPS * MANY);
		assertThat(CurrentLock.all()).hasSize(2);
	}

	@Test
	void doesNotGrowWithTheKeysOfAHandle() {
		List<String> keys = Stream.iterate(0, (i) -> i + 1).limit(MANY).map(String::valueOf).toList();
		Handle outer = new Handle(keys);
		CurrentLock.bind(outer);
		for (String key : keys) {
			CurrentLock inner = CurrentLock.bind(new Handle(key));
			inner.close();
			assertThat(CurrentLock.find(key, (any) -> true)).containsSame(outer);
		}
		assertThat(this.steps).isLessThan(MOST_STEPS * MANY);
	}

	@Test
	void innermostOfTheKeyThatSuitsIsFoundHoweverManyThereAre() {
		for (int more : new int[] { 0, 20 }) {
			Handle first = new Handle("k");
			Handle second = new Handle("k");
			CurrentLock.bind(first);
			CurrentLock ended = CurrentLock.bind(second);
			for (int i = 0; i < more; i++) {
				CurrentLock.bind(new Handle("other" + i));
			}
			assertThat(CurrentLock.find("k", (any) -> true)).containsSame(second);
			assertThat(CurrentLock.find("k", (handle) -> handle == first)).containsSame(first);
			ended.close();
			assertThat(CurrentLock.find("k", (any) -> true)).containsSame(first);
			CurrentLock.bind(second);
			assertThat(CurrentLock.find("k", (any) -> true)).containsSame(second);
			second.close();
			assertThat(CurrentLock.find("k", (any) -> true)).containsSame(first);
			CurrentLock.unbind(first);
			assertThat(CurrentLock.find("k", (any) -> true)).isEmpty();
			assertThat(CurrentLock.all()).hasSize(more);
		}
	}

	private final class Handle extends StubHandle {

		private Handle(String key) {
			this(List.of(key));
		}

		private Handle(List<String> keys) {
			super(keys);
		}

		@Override
		public boolean isClosed() {
			BindingCostTests.this.steps++;
			return super.isClosed();
		}

	}

}
