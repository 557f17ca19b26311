package io.github.distributedlock.autoconfigure;

import java.net.MalformedURLException;
import java.net.URL;
import java.net.URLClassLoader;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
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
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import reactor.core.publisher.Mono;

import org.springframework.beans.factory.ObjectProvider;
import org.springframework.beans.factory.annotation.Autowired;
import org.springframework.beans.factory.annotation.Qualifier;
import org.springframework.beans.factory.support.AbstractBeanDefinition;
import org.springframework.boot.autoconfigure.AutoConfiguration;
import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.context.ApplicationContext;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Primary;
import org.springframework.context.support.GenericApplicationContext;
import org.springframework.data.redis.connection.RedisConnectionFactory;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

/**
 * Tests for applications with several stores, and for the store of an annotation.
 */
class StoresTests {

	@RegisterExtension
	static final TestRedis redis = new TestRedis();

	private final ApplicationContextRunner both = Contexts.withRedis(redis.port());

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

	@Test
	void aFieldThatSaysWhichLockMayHaveItsName() {
		this.both.withPropertyValues("distributed-lock.backend=redis,memory").withBean(Says.class).run((context) -> {
			Says says = context.getBean(Says.class);
			assertThat(says.memoryLock).isSameAs(context.getBean("memoryLock"));
			assertThat(says.redisLock).isSameAs(context.getBean("redisLock"));
		});
	}

	@Test
	void aTestIsToldOfAFieldThatHasTheNameOfALock() {
		this.both.withPropertyValues("distributed-lock.backend=redis,memory")
			.run((context) -> assertThatThrownBy(
					() -> context.getAutowireCapableBeanFactory().autowireBean(new Named()))
				.hasMessageContaining(
						"'" + Named.class.getName() + "' has a field memoryLock, which would be the default lock"));
	}

	static class Says {

		@Autowired
		@Qualifier("memoryLock")
		DistributedLock memoryLock;

		@Autowired
		DistributedLock redisLock;

		@Autowired
		@Qualifier("memoryLock")
		void set(DistributedLock memoryLock) {
			// Spring takes the qualifier of a setter for that of its parameter.
			assertThat(memoryLock).isSameAs(this.memoryLock);
		}

	}

	static class Named {

		@Autowired
		DistributedLock memoryLock;

	}

	record Given(DistributedLock memoryLock) {

		DistributedLock lock() {
			return this.memoryLock;
		}

	}

	@Test
	void collectionsOfLocksHaveTheDefaultOnlyAndTheFactoryHasAll() {
		this.both.withPropertyValues("distributed-lock.backend=redis,memory").withBean(Several.class).run((context) -> {
			DistributedLock first = context.getBean("redisLock", DistributedLock.class);
			Several several = context.getBean(Several.class);
			assertThat(several.byName().values()).containsExactly(first);
			assertThat(several.list()).containsExactly(first);
			assertThat(several.provider().stream()).containsExactly(first);
			assertThat(context.getBeansOfType(DistributedLock.class).values()).containsExactlyInAnyOrder(first,
					context.getBean("memoryLock", DistributedLock.class));
		});
	}

	record Several(Map<String, DistributedLock> byName, List<DistributedLock> list,
			ObjectProvider<DistributedLock> provider) {
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
				assertThat(context).hasBean("distributedLocksEndpoint");
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
		Contexts.refuses(Contexts.inMemory().withPropertyValues("distributed-lock.backend=memory,redis"),
				Throwable.class, "no RedisConnectionFactory bean");
	}

	@Test
	void theBeanOfAnotherStoreNeedsNoName() {
		Contexts.inMemory()
			.withBean(Shop.class)
			.withBean("memoryLock", LockEngine.class, StoresTests::engine,
					(definition) -> ((AbstractBeanDefinition) definition).setDefaultCandidate(false))
			.run((context) -> {
				assertThat(context).hasSingleBean(EngineLifecycle.class);
				assertThat(context.getBean(Shop.class).inMemory().owner()).startsWith("own@");
			});
	}

	@Test
	void nameOrAliasThatTheApplicationHasStaysItsOwn() {
		Contexts.inMemory()
			.withBean("memoryLock", String.class, () -> "home-made")
			.run((context) -> assertThat(context).getBean("memoryLock").isEqualTo("home-made"));
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
	void storeThatIsMissingStopsTheStartAndNamesThoseThereAre() {
		String problem = Wrong.class.getName() + ".run(): store = \"ledgerLock\" names no single DistributedLock bean";
		ApplicationContextRunner wrong = Contexts.inMemory().withBean(Wrong.class);
		Contexts.refuses(wrong, LockDefinitionException.class, problem, "write one of ");
		Contexts.refuses(wrong.withBean("ledgerLock", String.class, () -> "no lock"), LockDefinitionException.class,
				problem, "write one of ");
		Contexts.refuses(this.both.withBean(InEachStore.class), LockDefinitionException.class,
				"store = \"jdbcLock\" names no single DistributedLock bean",
				"(add jdbc to distributed-lock.backend and write jdbcLock, or write one of redisLock,"
						+ " or mark one with @Primary as the default)");
	}

	@Test
	void severalOfTheApplicationStopTheStartUnlessOneIsPrimary() {
		Contexts.refuses(
				Contexts.withoutRedis()
					.withBean("first", LockEngine.class, StoresTests::engine)
					.withBean("second", LockEngine.class, StoresTests::engine)
					.withBean(Greeter.class),
				LockDefinitionException.class, "store = \"\" names no single DistributedLock bean",
				"write one of first, second,");
		Contexts.withoutRedis()
			.withBean("first", LockEngine.class, StoresTests::engine)
			.withBean("second", LockEngine.class, StoresTests::engine, (definition) -> definition.setPrimary(true))
			.withBean(Greeter.class)
			.run((context) -> assertThat(context.getBean(Greeter.class).heldKeys()).containsExactly("greeting"));
	}

	@Test
	void annotationsOfLaterBeansAreRefusedWhenTheyAreCalled() {
		Contexts.inMemory()
			.withBean(Wrong.class, Wrong::new, (definition) -> definition.setLazyInit(true))
			.run((context) -> {
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
		Contexts.refuses(
				this.both
					.withPropertyValues("distributed-lock.backend=memory,redis",
							"distributed-lock.redis.atomicity=transaction")
					.withBean(SharedInRedis.class),
				LockDefinitionException.class, SharedInRedis.class.getName(),
				"write store = \"memoryLock\", which offers that, or ");
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
		Contexts.refuses(Contexts.withoutRedis().withPropertyValues("distributed-lock.backend="), Throwable.class,
				"distributed-lock.backend");
	}

	private static List<String> heldIn(ApplicationContext context, Function<Shop, LockHandle> call) {
		LockHandle handle = call.apply(context.getBean(Shop.class));
		return Stream.of("memoryLock", "redisLock")
			.filter((lock) -> context.getBean(lock, DistributedLock.class).owns(handle))
			.toList();
	}

	private static LockEngine engine() {
		return LockEngine.builder(new InMemoryLockBackend()).application("own").build();
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

}
