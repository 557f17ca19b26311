package io.github.distributedlock.docs;

// tag::mocks[]
import java.time.Duration;
import java.util.List;

import io.github.distributedlock.DistributedLock;
import io.github.distributedlock.LockHandle;
import io.github.distributedlock.LockNotAcquiredException;
import io.github.distributedlock.LockRequest;
import org.junit.jupiter.api.Test;

import org.springframework.beans.factory.annotation.Autowired;
import org.springframework.boot.test.context.SpringBootTest;
import org.springframework.test.context.bean.override.mockito.MockitoBean;
import org.springframework.test.util.AopTestUtils;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.mockito.ArgumentMatchers.any;
import static org.mockito.BDDMockito.given;
import static org.mockito.Mockito.mock;
import static org.mockito.Mockito.verify;
import static org.mockito.Mockito.verifyNoInteractions;

@SpringBootTest(properties = "distributed-lock.backend=memory")
class MockedOrdersTests {

	@MockitoBean
	private DistributedLock lock;

	@Autowired
	private Orders orders;

	@Test
	void releasesTheLock() {
		LockHandle handle = mock();
		given(this.lock.acquire(any(LockRequest.class))).willReturn(handle);
		assertThat(this.orders.pay(new Orders.Order("7"))).isEqualTo("paid 7");
		verify(handle).close();
	}

	@Test
	void doesNotPayWithoutTheLock() {
		given(this.lock.acquire(any(LockRequest.class)))
			.willThrow(new LockNotAcquiredException("busy", List.of("order:7"), Duration.ofSeconds(5), null));
		assertThatExceptionOfType(LockNotAcquiredException.class)
			.isThrownBy(() -> this.orders.pay(new Orders.Order("7")));
	}

	// The object behind the proxy takes no lock.
	@Test
	void pays() {
		Orders unlocked = AopTestUtils.getTargetObject(this.orders);
		assertThat(unlocked.pay(new Orders.Order("7"))).isEqualTo("paid 7");
		verifyNoInteractions(this.lock);
	}

}
// end::mocks[]
