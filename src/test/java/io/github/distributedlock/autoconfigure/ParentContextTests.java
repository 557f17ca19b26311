package io.github.distributedlock.autoconfigure;

import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;

import io.github.distributedlock.DistributedLock;
import io.github.distributedlock.LockEvent;
import io.github.distributedlock.LockHandle;
import io.github.distributedlock.LockListener;
import io.github.distributedlock.aop.DistributedLockAdvisor;
import io.github.distributedlock.backend.memory.InMemoryLockBackend;
import io.github.distributedlock.engine.LockEngine;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

import org.springframework.aop.config.AopConfigUtils;
import org.springframework.aop.framework.Advised;
import org.springframework.aop.framework.autoproxy.DefaultAdvisorAutoProxyCreator;
import org.springframework.beans.factory.BeanFactory;
import org.springframework.beans.factory.ObjectProvider;
import org.springframework.beans.factory.config.BeanFactoryPostProcessor;
import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.test.context.assertj.AssertableApplicationContext;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.core.env.Environment;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Tests for a child context whose parent has the auto-configuration, too.
 */
class ParentContextTests {

	private final List<LockEvent> heard = new CopyOnWriteArrayList<>();

	private final ApplicationContextRunner parent = Contexts.inMemory()
		.withPropertyValues("tenant=of-parent")
		.withBean("owner", String.class, () -> "parent")
		.withBean(LockListener.class, () -> this.heard::add);

	@Test
	void keysOfTheParentSeeItsOwn() {
		this.parent.withBean(Orders.class).run((parent) -> childOf(parent).run((child) -> {
			assertThat(parent.getBean(Orders.class).heldKeys()).containsExactly("of-parent:parent");
			assertThat(child.getBean(Orders.class).heldKeys()).containsExactly("of-child:child");
		}));
	}

	@Test
	void childLocksWithTheEngineOfTheParentAndOnce() {
		this.parent.run((parent) -> childOf(parent).run((child) -> {
			assertThat(child.getBean(DistributedLock.class)).isSameAs(parent.getBean(LockEngine.class));
			child.getBean(Orders.class).heldKeys();
			assertThat(this.heard).hasSize(2);
			assertLockedOnce(child);
		}));
	}

	@Test
	void aProxyWithAllAdvisorsLocksOnce() {
		this.parent.run((parent) -> childOf(parent).withUserConfiguration(AllAdvisors.class)
			.run(ParentContextTests::assertLockedOnce));
	}

	@ParameterizedTest
	@ValueSource(classes = { Plain.class, AllAdvisors.class })
	void anAdvisorOfTheUserInTheParentLocksNothingOfTheChild(Class<?> proxies) {
		this.parent.withUserConfiguration(OwnAdvisor.class)
			.run((parent) -> childOf(parent).withUserConfiguration(proxies).run(ParentContextTests::assertLockedOnce));
	}

	@ParameterizedTest
	@ValueSource(classes = { Plain.class, AllAdvisors.class })
	void anAdvisorOfTheUserInTheChildLocksOnce(Class<?> proxies) {
		this.parent.run((parent) -> childOf(parent).withUserConfiguration(proxies, OwnAdvisor.class)
			.run(ParentContextTests::assertLockedOnce));
	}

	@Test
	void aLockOfTheChildComesFirst() {
		this.parent.run((parent) -> {
			try (LockEngine own = LockEngine.builder(new InMemoryLockBackend()).build()) {
				childOf(parent).withBean("own", DistributedLock.class, () -> own).run((child) -> {
					assertThat(child.getBean(Orders.class).heldKeys()).containsExactly("of-child:child");
					assertThat(this.heard).isEmpty();
				});
			}
		});
	}

	private ApplicationContextRunner childOf(AssertableApplicationContext parent) {
		return new ApplicationContextRunner()
			.withConfiguration(AutoConfigurations.of(DistributedLockAutoConfiguration.class))
			.withPropertyValues("distributed-lock.backend=memory")
			.withInitializer((context) -> context.setParent(parent.getSourceApplicationContext()))
			.withBean(Orders.class)
			.withBean("owner", String.class, () -> "child")
			.withPropertyValues("tenant=of-child");
	}

	private static void assertLockedOnce(AssertableApplicationContext child) {
		Orders orders = child.getBean(Orders.class);
		assertThat(orders.heldKeys()).containsExactly("of-child:child");
		assertThat(((Advised) orders).getAdvisors()).filteredOn(DistributedLockAdvisor.class::isInstance).hasSize(1);
	}

	@Configuration(proxyBeanMethods = false)
	static class Plain {

	}

	/**
	 * An auto-proxy creator that uses all advisors of the parent, as AspectJ's does.
	 */
	@Configuration(proxyBeanMethods = false)
	static class AllAdvisors {

		@Bean
		static BeanFactoryPostProcessor allAdvisors() {
			return (beanFactory) -> beanFactory.getBeanDefinition(AopConfigUtils.AUTO_PROXY_CREATOR_BEAN_NAME)
				.setBeanClassName(DefaultAdvisorAutoProxyCreator.class.getName());
		}

	}

	@Configuration(proxyBeanMethods = false)
	static class OwnAdvisor {

		@Bean
		DistributedLockAdvisor ownAdvisor(ObjectProvider<DistributedLock> lock, BeanFactory beanFactory,
				Environment environment) {
			return new DistributedLockAdvisor((store) -> lock.getObject(), beanFactory, environment);
		}

	}

	static class Orders {

		@io.github.distributedlock.annotation.DistributedLock(key = "'${tenant}:' + @owner")
		public List<String> heldKeys() {
			return LockHandle.current().map(LockHandle::keys).orElse(List.of());
		}

	}

}
