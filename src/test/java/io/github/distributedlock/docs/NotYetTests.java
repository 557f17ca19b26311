package io.github.distributedlock.docs;

import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.util.List;

import io.github.distributedlock.LockDefinitionException;
import io.github.distributedlock.LockMode;
import io.github.distributedlock.annotation.DistributedLock;
import io.github.distributedlock.autoconfigure.DistributedLockAutoConfiguration;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * What the README says is not there yet, is not there. A test that fails here means good
 * news, and a line of the README to take out.
 */
class NotYetTests {

	private static final List<String> LINES = Readme.lines();

	@ParameterizedTest
	@ValueSource(classes = { Shared.class, Fair.class })
	void isRefused(Class<?> type) throws Exception {
		new ApplicationContextRunner().withConfiguration(AutoConfigurations.of(DistributedLockAutoConfiguration.class))
			.withPropertyValues("distributed-lock.backend=memory")
			.withBean(type)
			.run((context) -> assertThat(context).getFailure()
				.rootCause()
				.isInstanceOf(LockDefinitionException.class)
				.hasMessageContaining("not supported yet"));
		String told = type.getAnnotation(Told.class).value();
		assertThat(LINES.subList(LINES.indexOf("## Not yet"), LINES.size())).anyMatch((line) -> line.contains(told));
	}

	@Retention(RetentionPolicy.RUNTIME)
	@interface Told {

		String value();

	}

	@Told("`mode = LockMode.SHARED`")
	static class Shared {

		@DistributedLock(mode = LockMode.SHARED)
		void work() {
		}

	}

	@Told("`fair`")
	static class Fair {

		@DistributedLock(fair = true)
		void work() {
		}

	}

}
