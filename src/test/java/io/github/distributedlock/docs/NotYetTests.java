package io.github.distributedlock.docs;

import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.util.List;
import java.util.concurrent.Flow;

import io.github.distributedlock.LockDefinitionException;
import io.github.distributedlock.annotation.DistributedLock;
import io.github.distributedlock.autoconfigure.DistributedLockAutoConfiguration;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.reactivestreams.Publisher;

import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * What the documents say is not there yet, is not there. A test that fails here means
 * good news, and a line to take out.
 */
class NotYetTests {

	private static final List<String> LINES = Documents.lines(Documents.page("application.md"));

	@ParameterizedTest
	@ValueSource(classes = { Reactive.class, Flowing.class })
	void isRefused(Class<?> type) throws Exception {
		new ApplicationContextRunner().withConfiguration(AutoConfigurations.of(DistributedLockAutoConfiguration.class))
			.withPropertyValues("distributed-lock.backend=memory")
			.withBean(type)
			.run((context) -> assertThat(context).getFailure()
				.rootCause()
				.isInstanceOf(LockDefinitionException.class)
				.hasMessageContaining("the lock would be released before that is done"));
		String told = type.getAnnotation(Told.class).value();
		assertThat(LINES.subList(LINES.indexOf("## What is refused"), LINES.size()))
			.anyMatch((line) -> line.contains(told));
	}

	@Retention(RetentionPolicy.RUNTIME)
	@interface Told {

		String value();

	}

	@Told("`Publisher`")
	static class Reactive {

		@DistributedLock
		Publisher<String> work() {
			return (subscriber) -> {
			};
		}

	}

	@Told("`Flow`")
	static class Flowing {

		@DistributedLock
		Flow.Publisher<String> work() {
			return (subscriber) -> {
			};
		}

	}

}
