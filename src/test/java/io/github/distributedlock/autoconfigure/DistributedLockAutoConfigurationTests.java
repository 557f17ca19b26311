package io.github.distributedlock.autoconfigure;

import java.util.Arrays;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.stream.Stream;

import io.github.distributedlock.DistributedLock;
import io.github.distributedlock.LockHandle;
import io.github.distributedlock.LockListener;
import io.github.distributedlock.aop.DistributedLockAdvisor;
import io.github.distributedlock.backend.LockBackend;
import io.github.distributedlock.backend.memory.InMemoryLockBackend;
import io.github.distributedlock.backend.redis.RedisLockBackend;
import io.github.distributedlock.engine.LockEngine;
import io.github.distributedlock.fixtures.NoDatabase;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

import org.springframework.aop.support.AopUtils;
import org.springframework.beans.factory.BeanFactory;
import org.springframework.beans.factory.ObjectProvider;
import org.springframework.beans.factory.config.ConfigurableListableBeanFactory;
import org.springframework.boot.autoconfigure.AutoConfiguration;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.boot.test.system.CapturedOutput;
import org.springframework.boot.test.system.OutputCaptureExtension;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.core.annotation.Order;
import org.springframework.core.env.Environment;
import org.springframework.data.redis.connection.RedisConnectionFactory;

import static org.assertj.core.api.Assertions.assertThat;
import static org.mockito.Mockito.mock;

@ExtendWith(OutputCaptureExtension.class)
class DistributedLockAutoConfigurationTests {

	private final ApplicationContextRunner inMemory = Contexts.inMemory();

	@Test
	void keepsLocksInRedisByDefault() {
		Contexts.withRedis().run((context) -> {
			assertThat(context).hasSingleBean(RedisLockBackend.class);
			assertThat(context).getBean(DistributedLock.class).isInstanceOf(LockEngine.class);
			assertThat(context).hasSingleBean(DistributedLockAdvisor.class);
		});
	}

	@Test
	void comesAfterRedisAlthoughItsPackageSortsBefore() {
		new ApplicationContextRunner().withUserConfiguration(NoDatabase.class).run((context) -> {
			List<String> names = Arrays.asList(context.getBeanDefinitionNames());
			assertThat(names).contains("redisConnectionFactory", "distributedLockBackend");
			assertThat(names.indexOf("distributedLockBackend")).isGreaterThan(names.indexOf("redisConnectionFactory"));
		});
	}

	@Test
	void keepsLocksInMemoryWithoutRedis() {
		this.inMemory.run((context) -> {
			assertThat(context).hasSingleBean(InMemoryLockBackend.class);
			assertThat(context).doesNotHaveBean(RedisConnectionFactory.class);
			try (LockHandle handle = context.getBean(DistributedLock.class).acquire("key")) {
				assertThat(handle.isHeld()).isTrue();
			}
		});
	}

	@Test
	void publishesNoBeanOfSpringData() {
		Contexts.withRedis().run((context) -> {
			assertThat(context).hasSingleBean(RedisConnectionFactory.class);
			for (String name : context.getBeanDefinitionNames()) {
				if (name.startsWith("distributedLock") || name.startsWith("io.github.distributedlock")) {
					assertThat(context.getType(name).getName()).as(name).doesNotStartWith("org.springframework.data");
				}
			}
		});
	}

	@Test
	void backsOffForAnotherDistributedLockAndNeedsNoBackendThen() {
		DistributedLock own = mock();
		Contexts.withoutRedis()
			.withBean("own", DistributedLock.class, () -> own)
			.withBean(Greeter.class)
			.run((context) -> {
				assertThat(context).hasNotFailed();
				assertThat(context).getBean(DistributedLock.class).isSameAs(own);
				assertThat(context).doesNotHaveBean(EngineLifecycle.class);
				assertThat(AopUtils.isAopProxy(context.getBean(Greeter.class))).isTrue();
			});
	}

	@Test
	void backsOffForAnotherBackendAndLocksWithIt() {
		InMemoryLockBackend own = new InMemoryLockBackend();
		Contexts.withoutRedis().withBean("own", LockBackend.class, () -> own).run((context) -> {
			assertThat(context).getBean(LockBackend.class).isSameAs(own);
			try (LockEngine other = LockEngine.builder(own).build(); LockHandle handle = other.acquire("key")) {
				assertThat(context.getBean(DistributedLock.class).tryAcquire("key")).isEmpty();
			}
		});
	}

	@Test
	void backsOffForAnotherAdvisor() {
		this.inMemory.withUserConfiguration(OwnAdvisor.class).withBean(Greeter.class).run((context) -> {
			assertThat(context).hasSingleBean(DistributedLockAdvisor.class);
			assertThat(context).hasBean("ownAdvisor");
			assertThat(context.getBean(Greeter.class).heldKeys()).containsExactly("greeting");
			assertThat(context.getBean(OwnAdvisor.class).used).isTrue();
		});
	}

	@Test
	void leavesTheNameDistributedLockToTheApplication() {
		this.inMemory.withBean("distributedLock", String.class, () -> "a home-made lock")
			.run((context) -> assertThat(context).hasSingleBean(LockEngine.class));
	}

	@ParameterizedTest
	@ValueSource(strings = { "false", "no", "off", "0", "FALSE" })
	void everyWayToSayNoIsTold(String no, CapturedOutput output) {
		this.inMemory.withPropertyValues("distributed-lock.enabled=" + no)
			.run((context) -> assertThat(context).doesNotHaveBean(LockEngine.class));
		assertThat(output).containsOnlyOnce("Distributed locks are off");
	}

	@ParameterizedTest
	@ValueSource(strings = { "true", "yes", "on", "1" })
	void everyWayToSayYesLocks(String yes, CapturedOutput output) {
		this.inMemory.withPropertyValues("distributed-lock.enabled=" + yes)
			.withBean(Greeter.class)
			.run((context) -> assertThat(context.getBean(Greeter.class).heldKeys()).containsExactly("greeting"));
		assertThat(output).doesNotContain("Distributed locks are off");
	}

	@Test
	void whatIsNeitherYesNorNoStopsTheStart() {
		Contexts.refuses(this.inMemory.withPropertyValues("distributed-lock.enabled=ture"), Throwable.class,
				"Invalid boolean value 'ture'");
		this.inMemory.withPropertyValues("distributed-lock.enabled=").run((context) -> assertThat(context).hasFailed());
	}

	@Test
	void tellsTheListenersInTheirOrder() {
		this.inMemory.withUserConfiguration(Listeners.class).run((context) -> {
			context.getBean(DistributedLock.class).acquire("key").close();
			assertThat(context.getBean(Listeners.class).heard).containsExactly("first Acquired", "second Acquired",
					"first Released", "second Released");
		});
	}

	@ParameterizedTest
	@CsvSource({ "flash-sale, flash-sale@", "'', app@" })
	void namesTheApplicationInOwnerTokens(String name, String owner) {
		this.inMemory.withPropertyValues("spring.application.name=" + name).run((context) -> {
			try (LockHandle handle = context.getBean(DistributedLock.class).acquire("key")) {
				assertThat(handle.owner()).startsWith(owner);
			}
		});
	}

	@Test
	void comesAfterTheRegistriesOfEitherSpringBoot() {
		assertThat(DistributedLockAutoConfiguration.class.getAnnotation(AutoConfiguration.class).afterName()).contains(
				"org.springframework.boot.actuate.autoconfigure.metrics.CompositeMeterRegistryAutoConfiguration",
				"org.springframework.boot.micrometer.metrics.autoconfigure.CompositeMeterRegistryAutoConfiguration",
				"org.springframework.boot.actuate.autoconfigure.observation.ObservationAutoConfiguration",
				"org.springframework.boot.micrometer.observation.autoconfigure.ObservationAutoConfiguration");
	}

	@Test
	void hasNoThreadBeforeTheFirstLock() {
		List<Thread> before = lockThreads();
		this.inMemory.withBean(Greeter.class).run((context) -> {
			assertThat(lockThreads()).isSubsetOf(before);
			context.getBean(Greeter.class).heldKeys();
			assertThat(lockThreads()).hasSizeLessThanOrEqualTo(before.size() + 3);
		});
	}

	@Test
	void theAdvisorNeedsNoOtherBean() {
		Contexts.withRedis().withBean(Greeter.class).withBean(SecondBean.class).run((context) -> {
			assertThat(context.getBean(SecondBean.class).before).contains("distributedLockAdvisor")
				.doesNotContain("redisConnectionFactory")
				.filteredOn((name) -> name.matches("(?i).*distributed-?lock.*"))
				.containsExactlyInAnyOrder("distributedLockAdvisor", "distributedLockAdvisorRole",
						"distributedLockCommitCheck", "distributedLockCommitGuard", "distributedLockStores",
						LockProxyCheck.class.getName());
			assertThat(context).hasSingleBean(LockEngine.class);
		});
	}

	private static List<Thread> lockThreads() {
		return Thread.getAllStackTraces()
			.keySet()
			.stream()
			.filter((thread) -> thread.getName().matches("distributed-lock-[a-z]+-\\d+"))
			.toList();
	}

	static class SecondBean {

		private final List<String> before;

		SecondBean(ConfigurableListableBeanFactory beanFactory) {
			this.before = Stream.of(beanFactory.getSingletonNames()).toList();
		}

	}

	@Configuration(proxyBeanMethods = false)
	static class OwnAdvisor {

		private boolean used;

		@Bean
		DistributedLockAdvisor ownAdvisor(ObjectProvider<DistributedLock> lock, BeanFactory beanFactory,
				Environment environment) {
			return new DistributedLockAdvisor((store) -> {
				this.used = true;
				return lock.getObject();
			}, beanFactory, environment);
		}

	}

	@Configuration(proxyBeanMethods = false)
	static class Listeners {

		private final List<String> heard = new CopyOnWriteArrayList<>();

		@Bean
		@Order(2)
		LockListener second() {
			return (event) -> this.heard.add("second " + event.getClass().getSimpleName());
		}

		@Bean
		@Order(1)
		LockListener first() {
			return (event) -> this.heard.add("first " + event.getClass().getSimpleName());
		}

	}

}
