package io.github.distributedlock.aop;

import java.io.IOException;
import java.util.Optional;
import java.util.concurrent.atomic.AtomicInteger;

import io.github.distributedlock.LockHandle;
import io.github.distributedlock.LockNotAcquiredException;
import io.github.distributedlock.annotation.DistributedLock;
import org.junit.jupiter.api.Test;

import org.springframework.aop.framework.ProxyFactory;
import org.springframework.beans.factory.BeanCreationException;
import org.springframework.beans.factory.support.StaticListableBeanFactory;
import org.springframework.core.env.StandardEnvironment;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

/**
 * The way of a call: lock, method, release.
 */
class InterceptionTests extends AdvisedFixture<InterceptionTests.Service> {

	InterceptionTests() {
		super(Service.class);
	}

	@Test
	void methodRunsInsideTheLock() {
		this.service.run(() -> {
			assertThat(this.events).containsExactly("acquire");
			assertThat(LockHandle.current()).map(LockHandle::keys).hasValue(this.lock.keys());
		});
		assertThat(this.events).containsExactly("acquire", "release");
		assertThat(LockHandle.current()).isEmpty();
	}

	@Test
	void exceptionOfTheMethodIsUnchangedAndReleases() {
		IOException thrown = new IOException("mine");
		assertThatThrownBy(() -> this.service.fail(thrown)).isSameAs(thrown).hasNoSuppressedExceptions();
		assertThat(this.events).containsExactly("acquire", "release");
		this.lock.failureOnClose = new IllegalStateException("theirs");
		assertThatThrownBy(() -> this.service.fail(thrown)).isSameAs(thrown)
			.hasSuppressedException(this.lock.failureOnClose);
	}

	@Test
	void busyLockIsThrownAndTheMethodDoesNotRun() {
		this.lock.busy = true;
		assertThatExceptionOfType(LockNotAcquiredException.class).isThrownBy(() -> this.service.run(() -> {
			throw new AssertionError("ran unlocked");
		}));
	}

	@Test
	void lockIsAskedForAtTheFirstCallAndOnce() {
		AtomicInteger asked = new AtomicInteger();
		DistributedLockAdvisor advisor = new DistributedLockAdvisor((store) -> {
			asked.incrementAndGet();
			return new RecordingLock();
		}, new StaticListableBeanFactory(), new StandardEnvironment());
		ProxyFactory proxy = new ProxyFactory(new Service());
		proxy.addAdvisor(advisor);
		Service service = (Service) proxy.getProxy();
		assertThat(asked).hasValue(0);
		service.run(() -> {
		});
		service.run(() -> {
		});
		assertThat(asked).hasValue(1);
	}

	@Test
	void wrongDefinitionEndsTheStartAndSaysWhichBean() {
		assertThatExceptionOfType(BeanCreationException.class).isThrownBy(() -> AdvisorContext.of(Wrong.class))
			.withMessageContainingAll("Error creating bean with name",
					"@DistributedLock on " + Wrong.class.getName() + ".run(): key = \"word\"");
	}

	@Test
	void advisorHasItsOrderAndTakesAnother() {
		DistributedLockAdvisor advisor = new DistributedLockAdvisor((store) -> new RecordingLock(),
				new StaticListableBeanFactory(), new StandardEnvironment());
		assertThat(advisor.getOrder()).isEqualTo(Integer.MAX_VALUE - 1000);
		advisor.setOrder(5);
		assertThat(advisor.getOrder()).isEqualTo(5);
	}

	static class Service {

		@DistributedLock
		public void run(Runnable action) {
			action.run();
		}

		@DistributedLock
		public Optional<String> fail(IOException failure) throws IOException {
			throw failure;
		}

	}

	static class Wrong {

		@DistributedLock(key = "word")
		public void run() {
		}

	}

}
