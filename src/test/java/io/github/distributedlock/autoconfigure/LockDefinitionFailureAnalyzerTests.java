package io.github.distributedlock.autoconfigure;

import io.github.distributedlock.LockHandle;
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

	/**
	 * Spring Boot makes subclasses for proxies, also where there is an interface.
	 */
	@Test
	void saysThatAFinalClassHasNoProxyThoughItHasAnInterface(CapturedOutput output) {
		assertThat(FailedStart.report(output, OfAFinalClass.class))
			.containsPattern("FinalReport.run\\(\\): the method is in a final class, so that no proxy can intercept it")
			.containsPattern("Action:\\R\\RRemove final .*, or set spring.aop.proxy-target-class=false, for a proxy of"
					+ " its interfaces");
	}

	@Test
	void aFinalClassIsLockedByItsInterface() {
		Contexts.inMemory()
			.withUserConfiguration(OfAFinalClass.class)
			.withPropertyValues("spring.aop.proxy-target-class=false")
			.run((context) -> {
				context.getBean("finalReport", Runnable.class).run();
				assertThat(context.getBean("finalReport", Runnable.class))
					.isNotInstanceOf(OfAFinalClass.FinalReport.class);
			});
	}

	@Configuration(proxyBeanMethods = false)
	@EnableAutoConfiguration
	@Import(NoDatabase.class)
	static class OfAFinalClass {

		@Bean
		FinalReport finalReport() {
			return new FinalReport();
		}

		static final class FinalReport implements Runnable {

			@DistributedLock
			@Override
			public void run() {
				assertThat(LockHandle.current()).isPresent();
			}

		}

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
