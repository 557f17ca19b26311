package io.github.distributedlock.backend.jdbc;

import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.SQLException;

import io.github.distributedlock.fixtures.ChildJvm;

/**
 * A JVM that serves a file of H2 to others, until somebody ends the JVM. Its argument is
 * the address of the database.
 */
final class H2Jvm {

	private H2Jvm() {
	}

	public static void main(String[] arguments) throws SQLException, InterruptedException {
		try (Connection connection = DriverManager.getConnection(arguments[0])) {
			connection.createStatement().execute(Platform.H2.schema("distributed_lock"));
			System.out.println("serves");
			ChildJvm.awaitLine();
		}
	}

}
