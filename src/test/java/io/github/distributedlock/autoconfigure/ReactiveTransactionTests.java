package io.github.distributedlock.autoconfigure;

import java.time.Duration;
import java.util.List;
import java.util.UUID;
import java.util.function.Supplier;

import io.github.distributedlock.LockHandle;
import io.github.distributedlock.LockLostException;
import io.github.distributedlock.OnLost;
import io.github.distributedlock.annotation.DistributedLock;
import io.github.distributedlock.fixtures.Patience;
import io.github.distributedlock.fixtures.TestRedis;
import io.github.distributedlock.reactive.LockContext;
import io.r2dbc.h2.H2ConnectionFactory;
import io.r2dbc.spi.ConnectionFactory;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;
import reactor.core.scheduler.Schedulers;
import reactor.test.StepVerifier;

import org.springframework.context.ConfigurableApplicationContext;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.r2dbc.connection.R2dbcTransactionManager;
import org.springframework.r2dbc.core.DatabaseClient;
import org.springframework.transaction.ReactiveTransactionManager;
import org.springframework.transaction.annotation.Transactional;
import org.springframework.transaction.reactive.TransactionalOperator;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Reactive transactions of a real database, and locks in a real Redis.
 */
class ReactiveTransactionTests {

	private static final String LOCK = "lock:{ledger}";

	@RegisterExtension
	static final TestRedis redis = new TestRedis();

	private static ConfigurableApplicationContext application;

	private final Ledger ledger = application.getBean(Ledger.class);

	private final TransactionalOperator transaction = application.getBean(TransactionalOperator.class);

	/**
	 * Starts the application with Spring Boot's own configuration of transactions: the
	 * order of that advice decides whether a loss is seen before the commit.
	 */
	@BeforeAll
	static void start() {
		application = Contexts.started(redis.port(), Application.class, Contexts.transactionAutoConfiguration());
	}

	@AfterAll
	static void stop() {
		application.close();
	}

	@AfterEach
	void clear() {
		this.ledger.clear();
	}

	@Test
	void transactionAroundTheMethodKeepsTheLock() {
		Mono<Boolean> step = this.ledger.write("a").then(Mono.fromSupplier(() -> redis.admin().exists(LOCK)));
		StepVerifier.create(this.transaction.transactional(step)).expectNext(true).verifyComplete();
		assertThat(redis.admin().exists(LOCK)).isFalse();
		assertThat(this.ledger.entries()).containsExactly("a");
	}

	@Test
	void rollbackGivesTheLockBackAsWell() {
		Mono<Void> step = this.ledger.write("a").then(Mono.error(new IllegalStateException("no")));
		StepVerifier.create(this.transaction.transactional(step)).verifyErrorMessage("no");
		assertThat(redis.admin().exists(LOCK)).isFalse();
		assertThat(this.ledger.entries()).isEmpty();
	}

	@Test
	void transactionOfTheSameMethodCommitsFirst() {
		Mono<List<String>> next = this.ledger.locked(() -> this.ledger.all());
		StepVerifier
			.create(Flux.range(0, 20)
				.flatMap((i) -> this.ledger.writeOnce("once").onErrorComplete(IllegalStateException.class), 20)
				.then(next))
			.expectNext(List.of("once"))
			.verifyComplete();
	}

	@Test
	void lossRollsBackTheTransaction() {
		Mono<Void> around = this.ledger.writeAndThrow("a").then(this.ledger.loseLock());
		StepVerifier.create(this.transaction.transactional(around)).verifyError(LockLostException.class);
		assertThat(this.ledger.entries()).isEmpty();
		StepVerifier.create(this.ledger.writeInTransaction("a", this.ledger::loseLock))
			.verifyError(LockLostException.class);
		assertThat(this.ledger.entries()).isEmpty();
		StepVerifier.create(this.ledger.writeAll(List.of("a", "b"), this.ledger::loseLock).then())
			.verifyError(LockLostException.class);
		assertThat(this.ledger.entries()).isEmpty();
	}

	@Test
	void heldLockCommits() {
		StepVerifier.create(this.ledger.writeInTransaction("a", Mono::empty)).verifyComplete();
		assertThat(this.ledger.entries()).containsExactly("a");
	}

	@Configuration(proxyBeanMethods = false)
	static class Application {

		@Bean
		ConnectionFactory connectionFactory() {
			return H2ConnectionFactory.inMemory("ledger" + UUID.randomUUID());
		}

		@Bean
		DatabaseClient databaseClient(ConnectionFactory connections) {
			return DatabaseClient.create(connections);
		}

		@Bean
		R2dbcTransactionManager transactionManager(ConnectionFactory connections) {
			return new R2dbcTransactionManager(connections);
		}

		@Bean
		TransactionalOperator transactionalOperator(ReactiveTransactionManager manager) {
			return TransactionalOperator.create(manager);
		}

		@Bean
		Ledger ledger(DatabaseClient database) {
			return new Ledger(database);
		}

	}

	static class Ledger {

		private final DatabaseClient database;

		private volatile LockHandle handle;

		Ledger(DatabaseClient database) {
			this.database = database;
			database.sql("create table ledger (entry varchar(20))").then().block(Patience.PATIENCE);
		}

		@DistributedLock(key = "'ledger'", waitTime = "60s")
		public Mono<Void> write(String entry) {
			return insert(entry);
		}

		@DistributedLock(key = "'ledger'", waitTime = "60s", onLost = OnLost.THROW)
		public Mono<Void> writeAndThrow(String entry) {
			return insert(entry);
		}

		@DistributedLock(key = "'ledger'", waitTime = "60s")
		@Transactional
		public Mono<Void> writeOnce(String entry) {
			return all().flatMap((known) -> known.isEmpty() ? insert(entry) : Mono.empty());
		}

		@DistributedLock(key = "'ledger'", waitTime = "60s", onLost = OnLost.THROW)
		@Transactional
		public Mono<Void> writeInTransaction(String entry, Supplier<Mono<Void>> andThen) {
			return insert(entry).then(Mono.defer(andThen));
		}

		@DistributedLock(key = "'ledger'", waitTime = "60s", onLost = OnLost.THROW)
		@Transactional
		public Flux<String> writeAll(List<String> entries, Supplier<Mono<Void>> andThen) {
			return Flux.fromIterable(entries)
				.concatMap((entry) -> insert(entry).thenReturn(entry))
				.concatWith(Mono.defer(andThen).then(Mono.empty()));
		}

		@DistributedLock(key = "'ledger'", waitTime = "60s")
		public <T> Mono<T> locked(Supplier<Mono<T>> body) {
			return body.get();
		}

		Mono<List<String>> all() {
			return this.database.sql("select entry from ledger")
				.map((row) -> row.get(0, String.class))
				.all()
				.collectList();
		}

		void clear() {
			this.database.sql("delete from ledger").then().block(Patience.PATIENCE);
		}

		List<String> entries() {
			return all().block(Patience.PATIENCE);
		}

		private Mono<Void> insert(String entry) {
			return Mono.deferContextual((view) -> {
				this.handle = LockContext.current(view).orElseThrow();
				return this.database.sql("insert into ledger values (:entry)").bind("entry", entry).then();
			});
		}

		/**
		 * The store is asked, so that the holder knows at once.
		 */
		Mono<Void> loseLock() {
			return Mono.<Void>fromRunnable(() -> {
				assertThat(redis.admin().del(LOCK)).isEqualTo(1);
				assertThat(this.handle.extend(Duration.ofMinutes(1))).isFalse();
			}).subscribeOn(Schedulers.boundedElastic());
		}

	}

}
