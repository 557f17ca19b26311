package io.github.distributedlock.autoconfigure;

import io.github.distributedlock.annotation.DistributedLock;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;

import org.springframework.boot.autoconfigure.ImportAutoConfiguration;
import org.springframework.boot.test.system.CapturedOutput;
import org.springframework.boot.test.system.OutputCaptureExtension;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Tests for {@link InjectedAnnotationFailureAnalyzer}.
 */
@ExtendWith(OutputCaptureExtension.class)
class InjectedAnnotationFailureAnalyzerTests {

	@Test
	void namesTheTypeOfTheBean(CapturedOutput output) {
		assertThat(FailedStart.report(output, WrongImport.class, "distributed-lock.backend=memory"))
			.contains("Parameter 0 of method needsLock in " + WrongImport.class.getName())
			.contains("asks for a bean of the type io.github.distributedlock.annotation.DistributedLock,"
					+ " which is the annotation.")
			.contains("Inject io.github.distributedlock.DistributedLock instead: correct the import,");
	}

	@Test
	void leavesOtherBeansToSpringBoot(CapturedOutput output) {
		assertThat(FailedStart.report(output, NoSuchBean.class, "distributed-lock.backend=memory"))
			.contains("required a bean of type '" + Greeter.class.getName() + "' that could not be found");
	}

	@Configuration(proxyBeanMethods = false)
	@ImportAutoConfiguration(DistributedLockAutoConfiguration.class)
	static class WrongImport {

		@Bean
		String needsLock(DistributedLock lock) {
			return "never";
		}

	}

	@Configuration(proxyBeanMethods = false)
	@ImportAutoConfiguration(DistributedLockAutoConfiguration.class)
	static class NoSuchBean {

		@Bean
		String needsGreeter(Greeter greeter) {
			return "never";
		}

	}

}
