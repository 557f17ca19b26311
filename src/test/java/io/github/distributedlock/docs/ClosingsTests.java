package io.github.distributedlock.docs;

import javax.sql.DataSource;

import io.github.distributedlock.DistributedLock;
import io.github.distributedlock.LockHandle;
import io.github.distributedlock.LockNotAcquiredException;
import io.github.distributedlock.LockRequest;
import io.github.distributedlock.autoconfigure.Contexts;
import org.junit.jupiter.api.Test;

import org.springframework.jdbc.datasource.embedded.EmbeddedDatabaseBuilder;
import org.springframework.jdbc.datasource.embedded.EmbeddedDatabaseType;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

class ClosingsTests {

	@Test
	void locksInTheDatabase() {
		Contexts.inMemory()
			.withPropertyValues("distributed-lock.backend=memory,jdbc", "distributed-lock.wait-time=0")
			.withBean(Closings.class)
			.withBean("dataSource", DataSource.class,
					() -> new EmbeddedDatabaseBuilder().setType(EmbeddedDatabaseType.H2)
						.generateUniqueName(true)
						.build())
			.run((context) -> {
				Closings closings = context.getBean(Closings.class);
				LockRequest invoice = LockRequest.of("invoice:7").detached(true);
				try (LockHandle elsewhere = context.getBean(DistributedLock.class).acquire(invoice)) {
					assertThat(elsewhere.isHeld()).isTrue();
					assertThat(closings.close("7")).isEqualTo("closed 7");
				}
				try (LockHandle there = context.getBean("jdbcLock", DistributedLock.class).acquire(invoice)) {
					assertThat(there.isHeld()).isTrue();
					assertThatExceptionOfType(LockNotAcquiredException.class).isThrownBy(() -> closings.close("7"));
				}
			});
	}

}
