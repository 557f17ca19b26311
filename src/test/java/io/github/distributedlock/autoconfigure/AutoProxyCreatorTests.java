package io.github.distributedlock.autoconfigure;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

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
	@ValueSource(strings = { "true", "false" })
	void makesClassProxiesWhateverAopAutoSays(String auto) {
		this.contextRunner.withPropertyValues("spring.aop.auto=" + auto).run((context) -> {
			assertThat(context.getBean(Greeter.class).heldKeys()).containsExactly("greeting");
			assertThat(AopUtils.isCglibProxy(context.getBean(Greeting.class))).isTrue();
		});
	}

	@ParameterizedTest
	@ValueSource(strings = { "true", "false" })
	void makesInterfaceProxiesWhateverAopAutoSays(String auto) {
		this.contextRunner.withPropertyValues("spring.aop.auto=" + auto, "spring.aop.proxy-target-class=false")
			.run((context) -> {
				assertThat(context.getBean(Greeting.class).heldKeys()).containsExactly("greeting");
				assertThat(AopUtils.isJdkDynamicProxy(context.getBean(Greeting.class))).isTrue();
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
