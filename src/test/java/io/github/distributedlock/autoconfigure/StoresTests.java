package io.github.distributedlock.autoconfigure;

import java.net.MalformedURLException;
import java.net.URL;
import java.net.URLClassLoader;
import java.nio.file.Path;
import java.util.List;
import java.util.function.Function;
import java.util.stream.Stream;

import io.github.distributedlock.DistributedLock;
import io.github.distributedlock.LockDefinitionException;
import io.github.distributedlock.LockHandle;
import io.github.distributedlock.LockMode;
import io.github.distributedlock.backend.LockBackend;
import io.github.distributedlock.backend.jdbc.JdbcLockBackend;
import io.github.distributedlock.backend.memory.InMemoryLockBackend;
import io.github.distributedlock.backend.redis.RedisLockBackend;
import io.github.distributedlock.engine.LockEngine;
import io.github.distributedlock.fixtures.Patience;
import io.github.distributedlock.fixtures.TestRedis;
import io.github.distributedlock.internal.observability.DistributedLocksEndpoint;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import reactor.core.publisher.Mono;

import org.springframework.boot.autoconfigure.AutoConfiguration;
import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.context.ApplicationContext;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.Lazy;
import org.springframework.context.annotation.Primary;
import org.springframework.context.support.GenericApplicationContext;
import org.springframework.data.redis.connection.RedisConnectionFactory;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

/**
 * Tests for applications with several stores, and for the store of an annotation.
 */
class StoresTests {

	@RegisterExtension
	static final TestRedis redis = new TestRedis();

	private final ApplicationContextRunner both = Contexts.withRedis()
		.withPropertyValues("spring.data.redis.port=" + redis.port());

	@Test
	void anAnnotationLocksInTheStoreThatItNames() {
		this.both.withPropertyValues("distributed-lock.backend=redis,memory").withBean(Shop.class).run((context) -> {
			assertThat(heldIn(context, Shop::inMemory)).containsExactly("memoryLock");
			assertThat(heldIn(context, Shop::byProperty)).containsExactly("memoryLock");
			assertThat(heldIn(context, Shop::byDefault)).containsExactly("redisLock");
			assertThat(heldIn(context, (shop) -> shop.reactive().block(Patience.PATIENCE)))
				.containsExactly("memoryLock");
		});
	}

	@Test
	void aParameterThatNobodyInjectsMayHaveTheNameOfALock() {
		this.both
			.withInitializer((context) -> ((GenericApplicationContext) context).registerBean(Given.class,
					() -> new Given(context.getBean("memoryLock", DistributedLock.class))))
			.withPropertyValues("distributed-lock.backend=redis,memory")
			.run((context) -> assertThat(context.getBean(Given.class).lock()).isSameAs(context.getBean("memoryLock")));
	}

	record Given(DistributedLock memoryLock) {

		DistributedLock lock() {
			return this.memoryLock;
		}

	}

	@Test
	void theFirstIsTheDefault() {
		this.both
			.withPropertyValues("distributed-lock.backend=memory,redis", "management.endpoints.web.exposure.include=*")
			.run((context) -> {
				assertThat(context.getBean(DistributedLock.class)).isSameAs(context.getBean("memoryLock"))
					.isNotSameAs(context.getBean("redisLock"));
				assertThat(context.getBean(LockBackend.class)).isInstanceOf(InMemoryLockBackend.class);
				assertThat(context.getBean("redisLockBackend")).isInstanceOf(RedisLockBackend.class);
				assertThat(context).hasSingleBean(DistributedLocksEndpoint.class);
			});
	}

	@Test
	void starterForDatabasesMakesThemTheDefaultBesideARedis() {
		inDatabaseByStarter().run((context) -> {
			assertThat(context).hasSingleBean(RedisConnectionFactory.class);
			assertThat(context.getBean(LockBackend.class)).isInstanceOf(JdbcLockBackend.class);
			assertThat(context.getBean(DistributedLock.class)).isSameAs(context.getBean("jdbcLock"));
		});
	}

	@Test
	void propertyOverrulesTheStarterForDatabases() {
		inDatabaseByStarter().withPropertyValues("distributed-lock.backend=redis")
			.run((context) -> assertThat(context.getBean(LockBackend.class)).isInstanceOf(RedisLockBackend.class));
	}

	private ApplicationContextRunner inDatabaseByStarter() {
		try {
			URL starter = Path.of("src/artifacts/jdbc/resources").toUri().toURL();
			return this.both.withConfiguration(AutoConfigurations.of(Contexts.sqlAutoConfigurations()))
				.withClassLoader(new URLClassLoader(new URL[] { starter }, getClass().getClassLoader()));
		}
		catch (MalformedURLException ex) {
			throw new IllegalStateException(ex);
		}
	}

	@Test
	void anotherStoreIsCheckedAtTheStart() {
		Contexts.inMemory()
			.withPropertyValues("distributed-lock.backend=memory,redis")
			.run((context) -> assertThat(context).getFailure()
				.rootCause()
				.hasMessageContaining("no RedisConnectionFactory bean"));
	}

	@Test
	void theBeanOfAnotherStoreNeedsNoName() {
		Contexts.inMemory().withBean(Shop.class).withUserConfiguration(Own.class).run((context) -> {
			assertThat(context).hasSingleBean(EngineLifecycle.class);
			assertThat(context.getBean(Shop.class).inMemory().owner()).startsWith("own@");
		});
	}

	@Test
	void aNameThatTheApplicationHasStaysItsOwn() {
		Contexts.inMemory()
			.withBean("memoryLock", String.class, () -> "home-made")
			.run((context) -> assertThat(context).getBean("memoryLock").isEqualTo("home-made"));
	}

	@Test
	void anAliasThatTheApplicationHasStaysItsOwn() {
		Contexts.inMemory()
			.withInitializer((context) -> context.getBeanFactory().registerAlias("greeter", "memoryLock"))
			.withBean("greeter", Greeter.class)
			.run((context) -> assertThat(context).getBean("memoryLock").isInstanceOf(Greeter.class));
	}

	@Test
	void beansOfALaterConfigurationStayItsOwn() {
		for (String stores : List.of("memory,redis", "redis", "memory")) {
			this.both.withPropertyValues("distributed-lock.backend=" + stores)
				.withConfiguration(AutoConfigurations.of(LaterBeans.class))
				.run((context) -> assertThat(context.getBeansOfType(String.class)).containsKeys("memoryLock",
						"jdbcLock", "redisLock"));
		}
	}

	@Test
	void inMemoryEveryStoreIsThere() {
		Contexts.inMemory().withBean(InEachStore.class).run((context) -> {
			InEachStore service = context.getBean(InEachStore.class);
			assertThat(service.inDatabase().keys()).containsExactly("stock");
			assertThat(service.inRedis().keys()).containsExactly("stock");
		});
	}

	@Test
	void aStoreThatIsMissingStopsTheStartAndNamesThoseThereAre() {
		Contexts.inMemory()
			.withBean(Wrong.class)
			.run((context) -> assertThat(context).getFailure()
				.isInstanceOf(LockDefinitionException.class)
				.hasMessageContaining(Wrong.class.getName() + ".run(): store = \"ledgerLock\" names no single"
						+ " DistributedLock bean")
				.hasMessageContaining("write one of "));
	}

	@Test
	void aStoreThatIsNotConfiguredIsToBeAdded() {
		this.both.withBean(InEachStore.class)
			.run((context) -> assertThat(context).getFailure()
				.isInstanceOf(LockDefinitionException.class)
				.hasMessageContaining("store = \"jdbcLock\" names no single DistributedLock bean")
				.hasMessageEndingWith(
						"(add jdbc to distributed-lock.backend and write jdbcLock, or write one of redisLock,"
								+ " or mark one with @Primary as the default)"));
	}

	@Test
	void aBeanThatIsNoLockStopsTheStart() {
		Contexts.inMemory()
			.withBean("ledgerLock", String.class, () -> "home-made")
			.withBean(Wrong.class)
			.run((context) -> assertThat(context).getFailure()
				.isInstanceOf(LockDefinitionException.class)
				.hasMessageContaining("store = \"ledgerLock\"")
				.hasMessageContaining("write one of "));
	}

	@Test
	void severalOfTheApplicationStopTheStartUnlessOneIsPrimary() {
		Contexts.withoutRedis()
			.withUserConfiguration(Two.class)
			.withBean(Greeter.class)
			.run((context) -> assertThat(context).getFailure()
				.isInstanceOf(LockDefinitionException.class)
				.hasMessageContaining("store = \"\" names no single DistributedLock bean")
				.hasMessageContaining("write one of first, second,"));
		Contexts.withoutRedis()
			.withUserConfiguration(Two.class, OnePrimary.class)
			.withBean(Greeter.class)
			.run((context) -> assertThat(context.getBean(Greeter.class).heldKeys()).containsExactly("greeting"));
	}

	@Test
	void annotationsOfLaterBeansAreRefusedWhenTheyAreCalled() {
		Contexts.inMemory().withUserConfiguration(Later.class).run((context) -> {
			Wrong later = context.getBean(Wrong.class);
			assertThatExceptionOfType(LockDefinitionException.class).isThrownBy(later::run)
				.withMessageContaining("store = \"ledgerLock\"");
		});
	}

	@Test
	void aStoreIsAskedOnlyWhetherItCanServeItsOwn() {
		this.both
			.withPropertyValues("distributed-lock.backend=redis,memory", "distributed-lock.redis.atomicity=transaction")
			.withBean(Shared.class)
			.run((context) -> assertThat(context).hasNotFailed());
		this.both
			.withPropertyValues("distributed-lock.backend=memory,redis", "distributed-lock.redis.atomicity=transaction")
			.withBean(SharedInRedis.class)
			.run((context) -> assertThat(context).getFailure()
				.cause()
				.isInstanceOf(LockDefinitionException.class)
				.hasMessageContaining(SharedInRedis.class.getName())
				.hasMessageContaining("write store = \"memoryLock\", which offers that, or "));
	}

	@Test
	void whereLocksAreSwitchedOffNoStoreIsNeeded() {
		Contexts.inMemory()
			.withPropertyValues("distributed-lock.enabled=false")
			.withBean(Wrong.class)
			.run((context) -> context.getBean(Wrong.class).run());
	}

	@Test
	void noStoreAtAllIsRefused() {
		Contexts.withoutRedis()
			.withPropertyValues("distributed-lock.backend=")
			.run((context) -> assertThat(context).getFailure()
				.rootCause()
				.hasMessageContaining("distributed-lock.backend"));
	}

	private static List<String> heldIn(ApplicationContext context, Function<Shop, LockHandle> call) {
		LockHandle handle = call.apply(context.getBean(Shop.class));
		return Stream.of("memoryLock", "redisLock")
			.filter((lock) -> context.getBean(lock, DistributedLock.class).owns(handle))
			.toList();
	}

	static class Shop {

		@io.github.distributedlock.annotation.DistributedLock(key = "'k'", store = "memoryLock")
		public LockHandle inMemory() {
			return LockHandle.current().orElseThrow();
		}

		@io.github.distributedlock.annotation.DistributedLock(key = "'k'", store = "${shop.store:memoryLock}")
		public LockHandle byProperty() {
			return LockHandle.current().orElseThrow();
		}

		@io.github.distributedlock.annotation.DistributedLock(key = "'k'", store = "memoryLock")
		public Mono<LockHandle> reactive() {
			return Mono.just(LockHandle.current().orElseThrow());
		}

		@io.github.distributedlock.annotation.DistributedLock(key = "'k'")
		public LockHandle byDefault() {
			return LockHandle.current().orElseThrow();
		}

	}

	static class InEachStore {

		@io.github.distributedlock.annotation.DistributedLock(key = "'stock'", store = "jdbcLock")
		public LockHandle inDatabase() {
			return LockHandle.current().orElseThrow();
		}

		@io.github.distributedlock.annotation.DistributedLock(key = "'stock'", store = "redisLock")
		public LockHandle inRedis() {
			return LockHandle.current().orElseThrow();
		}

	}

	@AutoConfiguration(after = DistributedLockAutoConfiguration.class)
	static class LaterBeans {

		@Bean
		String memoryLock() {
			return "home-made";
		}

		@Bean
		String jdbcLock() {
			return "home-made";
		}

		@Bean
		String redisLock() {
			return "home-made";
		}

	}

	static class Wrong {

		@io.github.distributedlock.annotation.DistributedLock(key = "'k'", store = "ledgerLock")
		public void run() {
		}

	}

	static class Shared {

		@io.github.distributedlock.annotation.DistributedLock(key = "'k'", mode = LockMode.SHARED, store = "memoryLock")
		public void run() {
		}

	}

	static class SharedInRedis {

		@io.github.distributedlock.annotation.DistributedLock(key = "'k'", mode = LockMode.SHARED, store = "redisLock")
		public void run() {
		}

	}

	@Configuration(proxyBeanMethods = false)
	static class Later {

		@Bean
		@Lazy
		Wrong wrong() {
			return new Wrong();
		}

	}

	@Configuration(proxyBeanMethods = false)
	static class Two {

		@Bean
		LockEngine first() {
			return LockEngine.builder(new InMemoryLockBackend()).build();
		}

		@Bean
		LockEngine second() {
			return LockEngine.builder(new InMemoryLockBackend()).build();
		}

	}

	@Configuration(proxyBeanMethods = false)
	static class OnePrimary {

		@Bean
		@Primary
		LockEngine third() {
			return LockEngine.builder(new InMemoryLockBackend()).build();
		}

	}

	/**
	 * Beside the default one, for those that name it.
	 */
	@Configuration(proxyBeanMethods = false)
	static class Own {

		@Bean(defaultCandidate = false)
		LockEngine memoryLock() {
			return LockEngine.builder(new InMemoryLockBackend()).application("own").build();
		}

	}

}
