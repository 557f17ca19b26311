package io.github.distributedlock.autoconfigure;

import java.lang.ref.WeakReference;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;

import io.github.distributedlock.DistributedLock;
import io.github.distributedlock.LockEvent.Lost.Reason;
import io.github.distributedlock.LockHandle;
import io.github.distributedlock.LockRequest;
import io.github.distributedlock.backend.memory.InMemoryLockBackend;
import io.github.distributedlock.engine.LockEngine;
import io.github.distributedlock.fixtures.Patience;
import io.github.distributedlock.internal.observability.ObservabilityConfiguration;
import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.Test;

import org.springframework.boot.test.context.FilteredClassLoader;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Tests for the meters that {@link ObservabilityConfiguration} sets up.
 */
class MeterConfigurationTests {

	private final ApplicationContextRunner contextRunner = Contexts.inMemory();

	@Test
	void metersLocksWhereThereIsARegistry() {
		this.contextRunner.withBean(SimpleMeterRegistry.class).withBean(Greeter.class).run((context) -> {
			context.getBean(Greeter.class).heldKeys();
			assertThat(context).hasBean("distributedLockMeters");
			assertThat(context.getBean(MeterRegistry.class)
				.get("distributed.lock.acquire")
				.tag("name", "Greeter.heldKeys")
				.timer()
				.count()).isOne();
		});
	}

	@Test
	void countsFromZeroForEveryAnnotatedMethod() {
		this.contextRunner.withBean(SimpleMeterRegistry.class).withBean(Greeter.class).run((context) -> {
			MeterRegistry registry = context.getBean(MeterRegistry.class);
			for (Reason reason : Reason.values()) {
				String tag = reason.name().toLowerCase(Locale.ROOT);
				assertThat(registry.get("distributed.lock.lost")
					.tags("name", "Greeter.heldKeys", "reason", tag)
					.counter()
					.count()).isZero();
			}
			for (String counter : List.of("renewed.late", "release.deferred")) {
				assertThat(
						registry.get("distributed.lock." + counter).tag("name", "Greeter.heldKeys").counter().count())
					.isZero();
			}
			assertThat(registry.get("distributed.lock.acquire").tag("name", "Greeter.heldKeys").timers()).hasSize(2);
			assertThat(registry.get("distributed.lock.held").tag("name", "Greeter.heldKeys").timer().count()).isZero();
		});
	}

	@Test
	void gaugesWhatTheEngineHoldsAndWaitsFor() {
		this.contextRunner.withBean(SimpleMeterRegistry.class).run((context) -> {
			MeterRegistry registry = context.getBean(MeterRegistry.class);
			try (LockHandle held = context.getBean(DistributedLock.class).acquire(LockRequest.of("a", "b"))) {
				assertThat(registry.get("distributed.lock.active").gauge().value()).isEqualTo(held.keys().size());
				assertThat(registry.get("distributed.lock.waiting").gauge().value()).isZero();
			}
			assertThat(registry.get("distributed.lock.active").gauge().value()).isZero();
		});
	}

	/**
	 * The static registry of Micrometer refers to the registries of all contexts.
	 */
	@Test
	void registryThatOutlivesTheEngineHasGaugesOfTheNextOne() {
		SimpleMeterRegistry registry = new SimpleMeterRegistry();
		ApplicationContextRunner runner = this.contextRunner.withBean(MeterRegistry.class, () -> registry,
				(bean) -> bean.setDestroyMethodName(null));
		runner.run((context) -> {
			context.getBean(DistributedLock.class).acquire(LockRequest.of("a").detached(true));
			assertThat(registry.get("distributed.lock.active").gauge().value()).isOne();
			runner.run((other) -> assertThat(other).hasNotFailed());
			assertThat(registry.get("distributed.lock.active").gauge().value()).as("of the first one").isOne();
		});
		assertThat(registry.find("distributed.lock.active").gauge()).isNull();
		assertThat(registry.find("distributed.lock.waiting").gauge()).isNull();
		Awaitility.await("the loss at the close of the engine, told by another thread")
			.atMost(Patience.PATIENCE)
			.until(() -> registry.find("distributed.lock.held")
				.timers()
				.stream()
				.anyMatch((timer) -> timer.count() == 1));
		runner.run((context) -> assertThat(registry.get("distributed.lock.active").gauge().value()).isZero());
	}

	/**
	 * Neither a registry, a hook nor a thread that lives as long as the JVM keeps the
	 * engine.
	 */
	@Test
	void nothingKeepsAnEngineWhoseContextIsClosed() {
		List<WeakReference<LockEngine>> engines = new ArrayList<>();
		List<MeterRegistry> registries = new ArrayList<>();
		for (int i = 0; i < 3; i++) {
			SimpleMeterRegistry registry = new SimpleMeterRegistry();
			registries.add(registry);
			this.contextRunner.withBean(MeterRegistry.class, () -> registry).withBean(Greeter.class).run((context) -> {
				engines.add(new WeakReference<>(context.getBean(LockEngine.class)));
				context.getBean(Greeter.class).heldKeys();
				Patience.get(context.getBean(DistributedLock.class).acquireAsync(LockRequest.of("k")), "k").close();
			});
		}
		Awaitility.await("all engines are garbage").untilAsserted(() -> {
			System.gc();
			assertThat(engines).extracting(WeakReference::get).containsOnlyNulls();
		});
		assertThat(registries).hasSameSizeAs(engines);
	}

	@Test
	void gaugesNoneOfSeveralEngines() {
		this.contextRunner.withBean(SimpleMeterRegistry.class)
			.withBean("one", LockEngine.class, MeterConfigurationTests::engine)
			.withBean("two", LockEngine.class, MeterConfigurationTests::engine)
			.withPropertyValues("management.endpoints.web.exposure.include=*")
			.run((context) -> assertThat(context).hasNotFailed().doesNotHaveBean("distributedLocksEndpoint"));
	}

	private static LockEngine engine() {
		return LockEngine.builder(new InMemoryLockBackend()).build();
	}

	@Test
	void doesWithoutARegistry() {
		this.contextRunner.run((context) -> {
			assertThat(context).hasSingleBean(DistributedLock.class);
			assertThat(context).doesNotHaveBean("distributedLockMeters");
		});
	}

	@Test
	void doesWithoutMicrometer() {
		this.contextRunner.withClassLoader(new FilteredClassLoader("io.micrometer.core"))
			.run((context) -> assertThat(context).hasSingleBean(DistributedLock.class));
	}

}
