package io.github.distributedlock.autoconfigure;

import io.github.distributedlock.OnLost;
import io.github.distributedlock.annotation.DistributedLock;

import org.springframework.jdbc.core.JdbcTemplate;
import org.springframework.transaction.annotation.Transactional;

/**
 * Writes lines to a real database, in methods that do not know what happens to their
 * lock.
 */
class Ledger {

	static final String KEY = "ledger";

	private final JdbcTemplate database;

	Ledger(JdbcTemplate database) {
		this.database = database;
		this.database.execute("CREATE TABLE IF NOT EXISTS ledger (line VARCHAR(40))");
	}

	@DistributedLock(key = "'ledger'", onLost = OnLost.THROW)
	@Transactional
	public void writeInTransaction(String line, Runnable meanwhile) {
		insert(line);
		meanwhile.run();
	}

	@DistributedLock(key = "'ledger'")
	@Transactional
	public void writeInTransactionAndReport(String line, Runnable meanwhile) {
		insert(line);
		meanwhile.run();
	}

	@DistributedLock(key = "'ledger'", onLost = OnLost.THROW)
	public void write(String line, Runnable meanwhile) {
		insert(line);
		meanwhile.run();
	}

	@DistributedLock(key = "'ledger'")
	public void writeAndReport(String line, Runnable meanwhile) {
		insert(line);
		meanwhile.run();
	}

	void insert(String line) {
		this.database.update("INSERT INTO ledger VALUES (?)", line);
	}

	boolean has(String line) {
		Integer lines = this.database.queryForObject("SELECT COUNT(*) FROM ledger WHERE line = ?", Integer.class, line);
		return lines != null && lines > 0;
	}

}
