package io.github.distributedlock.engine;

import java.util.concurrent.Callable;

import io.github.distributedlock.LockHandle;
import io.github.distributedlock.LockRequest;
import io.github.distributedlock.backend.memory.InMemoryLockBackend;
import io.github.distributedlock.fixtures.Patience;
import io.netty.util.concurrent.DefaultThreadFactory;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import reactor.core.publisher.Mono;
import reactor.core.scheduler.Scheduler;
import reactor.core.scheduler.Schedulers;

import org.springframework.boot.test.system.CapturedOutput;
import org.springframework.boot.test.system.OutputCaptureExtension;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * A request that blocks a thread of an event loop is told of.
 */
@ExtendWith(OutputCaptureExtension.class)
class EventLoopsTests {

	private final LockEngine engine = LockEngine.builder(new InMemoryLockBackend()).build();

	private final Scheduler scheduler = Schedulers.newParallel("loop", 1);

	@AfterEach
	void stop() {
		this.scheduler.dispose();
		this.engine.close();
	}

	@Test
	void reactorsThread(CapturedOutput output) {
		onLoop(() -> acquire("Orders.pay"));
		assertThat(output).contains("Lock [k] is asked for on thread loop-")
			.contains("which serves many and must not block")
			.contains("acquireAsync")
			.contains("once for requests of name 'Orders.pay'");
	}

	@Test
	void onceForEachName(CapturedOutput output) {
		onLoop(() -> acquire("Orders.pay"));
		onLoop(() -> acquire("Orders.pay"));
		onLoop(() -> acquire("Orders.cancel"));
		assertThat(output.toString().split("which serves many", -1)).hasSize(3);
	}

	@Test
	void nettysThread(CapturedOutput output) {
		Thread thread = new DefaultThreadFactory("netty").newThread(() -> acquire("Orders.pay"));
		thread.start();
		Patience.join(thread);
		assertThat(output).contains("on thread netty-");
	}

	@Test
	void othersAndThoseThatDoNotBlock(CapturedOutput output) {
		acquire("a");
		onLoop(() -> this.engine.acquireAsync(LockRequest.of("k").name("b")).thenCompose(LockHandle::closeAsync));
		onLoop(() -> Mono.fromCallable(() -> acquire("c")).subscribeOn(Schedulers.boundedElastic()).toFuture());
		assertThat(output).doesNotContain("which serves many");
	}

	private Void acquire(String name) {
		this.engine.acquire(LockRequest.of("k").name(name)).close();
		return null;
	}

	private void onLoop(Callable<?> task) {
		Patience.get(Mono.fromCallable(() -> String.valueOf(task.call())).subscribeOn(this.scheduler).toFuture(),
				"a thread of the loop");
	}

}
