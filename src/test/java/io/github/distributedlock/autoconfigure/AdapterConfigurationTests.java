package io.github.distributedlock.autoconfigure;

import java.util.concurrent.locks.Lock;

import io.github.distributedlock.DistributedLock;
import io.github.distributedlock.LockHandle;
import io.github.distributedlock.concurrent.JdkLocks;
import io.github.distributedlock.integration.DistributedLockRegistry;
import io.github.distributedlock.shedlock.DistributedLockProvider;
import net.javacrumbs.shedlock.core.LockProvider;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

import org.springframework.boot.test.context.FilteredClassLoader;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.integration.support.locks.DefaultLockRegistry;
import org.springframework.integration.support.locks.LockRegistry;
import org.springframework.util.ClassUtils;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Tests for {@link AdapterConfiguration}.
 */
class AdapterConfigurationTests {

	private static final String[] ALL = { "distributed-lock.adapters.jdk=true",
			"distributed-lock.adapters.shedlock=true", "distributed-lock.adapters.spring-integration=true" };

	private static final String SINCE_7 = "org.springframework.integration.support.locks.DistributedLock";

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
			Lock lock = context.getBean(JdkLocks.class).lock("k");
			Lock registered = context.getBean(LockRegistry.class).obtain("k");
			try (LockHandle handle = context.getBean(DistributedLock.class).acquire("k")) {
				lock.lock();
				registered.lock();
				assertThat(LockHandle.current().orElseThrow().owner()).isEqualTo(handle.owner());
				registered.unlock();
				lock.unlock();
			}
		});
	}

	@Test
	void registryIsWhatThisSpringIntegrationHas() {
		this.contextRunner.withPropertyValues(ALL)
			.run((context) -> assertThat(context.getBean(LockRegistry.class).getClass().getSimpleName())
				.isEqualTo(ClassUtils.isPresent(SINCE_7, null) ? "RenewableDistributedLockRegistry"
						: "DistributedLockRegistry"));
	}

	@Test
	void registryIsPlainWithoutWhatCameLater() {
		this.contextRunner.withPropertyValues(ALL)
			.withClassLoader(new FilteredClassLoader(SINCE_7))
			.run((context) -> assertThat(context.getBean(LockRegistry.class))
				.isInstanceOf(DistributedLockRegistry.class));
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
	void leavesBeansOfTheUserAlone() {
		this.contextRunner.withPropertyValues(ALL)
			.withUserConfiguration(Own.class)
			.withBean(DefaultLockRegistry.class, DefaultLockRegistry::new)
			.run((context) -> {
				assertThat(context.getBeanNamesForType(LockProvider.class)).containsExactly("own");
				assertThat(context.getBeansOfType(LockRegistry.class)).as("asked for, and the user's").hasSize(2);
			});
	}

	@Test
	void locksNothingWhereLocksAreOff() {
		this.contextRunner.withPropertyValues(ALL)
			.withPropertyValues("distributed-lock.enabled=false")
			.run((context) -> {
				Lock lock = context.getBean(JdkLocks.class).lock("k");
				lock.lock();
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
	static class Own {

		@Bean
		DistributedLockProvider own(DistributedLock lock) {
			return new DistributedLockProvider(lock);
		}

	}

}
