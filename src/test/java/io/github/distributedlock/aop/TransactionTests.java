package io.github.distributedlock.aop;

import java.util.concurrent.CompletableFuture;
import java.util.function.Supplier;

import io.github.distributedlock.LockHandle;
import io.github.distributedlock.annotation.DistributedLock;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;

import org.springframework.boot.test.system.CapturedOutput;
import org.springframework.boot.test.system.OutputCaptureExtension;
import org.springframework.transaction.TransactionDefinition;
import org.springframework.transaction.support.TransactionSynchronization;
import org.springframework.transaction.support.TransactionSynchronizationManager;
import org.springframework.transaction.support.TransactionTemplate;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;

/**
 * A lock that is taken inside a transaction is given back when that has completed.
 */
@ExtendWith(OutputCaptureExtension.class)
class TransactionTests extends AdvisedFixture<TransactionTests.Service> {

	private TransactionTemplate transaction;

	TransactionTests() {
		super(Service.class);
	}

	@BeforeEach
	void start() {
		this.transaction = new TransactionTemplate(new RecordingTransactionManager(this.events));
	}

	@Test
	void releasedAfterCommit() {
		this.transaction.executeWithoutResult((status) -> {
			this.service.run(() -> this.events.add("run"));
			assertThat(LockHandle.current()).as("re-entry by the same transaction").isPresent();
			this.events.add("rest");
		});
		assertThat(this.events).containsExactly("begin", "acquire", "run", "rest", "commit", "release");
		assertThat(LockHandle.current()).isEmpty();
	}

	@Test
	void releasedAfterRollback() {
		assertThatIllegalStateException()
			.isThrownBy(() -> this.transaction.executeWithoutResult((status) -> this.service.run(() -> {
				throw new IllegalStateException("no");
			})));
		assertThat(this.events).containsExactly("begin", "acquire", "rollback", "release");
		assertThat(LockHandle.current()).isEmpty();
	}

	@Test
	void releasedAfterAllOtherSynchronizations() {
		this.transaction.executeWithoutResult((status) -> {
			this.service.run(() -> {
			});
			TransactionSynchronizationManager.registerSynchronization(new TransactionSynchronization() {

				@Override
				public void afterCompletion(int status) {
					TransactionTests.this.events.add("other");
				}

			});
		});
		assertThat(this.events).containsExactly("begin", "acquire", "commit", "other", "release");
	}

	@Test
	void takenAfterTheCommitItIsReleasedAtCompletion() {
		inSynchronization(new TransactionSynchronization() {

			@Override
			public void afterCommit() {
				TransactionTests.this.service.run(() -> TransactionTests.this.events.add("run"));
				TransactionTests.this.events.add("rest");
			}

		});
		assertThat(this.events).containsExactly("begin", "commit", "acquire", "run", "rest", "release");
	}

	@Test
	void takenAfterCompletionItIsReleasedWhenTheMethodReturns() {
		inSynchronization(new TransactionSynchronization() {

			@Override
			public void afterCompletion(int status) {
				assertThat(TransactionSynchronizationManager.isActualTransactionActive()).isTrue();
				TransactionTests.this.service.run(() -> TransactionTests.this.events.add("run"));
				TransactionTests.this.events.add("rest");
			}

		});
		assertThat(this.events).containsExactly("begin", "commit", "acquire", "run", "release", "rest");
	}

	private void inSynchronization(TransactionSynchronization synchronization) {
		this.transaction.executeWithoutResult(
				(status) -> TransactionSynchronizationManager.registerSynchronization(synchronization));
	}

	@Test
	void synchronizationWithoutTransactionIsNoTransaction(CapturedOutput output) {
		this.transaction.setPropagationBehavior(TransactionDefinition.PROPAGATION_SUPPORTS);
		this.transaction.executeWithoutResult((status) -> {
			assertThat(TransactionSynchronizationManager.isSynchronizationActive()).isTrue();
			this.service.run(() -> {
			});
			this.events.add("rest");
		});
		assertThat(this.events).containsExactly("acquire", "release", "rest");
		assertThat(output).doesNotContain("called inside a running transaction");
	}

	@Test
	void warnsOncePerMethod(CapturedOutput output) {
		for (int i = 0; i < 3; i++) {
			this.transaction.executeWithoutResult((status) -> this.service.run(() -> {
			}));
		}
		this.transaction.executeWithoutResult((status) -> this.service.later(CompletableFuture::new));
		assertThat(output.getOut().split("Service.run\\(Runnable\\): called inside a running transaction", -1))
			.hasSize(2);
		assertThat(output).contains("Service.later(Supplier): called inside a running transaction");
	}

	@Test
	void stageThatOutlastsTheTransactionIsAwaitedToo() {
		CompletableFuture<String> result = new CompletableFuture<>();
		this.transaction.executeWithoutResult((status) -> {
			this.service.later(() -> result);
			assertThat(LockHandle.current()).as("still in the transaction").isPresent();
		});
		assertThat(LockHandle.current()).as("only the stage is left").isEmpty();
		assertThat(this.events).containsExactly("begin", "acquire", "commit");
		result.complete("done");
		assertThat(this.events).endsWith("commit", "release");
	}

	@Test
	void transactionThatOutlastsTheStageIsAwaited() {
		CompletableFuture<String> result = new CompletableFuture<>();
		this.transaction.executeWithoutResult((status) -> {
			this.service.later(() -> result);
			result.complete("done");
		});
		assertThat(this.events).containsExactly("begin", "acquire", "commit", "release");
	}

	static class Service {

		@DistributedLock
		public void run(Runnable action) {
			action.run();
		}

		@DistributedLock
		public CompletableFuture<String> later(Supplier<CompletableFuture<String>> action) {
			return action.get();
		}

	}

}
