package io.github.distributedlock.autoconfigure;

import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;

import io.github.distributedlock.LockDefinitionException;
import io.github.distributedlock.annotation.DistributedLock;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

import org.springframework.beans.factory.annotation.Autowired;
import org.springframework.beans.factory.config.BeanPostProcessor;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.context.ApplicationListener;
import org.springframework.context.annotation.Bean;
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

	@ParameterizedTest
	@ValueSource(classes = { SelfInjected.class, Job.class, Listener.class })
	void beanInACircle(Class<?> circle) {
		Contexts.refuses(this.contexts.withUserConfiguration(circle), LockDefinitionException.class, "Bean '",
				") has methods with @DistributedLock, but it is part of a circle");
	}

	@Test
	void refusalNamesTheBeanTheCircleAndTheRemedy() {
		Contexts.refuses(this.contexts.withBean("left", Circle.Left.class).withBean("right", Circle.Right.class),
				Throwable.class,
				"Bean 'left' (" + Circle.Left.class.getName() + ") has methods with @DistributedLock, but it"
						+ " is part of a circle among the beans that are being created ('left', 'right'). Spring hands"
						+ " a bean of a circle to its scheduler, to listener containers and to other post-processors"
						+ " without the proxy, and the methods would run unlocked (write @Lazy where a bean of the circle is"
						+ " injected, also into itself, or move the methods to a bean outside of the circle)");
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
		Contexts.refuses(this.contexts.withBean("greeting", GreetingFactory.class).withBean("guest", Guest.class),
				Throwable.class, "Bean 'greeting' (" + Greeter.class.getName() + ")");
	}

	@Test
	void lazyBeanInACircleIsRefusedWhenItIsCreated() {
		this.contexts.withBean(Circle.Left.class, Circle.Left::new, (definition) -> definition.setLazyInit(true))
			.withBean(Circle.Right.class, Circle.Right::new, (definition) -> definition.setLazyInit(true))
			.run((context) -> {
				assertThat(context).hasNotFailed();
				assertThatException().isThrownBy(() -> context.getBean(Circle.Left.class))
					.havingRootCause()
					.isInstanceOf(LockDefinitionException.class);
			});
	}

	@Test
	void circleThatLazyMends() {
		for (ApplicationContextRunner mended : List.of(
				this.contexts.withBean(Mended.Left.class).withBean(Mended.Right.class),
				this.contexts.withBean(MendedSelf.class))) {
			mended.run((context) -> assertThat(context.getBean(Greeting.class).heldKeys()).containsExactly("greeting"));
		}
	}

	@Test
	void circleOfBeansWithoutLocks() {
		this.contexts.withBean(Unannotated.Left.class)
			.withBean(Unannotated.Right.class)
			.withBean(Greeter.class)
			.run((context) -> {
				assertThat(context).hasNotFailed();
				assertThat(context.getBean(Greeter.class).heldKeys()).containsExactly("greeting");
			});
	}

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

	static class SelfInjected {

		@Autowired
		SelfInjected self;

		@DistributedLock
		public void run() {
		}

	}

	/**
	 * The scheduler calls the bean that the scheduler was handed.
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
	 * The multicaster calls the bean that the multicaster was handed.
	 */
	static class Listener implements ApplicationListener<ContextRefreshedEvent> {

		@Autowired
		Listener self;

		@Override
		@DistributedLock
		public void onApplicationEvent(ContextRefreshedEvent event) {
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
