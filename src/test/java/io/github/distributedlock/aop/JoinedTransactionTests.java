package io.github.distributedlock.aop;

import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.function.Predicate;
import java.util.function.Supplier;

import io.github.distributedlock.annotation.DistributedLock;
import io.github.distributedlock.fixtures.Patience;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import reactor.core.publisher.Mono;
import reactor.test.StepVerifier;

import org.springframework.transaction.reactive.TransactionContext;
import org.springframework.transaction.reactive.TransactionContextManager;
import org.springframework.transaction.reactive.TransactionSynchronization;
import org.springframework.transaction.reactive.TransactionSynchronizationManager;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * How a lock joins the reactive transaction that is running.
 */
class JoinedTransactionTests {

	private LockContext context;

	private Service service;

	@BeforeEach
	void start() {
		this.context = LockContext.of(Service.class);
		this.service = this.context.get(Service.class);
	}

	@AfterEach
	void stop() {
		this.context.close();
	}

	/**
	 * Such as one that has ended since it was looked at.
	 */
	@Test
	void transactionThatRefusesToBeJoinedDoesNotKeepTheLock() {
		StepVerifier.create(inTransaction(this.service.mono(() -> Mono.just("value")), (transaction) -> {
			throw new IllegalStateException("Transaction synchronization is not active");
		})).expectErrorMessage("Transaction synchronization is not active").verify(Patience.PATIENCE);
		assertThat(this.context.lock().events).containsExactly("acquire", "undone");
	}

	/**
	 * Spring keeps them in a set that is not for several threads, and each lock may come
	 * on a thread of its own.
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

	static class Service {

		@DistributedLock(key = "'k'")
		public Mono<String> mono(Supplier<Mono<String>> body) {
			return body.get();
		}

	}

}
