package io.github.distributedlock.backend.jdbc;

import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Proxy;
import java.sql.Connection;
import java.sql.SQLException;

import javax.sql.DataSource;

import org.springframework.jdbc.datasource.DelegatingDataSource;

/**
 * Objects of a driver whose calls a test sees, answers in place of the driver, or fails.
 */
final class Watched {

	private Watched() {
	}

	/**
	 * Sees a call before the driver does.
	 */
	interface Watch {

		void call(String method, Object[] arguments) throws SQLException;

	}

	/**
	 * Answers a call, or lets the driver answer by returning {@code null}.
	 */
	interface Answer {

		Object instead(String method, Object[] arguments) throws SQLException;

	}

	/**
	 * Answers a call on a connection.
	 */
	interface ConnectionAnswer {

		Object instead(Connection connection, String method, Object[] arguments) throws SQLException;

	}

	static DataSource connections(DataSource pool, Watch watch) {
		return connections(pool, (connection, method, arguments) -> {
			watch.call(method, arguments);
			return null;
		});
	}

	static DataSource connections(DataSource pool, ConnectionAnswer answer) {
		return new DelegatingDataSource(pool) {

			@Override
			public Connection getConnection() throws SQLException {
				Connection connection = super.getConnection();
				return object(Connection.class, connection,
						(method, arguments) -> answer.instead(connection, method, arguments));
			}

		};
	}

	static <T> T object(Class<T> type, T target, Answer answer) {
		return type
			.cast(Proxy.newProxyInstance(type.getClassLoader(), new Class<?>[] { type }, (proxy, method, arguments) -> {
				Object instead = answer.instead(method.getName(), arguments);
				try {
					return (instead != null) ? instead : method.invoke(target, arguments);
				}
				catch (InvocationTargetException ex) {
					throw ex.getCause();
				}
			}));
	}

}
