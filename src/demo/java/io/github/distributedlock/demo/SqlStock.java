package io.github.distributedlock.demo;

import org.springframework.context.annotation.Profile;
import org.springframework.jdbc.core.JdbcTemplate;
import org.springframework.stereotype.Component;

/**
 * The stock in PostgreSQL. Each statement is a transaction.
 */
@Component
@Profile(Server.POSTGRESQL)
class SqlStock implements Stock {

	static final String TABLE = "create table stock (sku text, seller text, units int, primary key (sku, seller))";

	private static final String INSERT = "insert into stock values (?, ?, ?) on conflict (sku, seller) do update set units = ";

	private static final String NOBODY = "";

	private final JdbcTemplate database;

	SqlStock(JdbcTemplate database) {
		this.database = database;
	}

	@Override
	public int left(String sku) {
		return sold(sku, NOBODY);
	}

	@Override
	public void leave(String sku, int left) {
		this.database.update(INSERT + "excluded.units", sku, NOBODY, left);
	}

	@Override
	public void recordSale(String sku, String seller) {
		this.database.update(INSERT + "stock.units + 1", sku, seller, 1);
	}

	@Override
	public int sold(String sku, String seller) {
		return this.database
			.queryForList("select units from stock where sku = ? and seller = ?", Integer.class, sku, seller)
			.stream()
			.findAny()
			.orElse(0);
	}

}
