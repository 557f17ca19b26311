package io.github.distributedlock.aop;

import java.nio.file.Path;
import java.util.Map;

import io.github.distributedlock.annotation.DistributedLock;
import jakarta.annotation.PostConstruct;
import jakarta.annotation.PreDestroy;
import jakarta.annotation.Resource;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

import org.springframework.beans.factory.BeanNameAware;
import org.springframework.beans.factory.DisposableBean;
import org.springframework.beans.factory.FactoryBean;
import org.springframework.beans.factory.InitializingBean;
import org.springframework.beans.factory.annotation.Autowired;
import org.springframework.beans.factory.annotation.Value;
import org.springframework.context.SmartLifecycle;
import org.springframework.core.env.Environment;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Methods that Spring calls on the bean itself, without the proxy, are refused if such a
 * method is annotated.
 */
class LifecycleMethodTests {

	private static final Map<String, Throwable> REFUSALS = new AdvisorContext().refusals(Called.class);

	private static final Map<String, Throwable> REFUSALS_ABOVE = new AdvisorContext().refusals(CalledAbove.class);

	@ParameterizedTest
	@CsvSource(delimiter = '|', textBlock = """
			start              | start()                     | @PostConstruct    | true
			stop               | stop()                      | @PreDestroy       | true
			wire               | wire(Environment)           | @Autowired        | false
			name               | name(String)                | @Value            | false
			setEnvironment     | setEnvironment(Environment) | @Resource         | false
			afterPropertiesSet | afterPropertiesSet()        | InitializingBean  | true
			destroy            | destroy()                   | DisposableBean    | false
			setBeanName        | setBeanName(String)         | BeanNameAware     | true
			""")
	void methodThatSpringCallsOnTheBeanItself(String method, String signature, String why, boolean alsoAbove) {
		assertThat(REFUSALS.get(method)).hasMessageEndingWith("$Called." + signature + message(why));
		if (alsoAbove) {
			assertThat(REFUSALS_ABOVE.get(method)).hasMessageEndingWith("$CalledAbove." + signature + message(why));
		}
	}

	private static String message(String why) {
		return ": the method is called by Spring on the bean itself (" + why
				+ "), so that it would run unlocked (move the locked part to another bean, or lock in code)";
	}

	@ParameterizedTest
	@ValueSource(strings = { "javax.annotation.PostConstruct", "javax.annotation.PreDestroy", "javax.inject.Inject",
			"jakarta.inject.Inject" })
	void annotationThatNeedNotBeThere(String annotation, @TempDir Path directory) {
		int dot = annotation.lastIndexOf('.');
		Class<?> type = Sources.compile(directory, "acme.Service", Map.of(annotation, """
				package %s;
				@java.lang.annotation.Retention(java.lang.annotation.RetentionPolicy.RUNTIME)
				public @interface %s { }
				""".formatted(annotation.substring(0, dot), annotation.substring(dot + 1)), "acme.Service", """
				package acme;
				public class Service {
					@%s
					@io.github.distributedlock.annotation.DistributedLock
					public void run() { }
				}
				""".formatted(annotation)));
		AdvisorContext.refusal(type)
			.hasMessageContaining("on the bean itself (@" + annotation.substring(dot + 1) + "), so that it would");
	}

	@Test
	void methodsBesideThemAreLocked() {
		try (AdvisorContext context = AdvisorContext.of(BesideThem.class)) {
			context.get(BesideThem.class).rename("a");
			context.get(BesideThem.class).wire(context.get(Environment.class));
			assertThat(context.lock().events).containsExactly("acquire", "release", "acquire", "release");
		}
	}

	@Test
	void annotationOnTheClassDoesNotMeanThem() {
		try (AdvisorContext context = AdvisorContext.of(OnClass.class)) {
			assertThat(context.get(OnClass.class).name()).isEqualTo("lifecycleMethodTests.OnClass");
			assertThat(context.lock().events).containsExactly("acquire", "release");
		}
	}

	/** Spring asks a factory for types also while a lock bean is looked for. */
	@Test
	void annotationOnTheClassDoesNotMeanMethodsOfAFactory() {
		try (AdvisorContext context = AdvisorContext.of(Presses.class)) {
			assertThat(context.get(Press.class).name()).isEqualTo("made");
			assertThat(context.lock().events).isEmpty();
			context.get(Presses.class).clean();
			assertThat(context.lock().events).containsExactly("acquire", "release");
		}
	}

	/**
	 * Spring calls the method with a callback, which calls this one without the proxy.
	 */
	@Test
	void stopOfALifecycleBean() {
		AdvisorContext.refusal(Engine.class).hasMessageEndingWith("$Engine.stop()" + message("SmartLifecycle"));
	}

	record Press(String name) {
	}

	@DistributedLock
	static class Presses implements FactoryBean<Press> {

		@Override
		public Press getObject() {
			return new Press("made");
		}

		@Override
		public Class<?> getObjectType() {
			return Press.class;
		}

		public void clean() {
		}

	}

	static class Engine implements SmartLifecycle {

		@Override
		@DistributedLock
		public void start() {
		}

		@Override
		@DistributedLock
		public void stop() {
		}

		@Override
		public boolean isRunning() {
			return false;
		}

	}

	static class Called implements InitializingBean, DisposableBean, BeanNameAware {

		@PostConstruct
		@DistributedLock
		public void start() {
		}

		@PreDestroy
		@DistributedLock
		public void stop() {
		}

		@Autowired
		@DistributedLock
		public void wire(Environment environment) {
		}

		@Value("x")
		@DistributedLock
		public void name(String name) {
		}

		@Resource
		@DistributedLock
		public void setEnvironment(Environment environment) {
		}

		@Override
		@DistributedLock
		public void afterPropertiesSet() {
		}

		@Override
		@DistributedLock
		public void destroy() {
		}

		@Override
		@DistributedLock
		public void setBeanName(String name) {
		}

	}

	static class Base {

		@PostConstruct
		public void start() {
		}

		@PreDestroy
		public void stop() {
		}

		@Autowired
		public void wire(Environment environment) {
		}

	}

	interface Prepared extends InitializingBean {

	}

	interface Renamed extends BeanNameAware {

		void rename(String name);

	}

	static class CalledAbove extends Base implements Prepared, Renamed {

		@Override
		@DistributedLock
		public void start() {
		}

		@Override
		@DistributedLock
		public void stop() {
		}

		@Override
		@DistributedLock
		public void afterPropertiesSet() {
		}

		@Override
		@DistributedLock
		public void setBeanName(String name) {
		}

		@Override
		public void rename(String name) {
		}

	}

	/**
	 * Spring does not call {@code wire}, which overrides the method that is injected.
	 */
	static class BesideThem extends Base implements Renamed {

		@Override
		public void setBeanName(String name) {
		}

		@Override
		@DistributedLock
		public void rename(String name) {
		}

		@Override
		@DistributedLock
		public void wire(Environment environment) {
		}

	}

	@DistributedLock
	static class OnClass implements InitializingBean, BeanNameAware {

		private String name;

		@Override
		public void setBeanName(String name) {
			this.name = name;
		}

		@Override
		public void afterPropertiesSet() {
		}

		public String name() {
			return this.name;
		}

	}

}
