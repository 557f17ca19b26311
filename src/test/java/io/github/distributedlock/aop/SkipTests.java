package io.github.distributedlock.aop;

import java.time.Duration;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.Set;
import java.util.SortedSet;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;

import io.github.distributedlock.LockBackendException;
import io.github.distributedlock.annotation.DistributedLock;
import io.github.distributedlock.annotation.IfBusy;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

/**
 * Calls that are skipped when the lock is busy.
 */
class SkipTests {

	private AdvisorContext context;

	private Service service;

	@BeforeEach
	void start() {
		this.context = AdvisorContext.of(Service.class, TextSource.class);
		this.service = this.context.get(Service.class);
		this.context.lock().busy = true;
	}

	@AfterEach
	void stop() {
		this.context.close();
	}

	@Test
	void busyLockSkipsTheMethodWithoutWaiting() {
		this.service.run();
		assertThat(this.service.calls()).isZero();
		assertThat(this.context.lock().request().waitTime()).isNull();
		assertThat(this.context.lock().events).containsExactly("busy");
	}

	@Test
	void freeLockRunsIt() {
		this.context.lock().busy = false;
		assertThat(this.service.text()).isEqualTo("ran");
		assertThat(this.context.lock().events).containsExactly("tryAcquire", "release");
	}

	@Test
	void waitTimeIsWaitedBeforeSkipping() {
		this.service.patient();
		assertThat(this.service.calls()).isZero();
		assertThat(this.context.lock().request().waitTime()).isEqualTo(Duration.ofSeconds(2));
	}

	@Test
	void failingStoreIsNotBusy() {
		this.context.lock().failure = LockBackendException.of("down").retryable(true).build();
		assertThatThrownBy(this.service::run).isSameAs(this.context.lock().failure);
	}

	@Test
	void resultsThatSayNothing() {
		assertThat(this.service.text()).isNull();
		assertThat(this.service.boxed()).isNull();
		assertThat(this.service.optional()).isEmpty();
		assertThat(this.service.optionalInt()).isEmpty();
		assertThat(this.service.list()).isEmpty();
		assertThat(this.service.set()).isEmpty();
		assertThat(this.service.sortedSet()).isEmpty();
		assertThat(this.service.collection()).isEmpty();
		assertThat(this.service.arrayList()).isEmpty();
		assertThat(this.service.iterable()).isEmpty();
		assertThat(this.service.map()).isEmpty();
		assertThat(this.service.array()).isEmpty();
		assertThat(this.service.numbers()).isEmpty();
		assertThat(this.service.future()).isCompletedWithValue(null);
		assertThat(this.service.stage().toCompletableFuture()).isCompletedWithValue(null);
		assertThat(this.service.calls()).isZero();
	}

	@Test
	void resultsAreNotSharedByCallers() {
		this.service.list().add("changed");
		assertThat(this.service.list()).isEmpty();
	}

	@Test
	void resultTypeOfAGenericMethodIsTheResolvedOne() {
		assertThat(this.context.get(TextSource.class).get()).isEmpty();
	}

	@Test
	void primitiveResultIsRefused() {
		AdvisorContext.refusal(Primitive.class)
			.hasMessageContaining("Primitive.run(): ifBusy = SKIP has no result to return")
			.hasMessageContaining("returns int")
			.hasMessageContaining("return an object (null then says skipped), or use a fallback");
	}

	static class Source<T> {

		@DistributedLock(ifBusy = IfBusy.SKIP)
		public T get() {
			throw new UnsupportedOperationException();
		}

	}

	static class TextSource extends Source<Optional<String>> {

	}

	static class Primitive {

		@DistributedLock(ifBusy = IfBusy.SKIP)
		public int run() {
			return 1;
		}

	}

	static class Counting {

		int calls;

		int calls() {
			return this.calls;
		}

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

		public Boolean boxed() {
			return ran(true);
		}

		public Optional<String> optional() {
			return ran(Optional.of("ran"));
		}

		public OptionalInt optionalInt() {
			return ran(OptionalInt.of(1));
		}

		public List<String> list() {
			return ran(List.of("ran"));
		}

		public Set<String> set() {
			return ran(Set.of("ran"));
		}

		public SortedSet<String> sortedSet() {
			return ran(null);
		}

		public Collection<String> collection() {
			return ran(List.of("ran"));
		}

		public ArrayList<String> arrayList() {
			return ran(null);
		}

		public Iterable<String> iterable() {
			return ran(List.of("ran"));
		}

		public Map<String, String> map() {
			return ran(Map.of("ran", "ran"));
		}

		public String[] array() {
			return ran(new String[] { "ran" });
		}

		public int[] numbers() {
			return ran(new int[] { 1 });
		}

		public CompletableFuture<String> future() {
			return ran(CompletableFuture.completedFuture("ran"));
		}

		public CompletionStage<String> stage() {
			return ran(CompletableFuture.completedStage("ran"));
		}

	}

}
