package io.github.distributedlock.autoconfigure;

import java.time.Duration;
import java.util.List;
import java.util.concurrent.atomic.AtomicBoolean;
import javax.sql.DataSource;

import io.github.distributedlock.LockHandle;
import io.github.distributedlock.LockLostException;
import io.github.distributedlock.aop.DistributedLockAdvisor;
import io.github.distributedlock.fixtures.RedisServers;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import redis.clients.jedis.Jedis;

import org.springframework.aop.framework.ProxyFactory;
import org.springframework.beans.factory.config.BeanPostProcessor;
import org.springframework.beans.factory.support.DefaultListableBeanFactory;
import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.boot.test.system.CapturedOutput;
import org.springframework.boot.test.system.OutputCaptureExtension;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.core.PriorityOrdered;
import org.springframework.jdbc.core.JdbcTemplate;
import org.springframework.jdbc.datasource.DataSourceTransactionManager;
import org.springframework.jdbc.support.JdbcTransactionManager;
import org.springframework.transaction.ConfigurableTransactionManager;
import org.springframework.transaction.PlatformTransactionManager;
import org.springframework.transaction.TransactionDefinition;
import org.springframework.transaction.TransactionStatus;
import org.springframework.transaction.support.TransactionTemplate;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

/**
 * A real transaction of a real database is rolled back when the lock, in a real Redis, is
 * lost before the commit.
 */
@ExtendWith(OutputCaptureExtension.class)
class LostTransactionTests {

	private final RedisServers.Server redis = RedisServers.shared(RedisServers.EMBEDDED);

	private final ApplicationContextRunner boot = Contexts.withRedis(this.redis.port())
		.withConfiguration(AutoConfigurations.of(Contexts.sqlAutoConfigurations()))
		.withUserConfiguration(Application.class)
		.withPropertyValues("spring.datasource.generate-unique-name=true");

	private final ApplicationContextRunner own = this.boot.withUserConfiguration(OwnManager.class);

	@Test
	void transactionOfTheMethodOrAroundTheMethod() {
		both((ledger, transaction) -> {
			assertThatLossIsThrownBy(() -> ledger.writeInTransaction("a", this::loseLock));
			assertThat(ledger.has("a")).isFalse();
			ledger.writeInTransaction("b", () -> {
			});
			assertThat(ledger.has("b")).as("kept its lock").isTrue();
			ledger.writeInTransactionAndReport("c", this::loseLock);
			assertThat(ledger.has("c")).as("only reports").isTrue();
			assertThatLossIsThrownBy(() -> transaction.executeWithoutResult((status) -> {
				ledger.write("d", () -> {
				});
				loseLock();
			}));
			assertThat(ledger.has("d")).isFalse();
			transaction.executeWithoutResult((status) -> {
				ledger.writeAndReport("e", () -> {
				});
				loseLock();
			});
			assertThat(ledger.has("e")).as("only reports").isTrue();
		});
	}

	@Test
	void transactionInsideTheMethod() {
		both((ledger, transaction) -> {
			assertThatLossIsThrownBy(() -> ledger.write("outside", () -> loseInside(transaction, ledger, "inside")));
			assertThat(ledger.has("outside")).as("not in a transaction").isTrue();
			assertThat(ledger.has("inside")).isFalse();
			transaction.setPropagationBehavior(TransactionDefinition.PROPAGATION_REQUIRES_NEW);
			assertThatLossIsThrownBy(() -> ledger.writeInTransaction("f", () -> loseInside(transaction, ledger, "g")));
			assertThat(ledger.has("f")).isFalse();
			assertThat(ledger.has("g")).isFalse();
			transaction.setPropagationBehavior(TransactionDefinition.PROPAGATION_NESTED);
			AtomicBoolean passed = new AtomicBoolean();
			assertThatLossIsThrownBy(() -> ledger.writeInTransaction("h", () -> {
				loseInside(transaction, ledger, "i");
				passed.set(true);
			}));
			assertThat(passed).as("the savepoint passes, and the commit decides").isTrue();
			assertThat(ledger.has("h")).isFalse();
			assertThat(ledger.has("i")).isFalse();
		});
	}

	private void loseInside(TransactionTemplate transaction, Ledger ledger, String line) {
		transaction.executeWithoutResult((status) -> {
			ledger.insert(line);
			loseLock();
		});
	}

	@Test
	void managersAreGuardedOnce() {
		this.boot.run((context) -> assertThat(guards(context.getBean(JdbcTransactionManager.class))).hasSize(1));
		this.own.run((context) -> {
			assertThat(context).doesNotHaveBean(JdbcTransactionManager.class);
			assertThat(guards(context.getBean(DataSourceTransactionManager.class))).hasSize(1);
		});
		this.boot.withUserConfiguration(GuardedManager.class)
			.run((context) -> assertThat(guards(context.getBean(DataSourceTransactionManager.class))).hasSize(1));
	}

	@Test
	void managerThatAPostProcessorNeedsIsGuarded() {
		this.own.withUserConfiguration(EarlyManager.class).run((context) -> {
			assertThat(guards(context.getBean(DataSourceTransactionManager.class))).hasSize(1);
			Ledger ledger = context.getBean(Ledger.class);
			assertThatLossIsThrownBy(() -> ledger.writeInTransaction("l", this::loseLock));
			assertThat(ledger.has("l")).isFalse();
		});
	}

	@Test
	void managerOfAParentContextIsGuarded() {
		new ApplicationContextRunner().withConfiguration(AutoConfigurations.of(Contexts.sqlAutoConfigurations()))
			.withPropertyValues("spring.datasource.generate-unique-name=true")
			.run((parent) -> Contexts.inMemory()
				.withParent(parent)
				.run((context) -> assertThat(guards(context.getBean(JdbcTransactionManager.class))).hasSize(1)));
	}

	@Test
	void managerBehindAProxyOfItsClassIsGuarded() {
		DataSourceTransactionManager manager = new DataSourceTransactionManager();
		ProxyFactory proxy = new ProxyFactory(manager);
		proxy.setProxyTargetClass(true);
		new CommitGuardPostProcessor(new DefaultListableBeanFactory()).postProcessAfterInitialization(proxy.getProxy(),
				"manager");
		assertThat(guards(manager)).hasSize(1);
	}

	@Test
	void managerThatTakesNoListenerIsToldOf(CapturedOutput output) {
		this.boot.withUserConfiguration(PlainManager.class).run((context) -> {
			Ledger ledger = context.getBean(Ledger.class);
			assertThat(output)
				.containsOnlyOnce("Transaction manager 'transactionManager' (" + Plain.class.getName() + ") takes no");
			assertThatLossIsThrownBy(() -> ledger.writeInTransaction("j", this::loseLock));
			assertThat(ledger.has("j")).isTrue();
			assertThatLossIsThrownBy(
					() -> new TransactionTemplate(context.getBean(Plain.class)).executeWithoutResult((status) -> {
						ledger.write("k", () -> {
						});
						loseLock();
					}));
			assertThat(ledger.has("k")).as("the lock was taken inside of the transaction").isFalse();
		});
	}

	private interface Check {

		void with(Ledger ledger, TransactionTemplate transaction);

	}

	/**
	 * With the transaction manager of Spring Boot, and with one of the user.
	 */
	private void both(Check check) {
		for (ApplicationContextRunner runner : List.of(this.boot, this.own)) {
			runner.run((context) -> check.with(context.getBean(Ledger.class),
					new TransactionTemplate(context.getBean(PlatformTransactionManager.class))));
		}
	}

	private void loseLock() {
		LockHandle handle = LockHandle.current().orElseThrow();
		try (Jedis admin = this.redis.admin()) {
			assertThat(admin.del("lock:{" + Ledger.KEY + "}")).isEqualTo(1);
		}
		assertThat(handle.extend(Duration.ofMinutes(1))).as("asks the store").isFalse();
	}

	private static void assertThatLossIsThrownBy(org.assertj.core.api.ThrowableAssert.ThrowingCallable call) {
		assertThatExceptionOfType(LockLostException.class).isThrownBy(call)
			.withMessageContaining("Lock '" + Ledger.KEY + "' of ");
	}

	private static List<?> guards(ConfigurableTransactionManager manager) {
		return manager.getTransactionExecutionListeners()
			.stream()
			.filter(DistributedLockAdvisor.commitGuard().getClass()::isInstance)
			.toList();
	}

	@Configuration(proxyBeanMethods = false)
	static class Application {

		@Bean
		Ledger ledger(DataSource dataSource) {
			return new Ledger(new JdbcTemplate(dataSource));
		}

	}

	@Configuration(proxyBeanMethods = false)
	static class OwnManager {

		@Bean
		DataSourceTransactionManager transactionManager(DataSource dataSource) {
			DataSourceTransactionManager manager = new DataSourceTransactionManager(dataSource);
			manager.setTransactionExecutionListeners(List.of());
			return manager;
		}

	}

	@Configuration(proxyBeanMethods = false)
	static class EarlyManager {

		@Bean
		static OrderedPostProcessor needsTheManager(PlatformTransactionManager manager) {
			return new OrderedPostProcessor(manager);
		}

	}

	record OrderedPostProcessor(PlatformTransactionManager manager) implements BeanPostProcessor, PriorityOrdered {

		@Override
		public int getOrder() {
			return 0;
		}

	}

	@Configuration(proxyBeanMethods = false)
	static class GuardedManager {

		@Bean
		DataSourceTransactionManager transactionManager(DataSource dataSource) {
			DataSourceTransactionManager manager = new DataSourceTransactionManager(dataSource);
			manager.addListener(DistributedLockAdvisor.commitGuard());
			return manager;
		}

	}

	@Configuration(proxyBeanMethods = false)
	static class PlainManager {

		@Bean
		Plain transactionManager(DataSource dataSource) {
			return new Plain(new DataSourceTransactionManager(dataSource));
		}

	}

	record Plain(PlatformTransactionManager manager) implements PlatformTransactionManager {

		@Override
		public TransactionStatus getTransaction(TransactionDefinition definition) {
			return this.manager.getTransaction(definition);
		}

		@Override
		public void commit(TransactionStatus status) {
			this.manager.commit(status);
		}

		@Override
		public void rollback(TransactionStatus status) {
			this.manager.rollback(status);
		}

	}

}
