package io.github.distributedlock.autoconfigure;

import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;

import io.github.distributedlock.DistributedLock;
import io.github.distributedlock.LockHandle;
import io.github.distributedlock.LockRequest;
import io.github.distributedlock.WaitObserver;
import io.github.distributedlock.fixtures.JvmProcess;
import io.github.distributedlock.fixtures.NoDatabase;
import io.github.distributedlock.fixtures.Patience;
import io.github.distributedlock.internal.observability.ObservabilityConfiguration;
import io.micrometer.observation.Observation;
import io.micrometer.observation.Observation.Scope;
import io.micrometer.observation.ObservationRegistry;
import io.micrometer.observation.tck.TestObservationRegistry;
import io.micrometer.observation.tck.TestObservationRegistryAssert;
import org.junit.jupiter.api.Test;

import org.springframework.beans.factory.NoUniqueBeanDefinitionException;
import org.springframework.boot.WebApplicationType;
import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.builder.SpringApplicationBuilder;
import org.springframework.boot.test.context.FilteredClassLoader;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.context.ConfigurableApplicationContext;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Tests for the observations of waits, the context of futures and the events of the
 * flight recorder that {@link ObservabilityConfiguration} and {@link EngineConfiguration}
 * set up.
 */
class ObservationConfigurationTests {

	private final ApplicationContextRunner contextRunner = Contexts.inMemory();

	@Test
	void observesWaitsWhereThereIsARegistry() {
		this.contextRunner.withBean(TestObservationRegistry.class, TestObservationRegistry::create)
			.withBean(Greeter.class)
			.run((context) -> {
				context.getBean(Greeter.class).heldKeys();
				TestObservationRegistryAssert.assertThat(context.getBean(TestObservationRegistry.class))
					.hasObservationWithNameEqualTo("distributed.lock.wait")
					.that()
					.hasLowCardinalityKeyValue("name", "Greeter.heldKeys");
			});
	}

	@Test
	void isSwitchedOffByThePropertyForAllObservations() {
		this.contextRunner.withConfiguration(AutoConfigurations.of(Contexts.observationAutoConfiguration()))
			.withBean(TestObservationRegistry.class, TestObservationRegistry::create)
			.withPropertyValues("management.observations.enable.distributed.lock=false")
			.run((context) -> {
				context.getBean(DistributedLock.class).acquire("k").close();
				TestObservationRegistryAssert.assertThat(context.getBean(TestObservationRegistry.class))
					.doesNotHaveAnyObservation();
			});
	}

	@Test
	void carriesTheTraceToWhatDependsOnTheFuture() {
		this.contextRunner.withBean(TestObservationRegistry.class, TestObservationRegistry::create).run((context) -> {
			ObservationRegistry registry = context.getBean(ObservationRegistry.class);
			DistributedLock lock = context.getBean(DistributedLock.class);
			LockHandle busy = lock.acquire("k");
			Observation request = Observation.start("request", registry);
			CompletableFuture<Observation> seen;
			try (Scope scope = request.openScope()) {
				seen = lock.acquireAsync(LockRequest.of("k")).thenApply((handle) -> {
					handle.close();
					return registry.getCurrentObservation();
				});
			}
			busy.close();
			assertThat(seen).succeedsWithin(Patience.PATIENCE).isSameAs(request);
		});
	}

	@Test
	void doesWithoutARegistry() {
		this.contextRunner.run((context) -> assertThat(context).hasSingleBean(DistributedLock.class)
			.doesNotHaveBean(WaitObserver.class));
	}

	@Test
	void leavesObservingToTheApplication() {
		WaitObserver own = (request) -> null;
		this.contextRunner.withBean(TestObservationRegistry.class, TestObservationRegistry::create)
			.withBean(WaitObserver.class, () -> own)
			.run((context) -> assertThat(context).getBean(WaitObserver.class).isSameAs(own));
	}

	@Test
	void refusesToChooseBetweenObservers() {
		WaitObserver own = (request) -> null;
		this.contextRunner.withBean("one", WaitObserver.class, () -> own)
			.withBean("two", WaitObserver.class, () -> own)
			.run((context) -> assertThat(context).hasFailed()
				.getFailure()
				.hasRootCauseInstanceOf(NoUniqueBeanDefinitionException.class));
	}

	@Test
	void doesWithoutTheLibraries() {
		for (String library : new String[] { "io.micrometer", "io.micrometer.context", "jdk.jfr" }) {
			this.contextRunner.withClassLoader(new FilteredClassLoader(library)).run((context) -> {
				assertThat(context).hasSingleBean(DistributedLock.class);
				context.getBean(DistributedLock.class).acquire("k").close();
			});
		}
	}

	@Test
	void recordsOnlyWhereThereIsAFlightRecorder() {
		this.contextRunner.run((context) -> assertThat(context).hasBean("distributedLockFlightRecorderEvents"));
		this.contextRunner.withClassLoader(new FilteredClassLoader("jdk.jfr"))
			.run((context) -> assertThat(context).doesNotHaveBean("distributedLockFlightRecorderEvents"));
	}

	@Test
	void doesWithoutTheModuleOfTheFlightRecorder() {
		try (JvmProcess jvm = JvmProcess.start(List.of("--limit-modules=java.se,jdk.unsupported"),
				WithoutFlightRecorder.class, Map.of())) {
			jvm.awaitLine("locked, flight recorder: false, its events: false");
		}
	}

	/**
	 * An application in a JVM of its own.
	 */
	static class WithoutFlightRecorder {

		public static void main(String[] arguments) {
			try (ConfigurableApplicationContext context = new SpringApplicationBuilder(NoDatabase.class)
				.web(WebApplicationType.NONE)
				.properties("distributed-lock.backend=memory")
				.run(arguments)) {
				context.getBean(DistributedLock.class).acquire("k").close();
				System.out.println("locked, flight recorder: " + ModuleLayer.boot().findModule("jdk.jfr").isPresent()
						+ ", its events: " + context.containsBean("distributedLockFlightRecorderEvents"));
			}
		}

	}

}
