package io.github.distributedlock.backend.jdbc;

import java.net.URL;
import java.net.URLClassLoader;
import java.sql.SQLException;

import io.github.distributedlock.fixtures.Patience;
import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Tests for {@link Calls}.
 */
class CallsTests {

	@Test
	void callInheritsNothingOfWhoMakesIt() throws SQLException {
		InheritableThreadLocal<String> tenant = new InheritableThreadLocal<>();
		tenant.set("alice");
		ClassLoader before = Thread.currentThread().getContextClassLoader();
		Thread.currentThread().setContextClassLoader(new URLClassLoader(new URL[0], before));
		try (Calls calls = new Calls(Patience.COMMAND)) {
			String seen = calls.call("look", 1,
					() -> tenant.get() + " " + Thread.currentThread().getContextClassLoader(), (late) -> {
					});
			assertThat(seen).isEqualTo("null " + Calls.class.getClassLoader());
		}
		finally {
			Thread.currentThread().setContextClassLoader(before);
			tenant.remove();
		}
	}

}
