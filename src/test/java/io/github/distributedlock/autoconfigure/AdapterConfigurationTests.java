package io.github.distributedlock.autoconfigure;

import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.locks.Lock;

import io.github.distributedlock.DistributedLock;
import io.github.distributedlock.LockHandle;
import io.github.distributedlock.concurrent.JdkLocks;
import io.github.distributedlock.fixtures.OwnThreads;
import io.github.distributedlock.fixtures.Patience;
import io.github.distributedlock.integration.DistributedLockRegistry;
import io.github.distributedlock.reactive.ReactiveDistributedLock;
import io.github.distributedlock.shedlock.DistributedLockProvider;
import net.javacrumbs.shedlock.core.LockConfiguration;
import net.javacrumbs.shedlock.core.LockProvider;
import net.javacrumbs.shedlock.core.SimpleLock;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import reactor.core.publisher.Mono;

import org.springframework.boot.test.context.FilteredClassLoader;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.context.ApplicationContext;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.integration.support.locks.DefaultLockRegistry;
import org.springframework.integration.support.locks.LockRegistry;
import org.springframework.util.ClassUtils;

import static org.assertj.core.api.Assertions.assertThat;
import static org.mockito.Mockito.mock;

class AdapterConfigurationTests {

	private static final String[] ALL = { "distributed-lock.adapters.jdk=true",
			"distributed-lock.adapters.shedlock=true", "distributed-lock.adapters.spring-integration=true" };

	private static final String SINCE_7 = "org.springframework.integration.support.locks.DistributedLock";

	@RegisterExtension
	final OwnThreads threads = new OwnThreads();

	private final ApplicationContextRunner contextRunner = Contexts.inMemory();

	@ParameterizedTest
	@CsvSource({ "none, 0, 0, 0", "jdk, 1, 0, 0", "shedlock, 0, 1, 0", "spring-integration, 0, 0, 1" })
	void isThereIfItIsAskedFor(String adapter, int jdk, int shedlock, int springIntegration) {
		ApplicationContextRunner runner = adapter.equals("none") ? this.contextRunner
				: this.contextRunner.withPropertyValues("distributed-lock.adapters." + adapter + "=on");
		runner.run((context) -> {
			assertThat(context.getBeansOfType(JdkLocks.class)).hasSize(jdk);
			assertThat(context.getBeansOfType(LockProvider.class)).hasSize(shedlock);
			assertThat(context.getBeansOfType(LockRegistry.class)).hasSize(springIntegration);
		});
	}

	@Test
	void locksWhereEverythingElseDoes() {
		this.contextRunner.withPropertyValues(ALL).run((context) -> {
			Lock lock = context.getBean(JdkLocks.class).lock("locked");
			Lock registered = context.getBean(LockRegistry.class).obtain("registered");
			SimpleLock job = context.getBean(LockProvider.class)
				.lock(new LockConfiguration(Instant.now(), "job", Duration.ofHours(1), Duration.ZERO))
				.orElseThrow();
			lock.lock();
			registered.lock();
			assertThat(isFree(context, "locked")).isFalse();
			assertThat(isFree(context, "registered")).isFalse();
			assertThat(isFree(context, "job")).isFalse();
			lock.unlock();
			registered.unlock();
			job.unlock();
			assertThat(isFree(context, "locked")).isTrue();
			assertThat(isFree(context, "registered")).isTrue();
			assertThat(isFree(context, "job")).isTrue();
		});
	}

	/**
	 * Returns whether another thread gets the lock.
	 */
	private boolean isFree(ApplicationContext context, String key) {
		DistributedLock lock = context.getBean(DistributedLock.class);
		return Patience.get(CompletableFuture.supplyAsync(
				() -> lock.tryAcquire(key).map(LockHandle::release).isPresent(), this.threads), "another thread");
	}

	@Test
	void registryIsWhatThisSpringIntegrationHas() {
		ApplicationContextRunner all = this.contextRunner.withPropertyValues(ALL);
		all.run((context) -> assertThat(context.getBean(LockRegistry.class).getClass().getSimpleName()).isEqualTo(
				ClassUtils.isPresent(SINCE_7, null) ? "RenewableDistributedLockRegistry" : "DistributedLockRegistry"));
		for (ApplicationContextRunner plain : List.of(all.withClassLoader(new FilteredClassLoader(SINCE_7)),
				all.withBean("distributedLockRegistry", DistributedLockRegistry.class))) {
			plain.run((context) -> assertThat(context.getBean(LockRegistry.class))
				.isInstanceOf(DistributedLockRegistry.class));
		}
		all.withBean(DefaultLockRegistry.class, DefaultLockRegistry::new)
			.run((context) -> assertThat(context.getBeansOfType(LockRegistry.class)).hasSize(2));
	}

	@Test
	void doesWithoutTheLibraries() {
		this.contextRunner.withPropertyValues(ALL)
			.withClassLoader(new FilteredClassLoader("net.javacrumbs.shedlock", "org.springframework.integration"))
			.run((context) -> {
				assertThat(context).hasSingleBean(JdkLocks.class);
				assertThat(context.getBeanDefinitionNames()).doesNotContain("distributedLockProvider",
						"distributedLockRegistry");
			});
	}

	@Test
	void clientForReactorIsThereWhereReactorIs() {
		this.contextRunner.run((context) -> {
			Mono<Boolean> held = context.getBean(ReactiveDistributedLock.class)
				.execute("k", Mono.fromSupplier(() -> !isFree(context, "k")));
			assertThat(held.block(Patience.PATIENCE)).isTrue();
			assertThat(isFree(context, "k")).isTrue();
		});
		ReactiveDistributedLock own = new ReactiveDistributedLock(mock(DistributedLock.class));
		this.contextRunner.withBean(ReactiveDistributedLock.class, () -> own)
			.run((context) -> assertThat(context.getBean(ReactiveDistributedLock.class)).isSameAs(own));
		this.contextRunner.withClassLoader(new FilteredClassLoader("reactor"))
			.run((context) -> assertThat(context).hasNotFailed().getBeanNames(ReactiveDistributedLock.class).isEmpty());
	}

	/**
	 * ShedLock finds the provider by type, and fails if there are two.
	 */
	@Test
	void providerOfTheUserIsTheOnlyOne() {
		this.contextRunner.withPropertyValues(ALL)
			.withUserConfiguration(OwnProvider.class)
			.run((context) -> assertThat(context.getBeanNamesForType(LockProvider.class)).containsExactly("own"));
	}

	@Test
	void locksNothingWhereLocksAreOff() {
		this.contextRunner.withPropertyValues(ALL)
			.withPropertyValues("distributed-lock.enabled=false", "distributed-lock.watchdog-timeout=never")
			.run((context) -> {
				Lock lock = context.getBean(JdkLocks.class).lock("k");
				lock.lock();
				assertThat(isFree(context, "k")).as("for another thread").isTrue();
				lock.unlock();
				assertThat(context).hasSingleBean(LockProvider.class).hasSingleBean(LockRegistry.class);
			});
	}

	@Test
	void isAskedForByYesOrNo() {
		this.contextRunner.withPropertyValues("distributed-lock.adapters.jdk=perhaps")
			.run((context) -> assertThat(context).getFailure()
				.hasStackTraceContaining("distributed-lock.adapters.jdk"));
	}

	@Configuration(proxyBeanMethods = false)
	static class OwnProvider {

		@Bean
		LockProvider own(DistributedLock lock) {
			return new DistributedLockProvider(lock);
		}

	}

}
