package io.github.distributedlock.docs;

// tag::fencing[]
import java.util.function.Supplier;

import io.github.distributedlock.LockHandle;
import io.github.distributedlock.annotation.DistributedLock;

import org.springframework.dao.OptimisticLockingFailureException;
import org.springframework.jdbc.core.JdbcTemplate;
import org.springframework.stereotype.Service;

@Service
public class Statements {

	private final JdbcTemplate database;

	public Statements(JdbcTemplate database) {
		this.database = database;
	}

	@DistributedLock(key = "statement:#{#account}", fenced = true)
	public void write(String account, Supplier<String> content) {
		long token = LockHandle.current().orElseThrow().fencingToken().orElseThrow();
		int written = this.database.update(
				"UPDATE statement SET content = ?, token = ? WHERE account = ? AND token < ?", content.get(), token,
				account, token);
		if (written == 0) {
			throw new OptimisticLockingFailureException("Somebody with a later lock has written " + account);
		}
	}

}
// end::fencing[]
