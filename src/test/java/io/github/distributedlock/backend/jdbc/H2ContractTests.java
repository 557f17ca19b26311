package io.github.distributedlock.backend.jdbc;

import java.util.UUID;

import javax.sql.DataSource;

import io.github.distributedlock.backend.LockBackend;
import io.github.distributedlock.tck.LockBackendContractTests;
import org.h2.jdbcx.JdbcConnectionPool;
import org.springframework.core.io.ClassPathResource;
import org.springframework.jdbc.datasource.init.ResourceDatabasePopulator;

/**
 * Locks in H2 keep the contract of every store.
 */
class H2ContractTests extends LockBackendContractTests {

	@Override
	protected LockBackend backend(String store) {
		DataSource database = JdbcConnectionPool.create("jdbc:h2:mem:" + UUID.randomUUID() + ";DB_CLOSE_DELAY=-1", "sa",
				"");
		new ResourceDatabasePopulator(new ClassPathResource("schema-h2.sql", JdbcLockBackend.class)).execute(database);
		return new JdbcLockBackend(database, JdbcLockSettings.defaults());
	}

	@Override
	protected boolean knowsWhoHears() {
		return false;
	}

}
