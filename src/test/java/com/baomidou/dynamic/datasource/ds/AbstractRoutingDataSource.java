package com.baomidou.dynamic.datasource.ds;

import java.sql.Connection;
import java.sql.SQLException;

import javax.sql.DataSource;

import org.springframework.jdbc.datasource.AbstractDataSource;

/**
 * Has the name of the class that Baomidou's router extends, and its superclass.
 */
public class AbstractRoutingDataSource extends AbstractDataSource {

	private final DataSource chosen;

	public AbstractRoutingDataSource(DataSource chosen) {
		this.chosen = chosen;
	}

	@Override
	public Connection getConnection() throws SQLException {
		return this.chosen.getConnection();
	}

	@Override
	public Connection getConnection(String username, String password) throws SQLException {
		return this.chosen.getConnection(username, password);
	}

}
