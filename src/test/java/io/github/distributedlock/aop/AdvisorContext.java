package io.github.distributedlock.aop;

import java.util.HashMap;
import java.util.Map;
import java.util.function.Supplier;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;

import io.github.distributedlock.DistributedLock;
import io.github.distributedlock.LockDefinitionException;
import org.assertj.core.api.AbstractThrowableAssert;

import org.springframework.aop.Advisor;
import org.springframework.aop.config.AopConfigUtils;
import org.springframework.beans.factory.BeanCreationException;
import org.springframework.beans.factory.BeanFactory;
import org.springframework.beans.factory.ObjectProvider;
import org.springframework.beans.factory.config.BeanDefinition;
import org.springframework.context.annotation.AnnotationConfigApplicationContext;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.Role;
import org.springframework.core.env.Environment;
import org.springframework.core.env.MapPropertySource;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

/**
 * A Spring context with a recording lock, and with the advisor as the auto-configuration
 * wires the advisor.
 */
final class AdvisorContext implements AutoCloseable {

	private final AnnotationConfigApplicationContext context = new AnnotationConfigApplicationContext();

	private final Map<String, Object> properties = new HashMap<>();

	private boolean classProxies = true;

	AdvisorContext property(String name, String value) {
		this.properties.put(name, value);
		return this;
	}

	AdvisorContext interfaceProxies() {
		this.classProxies = false;
		return this;
	}

	/**
	 * Adds advice of others.
	 */
	AdvisorContext advice(Supplier<Advisor> advisor) {
		this.context.registerBean(Advisor.class, advisor,
				(definition) -> definition.setRole(BeanDefinition.ROLE_INFRASTRUCTURE));
		return this;
	}

	AdvisorContext start(Class<?>... components) {
		this.context.getEnvironment().getPropertySources().addFirst(new MapPropertySource("test", this.properties));
		this.context.setClassLoader(components[0].getClassLoader());
		this.context.register(components);
		// Registered last, so that only the order can put the advisor before others.
		this.context.register(LockConfiguration.class);
		AopConfigUtils.registerAutoProxyCreatorIfNecessary(this.context);
		if (this.classProxies) {
			AopConfigUtils.forceAutoProxyCreatorToUseClassProxying(this.context);
		}
		this.context.refresh();
		return this;
	}

	static AdvisorContext of(Class<?>... components) {
		return new AdvisorContext().start(components);
	}

	/**
	 * Asserts that a context with these components does not start, because an annotation
	 * cannot work.
	 */
	static AbstractThrowableAssert<?, ? extends Throwable> refusal(Class<?>... components) {
		return new AdvisorContext().refuses(components);
	}

	/**
	 * Returns the refusals of several methods of a component by the names of the methods.
	 */
	Map<String, Throwable> refusals(Class<?> component) {
		Map<String, Throwable> refusals = new HashMap<>();
		Pattern name = Pattern.compile("(\\w+)\\(");
		refuses(component).satisfies((refusal) -> Stream.of(refusal.getSuppressed()).forEach((each) -> {
			Matcher method = name.matcher(each.getMessage());
			assertThat(method.find()).isTrue();
			refusals.put(method.group(1), each);
		}));
		return refusals;
	}

	AbstractThrowableAssert<?, ? extends Throwable> refuses(Class<?>... components) {
		try (this) {
			return assertThatThrownBy(() -> start(components)).isInstanceOf(BeanCreationException.class)
				.cause()
				.isInstanceOf(LockDefinitionException.class);
		}
	}

	<T> T get(Class<T> type) {
		return this.context.getBean(type);
	}

	RecordingLock lock() {
		return get(RecordingLock.class);
	}

	@Override
	public void close() {
		this.context.close();
	}

	@Configuration(proxyBeanMethods = false)
	static class LockConfiguration {

		@Bean
		@Role(BeanDefinition.ROLE_INFRASTRUCTURE)
		static DistributedLockAdvisor distributedLockAdvisor(ObjectProvider<DistributedLock> lock,
				BeanFactory beanFactory, Environment environment) {
			return new DistributedLockAdvisor((store) -> lock.getObject(), beanFactory, environment);
		}

		@Bean
		RecordingLock recordingLock() {
			return new RecordingLock();
		}

	}

}
