package io.github.distributedlock.autoconfigure;

import java.util.List;

import io.github.distributedlock.LockHandle;
import io.github.distributedlock.annotation.DistributedLock;
import io.github.distributedlock.fixtures.NoDatabase;

import org.springframework.aot.AotDetector;
import org.springframework.boot.WebApplicationType;
import org.springframework.boot.builder.SpringApplicationBuilder;
import org.springframework.context.ConfigurableApplicationContext;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.Import;

/**
 * An application that may be processed ahead of time.
 */
@Configuration(proxyBeanMethods = false)
@Import({ NoDatabase.class, AheadOfTime.Till.class })
public class AheadOfTime {

	public static void main(String[] arguments) {
		try (ConfigurableApplicationContext context = new SpringApplicationBuilder(AheadOfTime.class)
			.web(WebApplicationType.NONE)
			.run(arguments)) {
			System.out.println("ahead of time: " + AotDetector.useGeneratedArtifacts() + ", held: "
					+ context.getBean(Till.class).sell("A1"));
		}
	}

	/**
	 * A bean with an annotated method.
	 */
	static class Till {

		@DistributedLock(key = "'stock:' + #sku", waitTime = "${till.patience:5s}")
		List<String> sell(String sku) {
			return LockHandle.current().map(LockHandle::keys).orElse(List.of());
		}

	}

}
