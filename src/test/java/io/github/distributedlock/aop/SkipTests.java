package io.github.distributedlock.aop;

import java.time.Duration;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Deque;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.Queue;
import java.util.Set;
import java.util.SortedSet;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;

import io.github.distributedlock.LockBackendException;
import io.github.distributedlock.LockDefinitionException;
import io.github.distributedlock.annotation.DistributedLock;
import io.github.distributedlock.annotation.IfBusy;
import io.reactivex.rxjava3.core.Single;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

import org.springframework.util.ObjectUtils;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

/**
 * Calls that are skipped when the lock is busy.
 */
class SkipTests extends AdvisedFixture<SkipTests.Service> {

	SkipTests() {
		super(Service.class);
	}

	@BeforeEach
	void start() {
		this.lock.busy = true;
	}

	@Test
	void busyLockSkipsTheMethodWithoutWaiting() {
		this.service.run();
		assertThat(this.service.calls()).isZero();
		assertThat(this.lock.request().waitTime()).isNull();
		assertThat(this.lock.events).containsExactly("busy");
	}

	@Test
	void freeLockRunsIt() {
		this.lock.busy = false;
		assertThat(this.service.text()).isEqualTo("ran");
		assertThat(this.lock.events).containsExactly("tryAcquire", "release");
	}

	@Test
	void waitTimeIsWaitedBeforeSkipping() {
		this.service.patient();
		assertThat(this.service.calls()).isZero();
		assertThat(this.lock.request().waitTime()).isEqualTo(Duration.ofSeconds(2));
	}

	@Test
	void failingStoreIsNotBusy() {
		this.lock.failure = LockBackendException.of("down").retryable(true).build();
		assertThatThrownBy(this.service::run).isSameAs(this.lock.failure);
	}

	@ParameterizedTest
	@CsvSource(textBlock = """
			text,        null
			boxed,       null
			optional,    Optional.empty
			optionalInt, OptionalInt.empty
			list,        []
			set,         []
			sortedSet,   []
			collection,  []
			arrayList,   []
			iterable,    []
			queue,       []
			deque,       []
			blocking,    null
			map,         {}
			array,       {}
			numbers,     {}
			""")
	void resultThatSaysNothing(String method, String result) {
		LockDefinition definition = Definitions.of(Results.class, method, "ifBusy=SKIP", Map.of());
		assertThat(ObjectUtils.nullSafeToString(definition.skipped().get())).isEqualTo(result);
		if (!result.equals("null")) {
			assertThat(definition.skipped().get()).isInstanceOf(definition.annotated().resultType());
		}
	}

	@Test
	void resultsThatSayNothingToTheCaller() {
		assertThat(this.service.text()).isNull();
		assertThat(this.service.future()).isCompletedWithValue(null);
		assertThat(this.service.stage().toCompletableFuture()).isCompletedWithValue(null);
		// Each caller gets a list of its own, and may change that list.
		this.service.list().add("changed");
		assertThat(this.service.list()).isEmpty();
		assertThat(this.service.calls()).isZero();
		try (AdvisorContext generic = AdvisorContext.of(TextSource.class)) {
			generic.lock().busy = true;
			assertThat(generic.get(TextSource.class).get()).isEmpty();
		}
	}

	@ParameterizedTest
	@CsvSource(delimiter = '|',
			textBlock = """
					primitive | returns int                                                       | return an object (null then says skipped), or use a fallback
					single    | returns io.reactivex.rxjava3.core.Single, which always has a value | (
					""")
	void resultThatCannotSayNothing(String method, String problem, String remedy) {
		assertThatExceptionOfType(LockDefinitionException.class)
			.isThrownBy(() -> Definitions.of(Results.class, method, "ifBusy=SKIP", Map.of()))
			.withMessageContainingAll("Results." + method + "(): ifBusy = SKIP has no result to return", problem,
					remedy);
	}

	static class Source<T> {

		@DistributedLock(ifBusy = IfBusy.SKIP)
		public T get() {
			throw new UnsupportedOperationException();
		}

	}

	static class TextSource extends Source<Optional<String>> {

	}

	static class Counting {

		int calls;

		int calls() {
			return this.calls;
		}

	}

	interface Results {

		String text();

		Boolean boxed();

		Optional<String> optional();

		OptionalInt optionalInt();

		List<String> list();

		Set<String> set();

		SortedSet<String> sortedSet();

		Collection<String> collection();

		ArrayList<String> arrayList();

		Iterable<String> iterable();

		Queue<String> queue();

		Deque<String> deque();

		BlockingQueue<String> blocking();

		Map<String, String> map();

		String[] array();

		int[] numbers();

		int primitive();

		Single<String> single();

	}

	@DistributedLock(key = "'skip'", ifBusy = IfBusy.SKIP)
	static class Service extends Counting {

		private <T> T ran(T result) {
			this.calls++;
			return result;
		}

		public void run() {
			ran(null);
		}

		@DistributedLock(ifBusy = IfBusy.SKIP, waitTime = "2s")
		public void patient() {
			ran(null);
		}

		public String text() {
			return ran("ran");
		}

		public List<String> list() {
			return ran(List.of("ran"));
		}

		public CompletableFuture<String> future() {
			return ran(CompletableFuture.completedFuture("ran"));
		}

		public CompletionStage<String> stage() {
			return ran(CompletableFuture.completedStage("ran"));
		}

	}

}
