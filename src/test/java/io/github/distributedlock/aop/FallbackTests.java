package io.github.distributedlock.aop;

import java.io.IOException;
import java.time.Duration;
import java.util.List;

import io.github.distributedlock.LockBackendException;
import io.github.distributedlock.LockException;
import io.github.distributedlock.LockInterruptedException;
import io.github.distributedlock.LockNotAcquiredException;
import io.github.distributedlock.annotation.DistributedLock;
import io.github.distributedlock.annotation.IfBusy;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

/**
 * What is called instead of a method whose lock could not be acquired.
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

	@Test
	void unknownNameOrOtherParametersAreRefused() {
		AdvisorContext.refusal(Unknown.class)
			.hasMessageContaining(
					"Unknown.run(String): fallback = \"none\" fits no method (write one none with the parameters of run(String)");
		AdvisorContext.refusal(OtherParameters.class)
			.hasMessageContaining("fits no method")
			.hasMessageContaining("there is other(String, RuntimeException) and other(int)");
	}

	@Test
	void severalThatFitAreRefused() {
		AdvisorContext.refusal(Ambiguous.class)
			.hasMessageContaining("fits several methods")
			.hasMessageContaining("other(String)")
			.hasMessageContaining("other(String, LockException)");
	}

	@Test
	void otherResultIsRefused() {
		AdvisorContext.refusal(OtherResult.class)
			.hasMessageContaining("fallback = \"other\" returns java.lang.Integer (let it return java.lang.String");
	}

	@Test
	void checkedExceptionThatCannotReachTheCallerIsRefused() {
		AdvisorContext.refusal(Undeclared.class)
			.hasMessageContaining("fallback = \"other\" throws java.io.IOException");
	}

	@Test
	void togetherWithSkipIsRefused() {
		AdvisorContext.refusal(WithSkip.class).hasMessageContaining("cannot be together with ifBusy = SKIP");
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

	static class Unknown {

		@DistributedLock(fallback = "none")
		public void run(String name) {
		}

	}

	static class OtherParameters {

		@DistributedLock(fallback = "other")
		public void run(String name) {
		}

		void other(int number) {
		}

		void other(String name, RuntimeException ex) {
		}

	}

	static class Ambiguous {

		@DistributedLock(fallback = "other")
		public void run(String name) {
		}

		void other(String name) {
		}

		void other(String name, LockException ex) {
		}

	}

	static class OtherResult {

		@DistributedLock(fallback = "other")
		public String run() {
			return "ran";
		}

		Integer other() {
			return 1;
		}

	}

	static class Undeclared {

		@DistributedLock(fallback = "other")
		public void run() {
		}

		void other() throws IOException {
		}

	}

	static class WithSkip {

		@DistributedLock(fallback = "other", ifBusy = IfBusy.SKIP)
		public void run() {
		}

		void other() {
		}

	}

}
