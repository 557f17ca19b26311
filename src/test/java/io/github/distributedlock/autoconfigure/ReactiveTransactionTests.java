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
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;
import reactor.core.scheduler.Schedulers;
import reactor.test.StepVerifier;

import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
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

	/**
	 * Spring Boot's own configuration of transactions: its order decides whether a loss
	 * is seen before the commit.
	 */
	private final ApplicationContextRunner application = Contexts.withRedis()
		.withConfiguration(AutoConfigurations.of(Contexts.transactionAutoConfiguration()))
		.withUserConfiguration(Application.class)
		.withPropertyValues("spring.data.redis.port=" + redis.port());

	@Test
	void transactionAroundTheMethodKeepsTheLock() {
		this.application.run((context) -> {
			Ledger ledger = context.getBean(Ledger.class);
			Mono<Boolean> step = ledger.write("a").then(Mono.fromSupplier(() -> redis.admin().exists(LOCK)));
			verify(context.getBean(TransactionalOperator.class).transactional(step)).expectNext(true)
				.expectComplete()
				.verify(Patience.PATIENCE);
			assertThat(redis.admin().exists(LOCK)).isFalse();
			assertThat(ledger.entries()).containsExactly("a");
		});
	}

	@Test
	void rollbackGivesTheLockBackAsWell() {
		this.application.run((context) -> {
			Ledger ledger = context.getBean(Ledger.class);
			verify(context.getBean(TransactionalOperator.class)
				.transactional(ledger.write("a").then(Mono.error(new IllegalStateException("no")))))
				.expectErrorMessage("no")
				.verify(Patience.PATIENCE);
			assertThat(redis.admin().exists(LOCK)).isFalse();
			assertThat(ledger.entries()).isEmpty();
		});
	}

	@Test
	void transactionOfTheSameMethodCommitsFirst() {
		this.application.run((context) -> {
			Ledger ledger = context.getBean(Ledger.class);
			Mono<List<String>> next = ledger.locked(() -> ledger.all());
			verify(Flux.range(0, 20)
				.flatMap((i) -> ledger.writeOnce("once").onErrorComplete(IllegalStateException.class), 20)
				.then(next)).expectNext(List.of("once")).expectComplete().verify(Patience.PATIENCE);
		});
	}

	@Test
	void lossRollsBackTheTransactionAroundTheMethod() {
		this.application.run((context) -> {
			Ledger ledger = context.getBean(Ledger.class);
			Mono<Void> step = ledger.writeAndThrow("a").then(ledger.loseLock());
			verify(context.getBean(TransactionalOperator.class).transactional(step))
				.expectError(LockLostException.class)
				.verify(Patience.PATIENCE);
			assertThat(ledger.entries()).isEmpty();
		});
	}

	@Test
	void lossRollsBackTheTransactionOfTheSameMethod() {
		this.application.run((context) -> {
			Ledger ledger = context.getBean(Ledger.class);
			verify(ledger.writeInTransaction("a", ledger::loseLock)).expectError(LockLostException.class)
				.verify(Patience.PATIENCE);
			assertThat(ledger.entries()).isEmpty();
		});
	}

	@Test
	void lossRollsBackATransactionWithManyElements() {
		this.application.run((context) -> {
			Ledger ledger = context.getBean(Ledger.class);
			verify(ledger.writeAll(List.of("a", "b"), ledger::loseLock).then()).expectError(LockLostException.class)
				.verify(Patience.PATIENCE);
			assertThat(ledger.entries()).isEmpty();
		});
	}

	@Test
	void heldLockCommits() {
		this.application.run((context) -> {
			Ledger ledger = context.getBean(Ledger.class);
			verify(ledger.writeInTransaction("a", Mono::empty)).expectComplete().verify(Patience.PATIENCE);
			assertThat(ledger.entries()).containsExactly("a");
		});
	}

	private static <T> StepVerifier.FirstStep<T> verify(Mono<T> result) {
		return StepVerifier.create(result);
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
