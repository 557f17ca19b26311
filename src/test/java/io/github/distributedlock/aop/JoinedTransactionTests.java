package io.github.distributedlock.aop;

import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.function.Predicate;

import ch.qos.logback.classic.Logger;
import ch.qos.logback.classic.spi.ILoggingEvent;
import ch.qos.logback.core.Appender;
import ch.qos.logback.core.AppenderBase;
import io.github.distributedlock.fixtures.Patience;
import org.junit.jupiter.api.Test;
import org.slf4j.LoggerFactory;
import reactor.core.Disposable;
import reactor.core.publisher.Mono;
import reactor.test.StepVerifier;

import org.springframework.transaction.TransactionDefinition;
import org.springframework.transaction.reactive.AbstractReactiveTransactionManager;
import org.springframework.transaction.reactive.GenericReactiveTransaction;
import org.springframework.transaction.reactive.TransactionContext;
import org.springframework.transaction.reactive.TransactionContextManager;
import org.springframework.transaction.reactive.TransactionSynchronization;
import org.springframework.transaction.reactive.TransactionSynchronizationManager;
import org.springframework.transaction.reactive.TransactionalOperator;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * A lock joins the reactive transaction that is running.
 */
class JoinedTransactionTests extends ReactiveFixture<ReactiveFixture.Service> {

	private Disposable beside;

	JoinedTransactionTests() {
		super(Service.class);
	}

	/**
	 * The transaction may have ended since the library looked.
	 */
	@Test
	void transactionThatRefusesToBeJoinedDoesNotKeepTheLock() {
		StepVerifier.create(inTransaction(this.service.mono(() -> Mono.just("value")), (transaction) -> {
			throw new IllegalStateException("Transaction synchronization is not active");
		})).verifyErrorMessage("Transaction synchronization is not active");
		assertThat(this.context.lock().events).containsExactly("acquire", "undone");
	}

	/**
	 * Spring keeps synchronizations in a set that is not for several threads, and each
	 * lock may come on another thread.
	 */
	@Test
	void locksJoinATransactionOneAfterTheOther() {
		CompletableFuture<Void> turn = new CompletableFuture<>();
		this.context.lock().turn = turn;
		List<Boolean> locked = new CopyOnWriteArrayList<>();
		CompletableFuture<String> result = inTransaction(Mono.zip(this.service.mono(() -> Mono.just("a")),
				this.service.mono(() -> Mono.just("b")), String::concat),
				(transaction) -> locked.add(Thread.holdsLock(transaction)))
			.toFuture();
		turn.complete(null);
		assertThat(result).succeedsWithin(Patience.PATIENCE).isEqualTo("ab");
		assertThat(locked).containsExactly(true, true);
	}

	/**
	 * All happens in nested calls of one thread: the subscribing thread is not done with
	 * the lock when the transaction is.
	 */
	@Test
	void transactionHasItsResultAfterTheRelease() {
		CompletableFuture<Void> released = new CompletableFuture<>();
		this.context.lock().released = released;
		CompletableFuture<String> result = TransactionalOperator.create(new WithoutDatabase())
			.transactional(this.service.mono(() -> Mono.just("value")))
			.toFuture();
		assertThat(this.context.lock().events).containsExactly("acquire", "release begins");
		assertThat(result).isNotDone();
		released.complete(null);
		assertThat(result).succeedsWithin(Patience.PATIENCE).isEqualTo("value");
	}

	@Test
	void transactionDoesNotWaitForAStreamThatGoesOn() {
		Mono<String> step = Mono.deferContextual((view) -> {
			this.beside = this.service.mono(Mono::never).contextWrite(view).subscribe();
			return Mono.just("value");
		});
		StepVerifier.create(TransactionalOperator.create(new WithoutDatabase()).transactional(step))
			.expectNext("value")
			.verifyComplete();
		assertThat(this.context.lock().events).containsExactly("acquire");
		this.beside.dispose();
		assertThat(this.context.lock().events).containsExactly("acquire", "release");
	}

	/**
	 * The log line tells that the lock is held until the transaction has completed.
	 */
	@Test
	void logThatThrowsDoesNotKeepTheLock() {
		Logger logger = (Logger) LoggerFactory.getLogger(LockInterceptor.class.getPackageName());
		Thread here = Thread.currentThread();
		Appender<ILoggingEvent> broken = new AppenderBase<>() {

			@Override
			public void doAppend(ILoggingEvent event) {
				if (Thread.currentThread() == here) {
					throw new IllegalStateException("the disk is full");
				}
			}

			@Override
			protected void append(ILoggingEvent event) {
			}

		};
		logger.addAppender(broken);
		try {
			StepVerifier
				.create(TransactionalOperator.create(new WithoutDatabase())
					.transactional(this.service.mono(() -> Mono.just("value"))))
				.verifyErrorMessage("the disk is full");
		}
		finally {
			logger.detachAppender(broken);
		}
		assertThat(this.context.lock().events).containsExactly("acquire", "undone");
	}

	private static <T> Mono<T> inTransaction(Mono<T> inside, Predicate<TransactionContext> joining) {
		return Mono.deferContextual((view) -> {
			TransactionContext transaction = view.get(TransactionContext.class);
			new TransactionSynchronizationManager(transaction).setActualTransactionActive(true);
			transaction.setSynchronizations(joined(transaction, joining));
			return inside;
		})
			.contextWrite(TransactionContextManager.getOrCreateContext())
			.contextWrite(TransactionContextManager.getOrCreateContextHolder());
	}

	private static Set<TransactionSynchronization> joined(TransactionContext transaction,
			Predicate<TransactionContext> joining) {
		return new LinkedHashSet<>() {

			@Override
			public boolean add(TransactionSynchronization added) {
				return joining.test(transaction) && super.add(added);
			}

		};
	}

	private static final class WithoutDatabase extends AbstractReactiveTransactionManager {

		@Override
		protected Object doGetTransaction(TransactionSynchronizationManager current) {
			return this;
		}

		@Override
		protected Mono<Void> doBegin(TransactionSynchronizationManager current, Object transaction,
				TransactionDefinition definition) {
			return Mono.empty();
		}

		@Override
		protected Mono<Void> doCommit(TransactionSynchronizationManager current, GenericReactiveTransaction status) {
			return Mono.empty();
		}

		@Override
		protected Mono<Void> doRollback(TransactionSynchronizationManager current, GenericReactiveTransaction status) {
			return Mono.empty();
		}

	}

}
