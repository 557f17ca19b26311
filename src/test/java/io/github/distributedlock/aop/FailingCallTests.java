package io.github.distributedlock.aop;

import java.io.IOException;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.Callable;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.function.Supplier;

import io.github.distributedlock.LockDefinitionException;
import io.github.distributedlock.LockEvent;
import io.github.distributedlock.LockException;
import io.github.distributedlock.LockHandle;
import io.github.distributedlock.LockLostException;
import io.github.distributedlock.OnLost;
import io.github.distributedlock.annotation.DistributedLock;
import io.github.distributedlock.annotation.IfBusy;
import io.github.distributedlock.fixtures.Patience;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

import org.springframework.transaction.TransactionDefinition;
import org.springframework.transaction.support.TransactionTemplate;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

/**
 * {@code onLost = THROW} lets a call fail whose lock is lost, and a transaction before
 * the commit.
 */
class FailingCallTests extends AdvisedFixture<FailingCallTests.Service> {

	private TransactionTemplate transaction;

	FailingCallTests() {
		super(Service.class);
	}

	@BeforeEach
	void start() {
		RecordingTransactionManager manager = new RecordingTransactionManager(this.events);
		manager.addListener(DistributedLockAdvisor.commitGuard());
		this.transaction = new TransactionTemplate(manager);
	}

	@AfterEach
	void stop() {
		RunningCall.checkCommit();
	}

	@Test
	void callFailsInsteadOfReturning() {
		assertThatExceptionOfType(LockLostException.class).isThrownBy(() -> this.service.run(() -> {
			this.lock.lose();
			return this.events.add("rest");
		})).withMessage("lost: [a]").satisfies((ex) -> {
			assertThat(ex.keys()).containsExactly("a");
			assertThat(ex.reason()).isEqualTo(LockEvent.Lost.Reason.TAKEN);
			assertThat(ex.getSuppressed()).isEmpty();
		});
		assertThat(this.events).containsExactly("acquire", "lost", "rest", "release");
	}

	@Test
	void callAndStageWhoseLockIsHeldReturn() throws Exception {
		assertThat(this.service.run(() -> "done")).isEqualTo("done");
		assertThat(this.service.run(() -> {
			LockHandle.current().orElseThrow().close();
			return "done";
		})).as("the method itself gave the lock back").isEqualTo("done");
		CompletableFuture<String> source = new CompletableFuture<>();
		CompletableFuture<String> result = this.service.future(() -> source);
		source.complete("done");
		assertThat(result).isCompletedWithValue("done");
	}

	@Test
	void whatTheMethodThrowsComesFirst() {
		IOException thrown = new IOException("mine");
		assertThatThrownBy(() -> this.service.run(() -> {
			this.lock.lose();
			throw thrown;
		})).isSameAs(thrown)
			.satisfies((ex) -> assertThat(ex.getSuppressed()).singleElement().isInstanceOf(LockLostException.class));
	}

	@Test
	void lossThatTheMethodTellsItselfIsToldOnce() {
		assertThatExceptionOfType(LockLostException.class).isThrownBy(() -> this.service.run(() -> {
			this.lock.lose();
			LockHandle.current().orElseThrow().checkHeld();
			return null;
		})).satisfies((ex) -> assertThat(ex.getSuppressed()).isEmpty());
	}

	@Test
	void neitherFallbackNorSkipIsForALoss() {
		assertThatExceptionOfType(LockLostException.class)
			.isThrownBy(() -> this.service.withFallback(() -> this.lock.lose()));
		assertThatExceptionOfType(LockLostException.class)
			.isThrownBy(() -> this.service.skipping(() -> this.lock.lose()));
	}

	@ParameterizedTest
	@ValueSource(booleans = { true, false })
	void stageFailsWhoseLockIsLostBeforeTheEnd(boolean completed) {
		CompletableFuture<String> source = new CompletableFuture<>();
		CompletableFuture<String> result = this.service.future(() -> {
			if (completed) {
				this.lock.lose();
				source.complete("done");
			}
			return source;
		});
		if (!completed) {
			this.lock.lose();
			assertThat(result).isNotDone();
			source.complete("done");
		}
		assertThatExceptionOfType(CompletionException.class).isThrownBy(() -> Patience.get(result, "the stage"))
			.withCauseInstanceOf(LockLostException.class)
			.havingCause()
			.withMessage("lost: [f]");
		assertThat(this.events).containsExactly("acquire", "lost", "release");
	}

	@Test
	void failureOfTheStageComesFirst() {
		IOException thrown = new IOException("mine");
		CompletableFuture<String> source = new CompletableFuture<>();
		CompletableFuture<Throwable> result = this.service.future(() -> source).handle((value, failure) -> failure);
		this.lock.lose();
		source.completeExceptionally(thrown);
		assertThat(Patience.get(result, "the stage")).isSameAs(thrown)
			.satisfies((ex) -> assertThat(ex.getSuppressed()).singleElement().isInstanceOf(LockLostException.class));
	}

	@Test
	void transactionInsideTheMethodIsRolledBack() {
		assertThatExceptionOfType(LockLostException.class)
			.isThrownBy(() -> this.service.run(() -> this.transaction.execute((status) -> {
				this.lock.lose();
				return this.events.add("rest");
			})))
			.satisfies((ex) -> assertThat(ex.getSuppressed()).as("told once").isEmpty());
		assertThat(this.events).containsExactly("acquire", "begin", "lost", "rest", "rollback", "release");
	}

	@Test
	void lossOfTheOuterLockRollsBackTheInnerTransaction() {
		assertThatExceptionOfType(LockLostException.class)
			.isThrownBy(() -> this.service.run(() -> this.service.inner(() -> this.transaction.execute((status) -> {
				this.lock.lose("a");
				return null;
			}))))
			.withMessage("lost: [a]");
		assertThat(this.events).containsExactly("acquire", "acquire", "begin", "rollback", "release", "release");
	}

	@Test
	void transactionAfterTheMethodIsNoneOfItsBusiness() throws Exception {
		this.service.run(() -> null);
		assertThatExceptionOfType(LockLostException.class).isThrownBy(() -> this.service.run(() -> {
			this.lock.lose();
			return null;
		}));
		this.transaction.executeWithoutResult((status) -> this.lock.lose());
		assertThat(this.events).endsWith("begin", "lost", "commit");
	}

	@Test
	void transactionOfAMethodThatOnlyReportsCommits() {
		this.service.reporting(() -> this.transaction.executeWithoutResult((status) -> this.lock.lose()));
		assertThat(this.events).containsExactly("acquire", "begin", "lost", "commit", "release");
	}

	@Test
	void laterLossRollsBackTheTransactionAround() {
		TransactionTemplate unguarded = new TransactionTemplate(new RecordingTransactionManager(this.events));
		assertThatExceptionOfType(LockLostException.class).isThrownBy(() -> unguarded.executeWithoutResult((status) -> {
			call(() -> "done");
			this.lock.lose();
			this.events.add("rest");
		}));
		assertThat(this.events).containsExactly("begin", "acquire", "lost", "rest", "rollback", "release");
	}

	@Test
	void caughtFailureRollsBackTheTransactionAround() {
		assertThatExceptionOfType(LockLostException.class)
			.isThrownBy(() -> this.transaction.executeWithoutResult((status) -> {
				assertThatExceptionOfType(LockLostException.class).isThrownBy(() -> this.service.run(() -> {
					this.lock.lose();
					return null;
				}));
				this.events.add("caught");
			}));
		assertThat(this.events).containsExactly("begin", "acquire", "lost", "caught", "rollback", "release");
	}

	@Test
	void aNewTransactionAfterTheMethodCommitsInsideTheSuspendedOne() {
		TransactionTemplate another = new TransactionTemplate(this.transaction.getTransactionManager());
		another.setPropagationBehavior(TransactionDefinition.PROPAGATION_REQUIRES_NEW);
		assertThatExceptionOfType(LockLostException.class)
			.isThrownBy(() -> this.transaction.executeWithoutResult((status) -> {
				call(() -> "done");
				this.lock.lose();
				another.executeWithoutResult((inner) -> this.events.add("another"));
			}));
		assertThat(this.events).containsExactly("begin", "acquire", "lost", "begin", "another", "commit", "rollback",
				"release");
	}

	@ParameterizedTest
	@CsvSource(delimiter = '|',
			textBlock = """
					special | THROW     | special(): onLost = THROW lets the returned future fail, but cannot make one of type io.github.distributedlock.aop.FailingCallTests$Special | (return CompletableFuture or CompletionStage, or choose REPORT
					future  | INTERRUPT | onLost = INTERRUPT interrupts the thread that runs the method | java.util.concurrent.CompletableFuture goes on elsewhere (choose THROW or REPORT)
					""")
	void reactionThatTheResultCannotHave(String method, String onLost, String problem, String remedy) {
		assertThatExceptionOfType(LockDefinitionException.class)
			.isThrownBy(() -> Definitions.of(Results.class, method, "onLost=" + onLost, Map.of()))
			.withMessageContainingAll(problem, remedy);
	}

	private void call(Callable<Object> body) {
		try {
			this.service.run(body);
		}
		catch (Exception ex) {
			throw new AssertionError(ex);
		}
	}

	static class Service {

		@DistributedLock(key = "'a'", onLost = OnLost.THROW)
		public Object run(Callable<Object> body) throws Exception {
			return body.call();
		}

		@DistributedLock(key = "'b'", onLost = OnLost.THROW)
		public Object inner(Callable<Object> body) throws Exception {
			return body.call();
		}

		@DistributedLock(key = "'r'")
		public void reporting(Runnable body) {
			body.run();
		}

		@DistributedLock(onLost = OnLost.THROW, fallback = "instead")
		public void withFallback(Runnable body) {
			body.run();
		}

		void instead(Runnable body, LockException failure) {
			throw new AssertionError("called for a loss", failure);
		}

		@DistributedLock(onLost = OnLost.THROW, ifBusy = IfBusy.SKIP)
		public Optional<String> skipping(Runnable body) {
			body.run();
			return Optional.of("done");
		}

		@DistributedLock(key = "'f'", onLost = OnLost.THROW)
		public CompletableFuture<String> future(Supplier<CompletableFuture<String>> body) {
			return body.get();
		}

	}

	static class Special extends CompletableFuture<String> {

	}

	interface Results {

		Special special();

		CompletableFuture<String> future();

	}

}
