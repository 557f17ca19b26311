package io.github.distributedlock.aop;

import java.io.IOException;
import java.time.Duration;
import java.util.List;
import java.util.Map;

import io.github.distributedlock.LockBackendException;
import io.github.distributedlock.LockDefinitionException;
import io.github.distributedlock.LockException;
import io.github.distributedlock.LockInterruptedException;
import io.github.distributedlock.LockNotAcquiredException;
import io.github.distributedlock.annotation.DistributedLock;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

/**
 * Methods that are called instead of a method whose lock could not be acquired.
 */
class FallbackTests extends AdvisedFixture<FallbackTests.Service> {

	private final LockBackendException down = LockBackendException.of("down").retryable(true).build();

	FallbackTests() {
		super(Service.class);
	}

	@BeforeEach
	void start() {
		this.lock.busy = true;
	}

	@Test
	void busyCallsThePrivateMethodOnTheBeanItself() {
		assertThat(this.service.plain("a")).isEqualTo("plain fallback a of bean");
	}

	@Test
	void freeDoesNot() {
		this.lock.busy = false;
		assertThat(this.service.plain("a")).isEqualTo("ran");
	}

	@Test
	void withoutExceptionItIsForBusyOnly() {
		this.lock.failure = this.down;
		assertThatThrownBy(() -> this.service.plain("a")).isSameAs(this.down);
	}

	@Test
	void exceptionParameterSaysWhatItIsForAndTellsWhy() {
		assertThat(this.service.busy("a")).isEqualTo("a busy: [fallback:a]");
		assertThat(this.service.both("a")).isEqualTo("a both: busy: [fallback:a]");
		assertThatThrownBy(() -> this.service.store("a")).isInstanceOf(LockNotAcquiredException.class);
		this.lock.failure = this.down;
		assertThatThrownBy(() -> this.service.busy("a")).isSameAs(this.down);
		assertThat(this.service.both("a")).isEqualTo("a both: down");
		assertThat(this.service.store("a")).isEqualTo("a store: down");
	}

	@Test
	void interruptIsNotForFallbacks() {
		this.lock.failure = new LockInterruptedException("stop", List.of(), null);
		assertThatThrownBy(() -> this.service.both("a")).isSameAs(this.lock.failure);
	}

	@Test
	void exceptionOfTheMethodIsNotForFallbacks() {
		this.lock.busy = false;
		assertThatThrownBy(() -> this.service.throwing("a")).isInstanceOf(LockNotAcquiredException.class)
			.hasMessage("inner");
		assertThat(this.lock.events).containsExactly("acquire", "release");
	}

	@Test
	void whatTheFallbackThrowsReachesTheCallerAsItIs() {
		assertThatThrownBy(() -> this.service.checked("a")).isInstanceOf(IOException.class)
			.hasMessage("fallback")
			.hasNoCause();
	}

	@Test
	void methodsOfASuperclassAndOfAnInterface() {
		assertThat(this.service.above("a")).isEqualTo("above a");
		assertThat(this.service.beside("a")).isEqualTo("beside a");
	}

	@Test
	void widerParametersAndNarrowerResultsFit() {
		assertThat(this.service.wide(List.of("a"))).isEqualTo("wide [a]");
	}

	@ParameterizedTest(name = "{0}: {1}")
	@CsvSource(delimiter = '|', quoteCharacter = '`',
			textBlock = """
					run  | fallback=none     | Mistakes.run(String): fallback = "none" fits no method (write one none with the parameters of run(String) | run
					run  | fallback=unfit    | fits no method | there is unfit(String, RuntimeException) and unfit(int)
					run  | fallback=two      | fits several methods | two(String, LockException)
					text | fallback=number   | fallback = "number" returns java.lang.Integer (let it return java.lang.String | text
					text | fallback=checked  | fallback = "checked" throws java.io.IOException | text
					text | fallback=locked  | fallback = "locked" has a lock annotation of its own, but is called on the bean itself | (lock in code there
					text | fallback=other, ifBusy=SKIP | cannot be together with ifBusy = SKIP | text
					""")
	void fallbackThatCannotBeCalled(String method, String attributes, String problem, String remedy) {
		assertThatExceptionOfType(LockDefinitionException.class)
			.isThrownBy(() -> Definitions.of(Mistakes.class, method, attributes, Map.of()))
			.withMessageContainingAll(problem, remedy);
	}

	@Test
	void fallbackThatTheAnnotationOfTheTypeCovers() {
		AdvisorContext.refusal(Covered.class)
			.hasMessageStartingWith("@DistributedLock on " + Covered.class.getName()
					+ ".busy(String): fallback = \"busy\" is the name of the method itself")
			.hasMessageEndingWith("(let the fallback be private)");
	}

	@DistributedLock(key = "#name", fallback = "busy")
	static class Covered {

		public String run(String name) {
			return "ran";
		}

		public String busy(String name) {
			return "busy";
		}

	}

	static class Above {

		protected String above(String name) {
			return "above " + name;
		}

		private String overridden(String name) {
			return "not this";
		}

	}

	interface Beside {

		default String beside(String name) {
			return "not this";
		}

		default String asDefault(String name) {
			return "beside " + name;
		}

	}

	static class Service extends Above implements Beside {

		private final String self = "bean";

		@DistributedLock(key = "'fallback:' + #name", fallback = "plainFallback")
		public String plain(String name) {
			return "ran";
		}

		private String plainFallback(String name) {
			return "plain fallback " + name + " of " + this.self;
		}

		@DistributedLock(key = "'fallback:' + #name", fallback = "busyFallback")
		public String busy(String name) {
			return "ran";
		}

		private String busyFallback(String name, LockNotAcquiredException ex) {
			return name + " " + ex.getMessage();
		}

		@DistributedLock(key = "'fallback:' + #name", fallback = "bothFallback")
		public String both(String name) {
			return "ran";
		}

		private String bothFallback(String name, LockException ex) {
			return name + " both: " + ex.getMessage();
		}

		@DistributedLock(key = "'fallback:' + #name", fallback = "storeFallback")
		public String store(String name) {
			return "ran";
		}

		private String storeFallback(String name, LockBackendException ex) {
			return name + " store: " + ex.getMessage();
		}

		@DistributedLock(fallback = "bothFallback")
		public String throwing(String name) {
			throw new LockNotAcquiredException("inner", List.of("inner"), Duration.ZERO, null);
		}

		@DistributedLock(fallback = "checkedFallback")
		public String checked(String name) throws IOException {
			return "ran";
		}

		private String checkedFallback(String name) throws IOException {
			throw new IOException("fallback");
		}

		@Override
		@DistributedLock(fallback = "asDefault")
		public String beside(String name) {
			return "ran";
		}

		@Override
		@DistributedLock(fallback = "overridden")
		public String above(String name) {
			return "ran";
		}

		private String overridden(String name) {
			return super.above(name);
		}

		@DistributedLock(fallback = "wideFallback")
		public CharSequence wide(List<String> names) {
			return "ran";
		}

		private String wideFallback(Object names) {
			return "wide " + names;
		}

	}

	abstract static class Mistakes {

		abstract void run(String name);

		abstract void unfit(int number);

		abstract void unfit(String name, RuntimeException ex);

		abstract void two(String name);

		abstract void two(String name, LockException ex);

		abstract String text();

		abstract Integer number();

		abstract String checked() throws IOException;

		@DistributedLock
		abstract String locked();

		abstract String other();

	}

}
