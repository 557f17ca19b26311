package io.github.distributedlock.docs;

// tag::slice[]
import io.github.distributedlock.LockHandle;
import io.github.distributedlock.LockNotAcquiredException;
import io.github.distributedlock.autoconfigure.AutoConfigureDistributedLock;
import io.github.distributedlock.backend.LockBackend;
import io.github.distributedlock.engine.LockEngine;
import org.junit.jupiter.api.Test;

import org.springframework.beans.factory.annotation.Autowired;
import org.springframework.boot.jdbc.test.autoconfigure.JdbcTest;
import org.springframework.context.annotation.Import;

import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

@JdbcTest(properties = "distributed-lock.wait-time=0s")
@AutoConfigureDistributedLock
@Import(Orders.class)
class OrdersSliceTests {

	@Autowired
	private Orders orders;

	@Autowired
	private LockBackend store;

	@Test
	void doesNotPayAnOrderThatAnotherJvmIsPaying() {
		try (LockEngine otherJvm = LockEngine.builder(this.store).build();
				LockHandle held = otherJvm.acquire("order:7")) {
			assertThatExceptionOfType(LockNotAcquiredException.class)
				.isThrownBy(() -> this.orders.pay(new Orders.Order("7")));
		}
	}

}
// end::slice[]
