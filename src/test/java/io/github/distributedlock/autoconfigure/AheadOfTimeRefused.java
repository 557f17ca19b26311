package io.github.distributedlock.autoconfigure;

import io.github.distributedlock.annotation.DistributedLock;
import io.github.distributedlock.fixtures.NoDatabase;

import org.springframework.boot.WebApplicationType;
import org.springframework.boot.builder.SpringApplicationBuilder;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.Import;

/**
 * An application that may be processed ahead of time, but must not start.
 */
@Configuration(proxyBeanMethods = false)
@Import({ NoDatabase.class, AheadOfTimeRefused.Till.class })
public class AheadOfTimeRefused {

	public static void main(String[] arguments) {
		new SpringApplicationBuilder(AheadOfTimeRefused.class).web(WebApplicationType.NONE).run(arguments);
	}

	/**
	 * A bean with an annotation that cannot work.
	 */
	static class Till {

		@DistributedLock(key = "'stock:' + #article")
		void sell(String sku) {
		}

	}

}
