package io.github.distributedlock.autoconfigure;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

import org.springframework.aop.support.AopUtils;
import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Tests for {@link AdviceConfiguration.AutoProxyCreator}.
 */
class AutoProxyCreatorTests {

	private final ApplicationContextRunner contextRunner = Contexts.inMemory().withBean(Greeter.class);

	@ParameterizedTest
	@CsvSource({ "true, true", "true, false", "false, true", "false, false" })
	void makesProxiesWhateverAopAutoSays(boolean auto, boolean classProxies) {
		this.contextRunner
			.withPropertyValues("spring.aop.auto=" + auto, "spring.aop.proxy-target-class=" + classProxies)
			.run((context) -> {
				assertThat(context.getBean(Greeting.class).heldKeys()).containsExactly("greeting");
				assertThat(AopUtils.isCglibProxy(context.getBean(Greeting.class))).isEqualTo(classProxies);
			});
	}

	@Test
	void doesWithoutTheAopAutoConfiguration() {
		new ApplicationContextRunner().withConfiguration(AutoConfigurations.of(DistributedLockAutoConfiguration.class))
			.withPropertyValues("distributed-lock.backend=memory")
			.withBean(Greeter.class)
			.run((context) -> assertThat(context.getBean(Greeter.class).heldKeys()).containsExactly("greeting"));
	}

}
