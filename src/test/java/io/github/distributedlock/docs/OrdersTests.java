package io.github.distributedlock.docs;

import java.util.List;

// tag::testing[]
import io.github.distributedlock.LockHandle;
import io.github.distributedlock.LockNotAcquiredException;
import io.github.distributedlock.backend.LockBackend;
import io.github.distributedlock.engine.LockEngine;
import org.junit.jupiter.api.Test;

import org.springframework.beans.factory.annotation.Autowired;
import org.springframework.boot.test.context.SpringBootTest;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

@SpringBootTest(properties = { "distributed-lock.backend=memory", "distributed-lock.wait-time=0s" })
class OrdersTests {

	@Autowired
	private Orders orders;

	@Autowired
	private LockBackend store;

	@Test
	void paysAnOrderThatNobodyElsePays() {
		assertThat(this.orders.pay(new Orders.Order("7"))).isEqualTo("paid 7");
	}

	@Test
	void doesNotPayAnOrderThatAnotherJvmIsPaying() {
		try (LockEngine otherJvm = LockEngine.builder(this.store).build();
				LockHandle held = otherJvm.acquire("order:7")) {
			assertThatExceptionOfType(LockNotAcquiredException.class)
				.isThrownBy(() -> this.orders.pay(new Orders.Order("7")));
		}
	}

	// end::testing[]

	private LockEngine anotherJvm() {
		return LockEngine.builder(this.store).application("other").build();
	}

	@Test
	void locksBothAccounts() {
		try (LockEngine otherJvm = anotherJvm()) {
			for (String account : new String[] { "account:a", "account:b" }) {
				try (LockHandle held = otherJvm.acquire(account)) {
					assertThatExceptionOfType(LockNotAcquiredException.class)
						.isThrownBy(() -> this.orders.transfer("a", "b"));
				}
			}
		}
		assertThat(this.orders.transfer("a", "b")).isEqualTo("transferred from a to b");
	}

	@Test
	void locksEachElement() {
		try (LockEngine otherJvm = anotherJvm(); LockHandle held = otherJvm.acquire("item:2")) {
			assertThatExceptionOfType(LockNotAcquiredException.class)
				.isThrownBy(() -> this.orders.reserve(List.of("1", "2")));
			assertThat(this.orders.reserve(List.of("1", "3"))).isEqualTo("reserved [1, 3]");
		}
	}

	@Test
	void doesNothingWhileSomebodyDoesIt() {
		try (LockEngine otherJvm = anotherJvm(); LockHandle held = otherJvm.acquire("price-list")) {
			assertThat(this.orders.refreshPrices()).isNull();
		}
		assertThat(this.orders.refreshPrices()).isEqualTo("refreshed");
	}

	@Test
	void anotherMethodAnswersWhileSomebodyDoesIt() {
		try (LockEngine otherJvm = anotherJvm(); LockHandle held = otherJvm.acquire("close:2025")) {
			assertThat(this.orders.close(2025)).isEqualTo("being closed by " + held.owner()).contains("other@");
		}
		assertThat(this.orders.close(2025)).isEqualTo("closed 2025");
	}

	@Test
	void holdsTheLockUntilTheFutureCompletes() {
		try (LockEngine otherJvm = anotherJvm(); LockHandle held = otherJvm.acquire("export")) {
			assertThatExceptionOfType(LockNotAcquiredException.class).isThrownBy(this.orders::export);
		}
		assertThat(this.orders.export()).succeedsWithin(io.github.distributedlock.fixtures.Patience.PATIENCE)
			.isEqualTo("exported");
	}

	// tag::testing[]

}
// end::testing[]
