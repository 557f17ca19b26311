package io.github.distributedlock.autoconfigure;

import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;

import io.github.distributedlock.DistributedLock;
import io.github.distributedlock.LockAdmin;
import io.github.distributedlock.LockBackendException;
import io.github.distributedlock.LockHandle;
import io.github.distributedlock.LockListener;
import io.github.distributedlock.LockRequest;
import io.github.distributedlock.backend.LockBackend;
import io.github.distributedlock.fixtures.Patience;
import io.github.distributedlock.reactive.LockContext;
import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import reactor.core.publisher.Mono;
import reactor.test.StepVerifier;

import org.springframework.beans.factory.annotation.Qualifier;
import org.springframework.boot.LazyInitializationBeanFactoryPostProcessor;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.boot.test.system.CapturedOutput;
import org.springframework.boot.test.system.OutputCaptureExtension;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;
import static org.mockito.Mockito.mock;
import static org.mockito.Mockito.verifyNoInteractions;

/**
 * Tests for {@code distributed-lock.enabled=false}, the switch for the night in which the
 * locks are what is wrong.
 */
@ExtendWith(OutputCaptureExtension.class)
class SwitchedOffLockTests {

	// No server listens there, so that each request would fail.
	private final ApplicationContextRunner switchedOff = Contexts.withRedis()
		.withPropertyValues("distributed-lock.enabled=false", "spring.data.redis.port=1");

	private final DistributedLock lock = new SwitchedOffLock();

	@Test
	void annotatedMethodsHaveALockThatIsHeld(CapturedOutput output) {
		this.switchedOff.withBean(Greeter.class).withBean(Statement.class).run((context) -> {
			assertThat(context.getBean(Greeter.class).heldKeys()).containsExactly("greeting");
			assertThat(context.getBean(Statement.class).isHeld("a")).isTrue();
			assertThat(LockHandle.current()).isEmpty();
		});
		assertThat(output).containsOnlyOnce("Distributed locks are off (distributed-lock.enabled=false):"
				+ " methods with @DistributedLock run WITHOUT their locks");
	}

	@Test
	void lazyBeansAreWarnedOfAtTheStart(CapturedOutput output) {
		this.switchedOff
			.withInitializer(
					(context) -> context.addBeanFactoryPostProcessor(new LazyInitializationBeanFactoryPostProcessor()))
			.run((context) -> assertThat(output).contains("Distributed locks are off"));
	}

	@Test
	void annotatedReactiveMethodsToo() {
		this.switchedOff.withBean(Statement.class)
			.run((context) -> StepVerifier.create(context.getBean(Statement.class).keys("a"))
				.expectNext(List.of("statement:a"))
				.verifyComplete());
	}

	@Test
	void anInjectedLockWorksAndExcludesNobody() {
		this.switchedOff.run((context) -> {
			DistributedLock injected = context.getBean(DistributedLock.class);
			String result = injected.execute("key", () -> "done");
			assertThat(result).isEqualTo("done");
			try (LockHandle first = injected.acquire("key"); LockHandle second = injected.acquire("key")) {
				assertThat(List.of(first.isHeld(), second.isHeld())).containsOnly(true);
			}
		});
	}

	@Test
	void anOperatorFindsNoKeyToRelease() {
		this.switchedOff
			.run((context) -> assertThat(context.getBean(LockAdmin.class).forceRelease("k", "o#1:1")).isFalse());
		this.switchedOff.withBean("own", DistributedLock.class, () -> mock())
			.run((context) -> assertThat(context).hasSingleBean(LockAdmin.class));
	}

	@Test
	void hasNothingThatCouldAskAStore() {
		this.switchedOff.withBean(SimpleMeterRegistry.class)
			.withPropertyValues("management.endpoints.web.exposure.include=*")
			.run((context) -> assertThat(context).hasNotFailed()
				.doesNotHaveBean(LockBackend.class)
				.doesNotHaveBean(EngineLifecycle.class)
				.doesNotHaveBean(DistributedLockProperties.class)
				.doesNotHaveBean(LockListener.class)
				.doesNotHaveBean("distributedLocksEndpoint"));
	}

	@Test
	void annotatedMethodsDoNotAskALockOfTheUsersOwnEither() {
		DistributedLock own = mock();
		this.switchedOff.withBean("own", DistributedLock.class, () -> own).withBean(Greeter.class).run((context) -> {
			assertThat(context.getBean(Greeter.class).heldKeys()).containsExactly("greeting");
			assertThat(context.getBeansOfType(DistributedLock.class)).isEqualTo(Map.of("own", own));
			verifyNoInteractions(own);
		});
	}

	@Test
	void locksThatAreInjectedByNameAreSwitchedOffToo() {
		this.switchedOff.withPropertyValues("distributed-lock.backend=redis, jdbc")
			.withBean(TwoStores.class)
			.run((context) -> {
				TwoStores stores = context.getBean(TwoStores.class);
				stores.lock.run("a", () -> assertThat(LockHandle.current()).isPresent());
				assertThat(stores.admin.forceRelease("a", "o#1:1")).isFalse();
				assertThat(context).hasSingleBean(DistributedLock.class).hasSingleBean(LockAdmin.class);
			});
	}

	@Test
	void refusesToMakeUpAFencingToken() {
		this.switchedOff.withBean(Statement.class)
			.run((context) -> assertThatExceptionOfType(LockBackendException.class)
				.isThrownBy(() -> context.getBean(Statement.class).write("a"))
				.withMessage("Lock [statement:a] was requested as fenced, but locks are switched off"
						+ " (distributed-lock.enabled=false), and only a store can give a fencing token"
						+ " (switch the locks on again, or do without the method until then)")
				.matches((ex) -> ex.isWithoutEffect() && !ex.isRetryable()));
	}

	@Test
	void aHandleIsHeldAndCurrentUntilItIsClosed() {
		LockHandle handle = this.lock.acquire(LockRequest.of("a", "b"));
		assertThat(handle.keys()).containsExactly("a", "b");
		assertThat(handle.extend(Duration.ofHours(1))).isTrue();
		assertThat(handle.remaining()).isPositive();
		assertThat(LockHandle.current()).containsSame(handle);
		handle.checkHeld();
		handle.close();
		assertThat(handle.isHeld()).isFalse();
		assertThat(handle.remaining()).isZero();
		assertThat(LockHandle.current()).isEmpty();
		assertThatIllegalStateException().isThrownBy(handle::checkHeld).withMessageContaining("[a, b]");
	}

	@Test
	void asynchronousRequestsAreGrantedAtOnce() {
		LockHandle handle = Patience.get(this.lock.acquireAsync(LockRequest.of("a")), "a lock");
		assertThat(handle.isHeld()).isTrue();
		assertThat(LockHandle.current()).as("the lock of the thread").isEmpty();
		handle.close();
		assertThat(Patience.get(this.lock.tryAcquireAsync(LockRequest.of("a")), "a lock")).isPresent();
		assertThat(this.lock.executeAsync(LockRequest.of("a"), () -> CompletableFuture.completedFuture("done")))
			.succeedsWithin(Patience.PATIENCE)
			.isEqualTo("done");
		assertThat(this.lock.acquireAsync(LockRequest.of("a").fenced(true))).isCompletedExceptionally();
	}

	static class TwoStores {

		private final DistributedLock lock;

		private final LockAdmin admin;

		TwoStores(@Qualifier("jdbcLock") DistributedLock lock, @Qualifier("redisLock") LockAdmin admin) {
			this.lock = lock;
			this.admin = admin;
		}

	}

	static class Statement {

		@io.github.distributedlock.annotation.DistributedLock(key = "statement:#{#account}")
		public boolean isHeld(String account) {
			LockHandle current = LockHandle.current().orElseThrow();
			current.checkHeld();
			return current.isHeld();
		}

		@io.github.distributedlock.annotation.DistributedLock(key = "statement:#{#account}")
		public Mono<List<String>> keys(String account) {
			return Mono.deferContextual((context) -> Mono.just(LockContext.current(context).orElseThrow().keys()))
				.delaySubscription(Duration.ofMillis(1));
		}

		@io.github.distributedlock.annotation.DistributedLock(key = "statement:#{#account}", fenced = true)
		public void write(String account) {
		}

	}

}
