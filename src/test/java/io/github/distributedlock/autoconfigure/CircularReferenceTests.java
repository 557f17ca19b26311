package io.github.distributedlock.autoconfigure;

import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.stream.Stream;

import io.github.distributedlock.LockDefinitionException;
import io.github.distributedlock.annotation.DistributedLock;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;

import org.springframework.beans.factory.annotation.Autowired;
import org.springframework.beans.factory.config.BeanPostProcessor;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.context.ApplicationListener;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.Import;
import org.springframework.context.annotation.Lazy;
import org.springframework.context.event.ContextRefreshedEvent;
import org.springframework.scheduling.annotation.EnableScheduling;
import org.springframework.scheduling.annotation.Scheduled;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatException;

/**
 * Beans with locks in a circle, where Spring allows that. Spring makes the proxy of such
 * a bean early, and then hands the bean itself to all post-processors.
 */
class CircularReferenceTests {

	private final ApplicationContextRunner contexts = Contexts.inMemory().withAllowCircularReferences(true);

	static Stream<Class<?>> circles() {
		return Stream.of(Circle.class, SelfInjected.class, Job.class, Listener.class);
	}

	@ParameterizedTest
	@MethodSource("circles")
	void beanInACircle(Class<?> circle) {
		this.contexts.withUserConfiguration(circle)
			.run((context) -> assertThat(context).getFailure()
				.rootCause()
				.isInstanceOf(LockDefinitionException.class)
				.hasMessageStartingWith("Bean '")
				.hasMessageContaining(") has methods with @DistributedLock, but it is part of a circle"));
	}

	@Test
	void refusalNamesTheBeanTheCircleAndTheRemedy() {
		this.contexts.withBean("left", Circle.Left.class)
			.withBean("right", Circle.Right.class)
			.run((context) -> assertThat(context).getFailure()
				.rootCause()
				.hasMessage("Bean 'left' (" + Circle.Left.class.getName()
						+ ") has methods with @DistributedLock, but it"
						+ " is part of a circle among the beans that are being created ('left', 'right'). Spring hands"
						+ " a bean of a circle to its scheduler, to listener containers and to other post-processors"
						+ " without the proxy, and the methods would run unlocked (write @Lazy where a bean of the circle is"
						+ " injected, also into itself, or move the methods to a bean outside of the circle)"));
	}

	/**
	 * Listener containers of others register the bean that their post-processor is given.
	 */
	@Test
	void noPostProcessorIsGivenTheBeanWithoutItsProxy() {
		List<Object> given = new CopyOnWriteArrayList<>();
		BeanPostProcessor container = new BeanPostProcessor() {

			@Override
			public Object postProcessAfterInitialization(Object bean, String name) {
				given.add(bean);
				return bean;
			}

		};
		this.contexts.withBean("container", BeanPostProcessor.class, () -> container)
			.withBean("before", Greeter.class)
			.withBean(SelfInjected.class)
			.run((context) -> assertThat(context).hasFailed());
		assertThat(given).isNotEmpty().noneMatch(SelfInjected.class::isInstance);
	}

	@Test
	void productOfAFactoryInACircle() {
		this.contexts.withUserConfiguration(Product.class)
			.run((context) -> assertThat(context).getFailure()
				.rootCause()
				.hasMessageStartingWith("Bean 'greeting' (" + Greeter.class.getName() + ")"));
	}

	@Test
	void lazyBeanInACircleIsRefusedWhenItIsCreated() {
		this.contexts.withUserConfiguration(LazyCircle.class).run((context) -> {
			assertThat(context).hasNotFailed();
			assertThatException().isThrownBy(() -> context.getBean(Circle.Left.class))
				.havingRootCause()
				.isInstanceOf(LockDefinitionException.class);
		});
	}

	@ParameterizedTest
	@ValueSource(classes = { Mended.class, MendedSelf.class })
	void circleThatLazyMends(Class<?> mended) {
		this.contexts.withUserConfiguration(mended)
			.run((context) -> assertThat(context.getBean(Greeting.class).heldKeys()).containsExactly("greeting"));
	}

	@Test
	void circleOfBeansWithoutLocks() {
		this.contexts.withUserConfiguration(Unannotated.class).withBean(Greeter.class).run((context) -> {
			assertThat(context).hasNotFailed();
			assertThat(context.getBean(Greeter.class).heldKeys()).containsExactly("greeting");
		});
	}

	@Configuration(proxyBeanMethods = false)
	@Import({ Circle.Left.class, Circle.Right.class })
	static class Circle {

		static class Left {

			@Autowired
			Right right;

			@DistributedLock(key = "'left'")
			public void run() {
			}

		}

		static class Right {

			@Autowired
			Left left;

		}

	}

	@Configuration(proxyBeanMethods = false)
	static class LazyCircle {

		@Bean
		@Lazy
		Circle.Left left() {
			return new Circle.Left();
		}

		@Bean
		@Lazy
		Circle.Right right() {
			return new Circle.Right();
		}

	}

	static class SelfInjected {

		@Autowired
		SelfInjected self;

		@DistributedLock
		public void run() {
		}

	}

	/**
	 * The scheduler calls the bean that it was handed.
	 */
	@EnableScheduling
	static class Job {

		@Autowired
		Job self;

		@Scheduled(fixedDelay = 3600_000)
		@DistributedLock
		public void run() {
		}

	}

	/**
	 * The multicaster has the bean that it was handed.
	 */
	static class Listener implements ApplicationListener<ContextRefreshedEvent> {

		@Autowired
		Listener self;

		@Override
		@DistributedLock
		public void onApplicationEvent(ContextRefreshedEvent event) {
		}

	}

	/**
	 * Spring does not give the product of a factory in a circle to any post-processor.
	 */
	@Configuration(proxyBeanMethods = false)
	static class Product {

		@Bean
		static GreetingFactory greeting() {
			return new GreetingFactory();
		}

		@Bean
		static Guest guest() {
			return new Guest();
		}

	}

	static class GreetingFactory extends GreeterFactory {

		@Autowired
		Guest guest;

	}

	static class Guest {

		@Autowired
		Greeter greeter;

	}

	@Configuration(proxyBeanMethods = false)
	@Import({ Mended.Left.class, Mended.Right.class })
	static class Mended {

		static class Left extends Greeter {

			@Autowired
			Right right;

		}

		static class Right {

			@Autowired
			@Lazy
			Left left;

		}

	}

	static class MendedSelf extends Greeter {

		@Autowired
		@Lazy
		MendedSelf self;

	}

	@Configuration(proxyBeanMethods = false)
	@Import({ Unannotated.Left.class, Unannotated.Right.class })
	static class Unannotated {

		static class Left {

			@Autowired
			Right right;

		}

		static class Right {

			@Autowired
			Left left;

			@Autowired
			Greeter greeter;

		}

	}

}
