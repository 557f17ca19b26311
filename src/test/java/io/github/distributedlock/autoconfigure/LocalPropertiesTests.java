package io.github.distributedlock.autoconfigure;

import java.util.List;
import java.util.Properties;

import io.github.distributedlock.LockHandle;
import io.github.distributedlock.annotation.DistributedLock;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

import org.springframework.beans.factory.annotation.Value;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.context.support.PropertySourcesPlaceholderConfigurer;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Tests for placeholders whose properties only a placeholder configurer has.
 */
class LocalPropertiesTests {

	private final ApplicationContextRunner context = Contexts.inMemory().withBean(Orders.class);

	@ParameterizedTest
	@CsvSource({ "other=us, false, eu", "region=us, false, us", "region=us, true, eu" })
	void keysAndAttributesSeeWhatValueSees(String environment, boolean override, String region) {
		this.context.withPropertyValues(environment)
			.withBean("region", PropertySourcesPlaceholderConfigurer.class, () -> local(override, "region", "eu"))
			.withBean("wait", PropertySourcesPlaceholderConfigurer.class, () -> local(false, "wait", "3s"))
			.run((context) -> {
				assertThat(context.getBean(Orders.class).region()).isEqualTo(region);
				assertThat(context.getBean(Orders.class).heldKeys()).containsExactly("orders:" + region);
			});
	}

	@Test
	void aPropertyThatIsNowhereStopsTheStart() {
		Contexts.refuses(
				this.context.withPropertyValues("wait=3s")
					.withBean(PropertySourcesPlaceholderConfigurer.class, () -> local(false, "other", "eu")),
				Throwable.class, "Could not resolve placeholder 'region'");
	}

	private static PropertySourcesPlaceholderConfigurer local(boolean override, String name, String value) {
		Properties properties = new Properties();
		properties.setProperty(name, value);
		PropertySourcesPlaceholderConfigurer configurer = new PropertySourcesPlaceholderConfigurer();
		configurer.setProperties(properties);
		configurer.setLocalOverride(override);
		configurer.setIgnoreUnresolvablePlaceholders(true);
		return configurer;
	}

	static class Orders {

		@Value("${region}")
		private String region;

		String region() {
			return this.region;
		}

		@DistributedLock(key = "orders:${region}", waitTime = "${wait}")
		List<String> heldKeys() {
			return LockHandle.current().map(LockHandle::keys).orElse(List.of());
		}

	}

}
