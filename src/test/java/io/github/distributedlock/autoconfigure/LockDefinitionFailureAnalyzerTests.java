package io.github.distributedlock.autoconfigure;

import io.github.distributedlock.annotation.DistributedLock;
import io.github.distributedlock.fixtures.NoDatabase;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;

import org.springframework.boot.autoconfigure.EnableAutoConfiguration;
import org.springframework.boot.test.system.CapturedOutput;
import org.springframework.boot.test.system.OutputCaptureExtension;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.Import;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Tests for {@link LockDefinitionFailureAnalyzer}.
 */
@ExtendWith(OutputCaptureExtension.class)
class LockDefinitionFailureAnalyzerTests {

	@Test
	void saysWhichAnnotationIsWrongAndWhatToWrite(CapturedOutput output) {
		assertThat(FailedStart.report(output, BareWord.class)).contains("BareWord$Report.write")
			.contains("nightly-report")
			.containsPattern("reads the word nightly as a property of nothing\\R")
			.containsPattern("Action:\\R\\RWrite fixed text in quotes, .*'nightly-report'")
			.contains("The application does not start");
	}

	@Configuration(proxyBeanMethods = false)
	@EnableAutoConfiguration
	@Import(NoDatabase.class)
	static class BareWord {

		@Bean
		Report report() {
			return new Report();
		}

		static class Report {

			@DistributedLock("nightly-report")
			void write() {
			}

		}

	}

}
