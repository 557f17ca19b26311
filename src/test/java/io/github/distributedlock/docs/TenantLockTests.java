package io.github.distributedlock.docs;

import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;

import io.github.distributedlock.DistributedLock;
import io.github.distributedlock.ForwardingDistributedLock;
import io.github.distributedlock.LockHandle;
import io.github.distributedlock.LockRequest;
import io.github.distributedlock.autoconfigure.DistributedLockAutoConfiguration;
import io.github.distributedlock.concurrent.JdkLocks;
import io.github.distributedlock.engine.LockEngine;
import org.junit.jupiter.api.Test;

import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Primary;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * A lock of the application around that of the library.
 */
class TenantLockTests {

	private final ApplicationContextRunner application = new ApplicationContextRunner()
		.withConfiguration(AutoConfigurations.of(DistributedLockAutoConfiguration.class))
		.withPropertyValues("distributed-lock.backend=memory", "distributed-lock.adapters.jdk=true")
		.withUserConfiguration(Tenants.class)
		.withBean(Invoices.class);

	@Test
	void allRequestsPassThroughIt() {
		this.application.run((context) -> {
			assertThat(context.getBean(Invoices.class).write()).containsExactly("blue:invoice");
			assertThat(context.getBean(DistributedLock.class)).isInstanceOf(TenantLock.class);
			context.getBean(JdkLocks.class).lock("stock").lock();
			assertThat(context.getBean(LockEngine.class).inspect("blue:stock").heldHere()).isTrue();
			context.getBean(JdkLocks.class).lock("stock").unlock();
			assertThat(context).hasBean("distributedLockLifecycle");
		});
	}

	@Test
	void locksMayBeSwitchedOff() {
		this.application.withPropertyValues("distributed-lock.enabled=false").run((context) -> {
			assertThat(context).hasNotFailed();
			try (LockHandle handle = context.getBean(DistributedLock.class).acquire("stock")) {
				assertThat(handle.keys()).containsExactly("blue:stock");
			}
		});
	}

	/** No configuration, so that no other application of this package finds the bean. */
	static class Tenants {

		// tag::around[]
		@Bean
		@Primary
		TenantLock tenantLock(DistributedLock lock) {
			return new TenantLock(lock);
		}
		// end::around[]

	}

	static class Invoices {

		@io.github.distributedlock.annotation.DistributedLock(key = "'invoice'")
		public List<String> write() {
			return LockHandle.current().orElseThrow().keys();
		}

	}

	static class TenantLock extends ForwardingDistributedLock {

		TenantLock(DistributedLock lock) {
			super(lock);
		}

		private static LockRequest ofTenant(LockRequest request) {
			return request.keys(request.keys().stream().map("blue:"::concat).toList());
		}

		@Override
		public LockHandle acquire(LockRequest request) {
			return super.acquire(ofTenant(request));
		}

		@Override
		public Optional<LockHandle> tryAcquire(LockRequest request) {
			return super.tryAcquire(ofTenant(request));
		}

		@Override
		public CompletableFuture<LockHandle> acquireAsync(LockRequest request) {
			return super.acquireAsync(ofTenant(request));
		}

		@Override
		public CompletableFuture<Optional<LockHandle>> tryAcquireAsync(LockRequest request) {
			return super.tryAcquireAsync(ofTenant(request));
		}

	}

}
