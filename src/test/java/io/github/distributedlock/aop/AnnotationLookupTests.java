package io.github.distributedlock.aop;

import java.lang.annotation.ElementType;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.annotation.Target;
import java.lang.reflect.Proxy;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Map;
import java.util.function.Supplier;

import io.github.distributedlock.annotation.DistributedLock;
import io.github.distributedlock.annotation.IfBusy;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

import org.springframework.aop.support.AopUtils;
import org.springframework.aop.support.DefaultIntroductionAdvisor;
import org.springframework.aop.support.DelegatingIntroductionInterceptor;
import org.springframework.beans.factory.config.BeanDefinition;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.Role;
import org.springframework.core.annotation.AliasFor;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Where the annotation may be, and which one counts.
 */
class AnnotationLookupTests {

	@Test
	void helpersThatNoProxyInterceptsAreLeftAloneByATypeAnnotation() {
		try (AdvisorContext context = AdvisorContext.of(WithHelpers.class)) {
			context.get(WithHelpers.class).run("a");
			assertThat(context.lock().keys()).containsExactly("a");
			assertThat(context.lock().requests).hasSize(1);
		}
	}

	@Test
	void onAClassItCoversWhatAProxyCanIntercept() {
		try (AdvisorContext context = AdvisorContext.of(OnClass.class)) {
			OnClass bean = context.get(OnClass.class);
			bean.inherited();
			assertThat(bean.toString()).isEqualTo("text");
			OnClass.helper();
			assertThat(context.lock().events).isEmpty();
			bean.plain();
			assertThat(context.lock().keys()).containsExactly(OnClass.class.getName() + ".plain");
			assertThat(context.lock().events).containsExactly("acquire", "release");
			bean.packaged();
			assertThat(context.lock().keys()).containsExactly(OnClass.class.getName() + ".packaged");
			bean.guarded();
			assertThat(context.lock().keys()).containsExactly(OnClass.class.getName() + ".guarded");
		}
	}

	@Test
	void onAMethodItWinsOverTheClass() {
		try (AdvisorContext context = AdvisorContext.of(OnClass.class)) {
			context.get(OnClass.class).own();
			assertThat(context.lock().keys()).containsExactly("own");
			assertThat(context.lock().request().waitTime()).isNull();
		}
	}

	@Test
	void subclassInheritsFromTheClassAndFromTheOverriddenMethod() {
		try (AdvisorContext context = AdvisorContext.of(Sub.class)) {
			Sub bean = context.get(Sub.class);
			bean.own();
			assertThat(context.lock().keys()).containsExactly("own");
			bean.added();
			assertThat(context.lock().keys()).containsExactly(Sub.class.getName() + ".added");
		}
	}

	@Test
	void onAnInterfaceMethodWithJdkProxy() {
		try (AdvisorContext context = new AdvisorContext().interfaceProxies().start(StockOfShop.class)) {
			Stock bean = context.get(Stock.class);
			assertThat(AopUtils.isJdkDynamicProxy(bean)).isTrue();
			assertOnInterface(context, bean);
		}
	}

	@Test
	void onAnInterfaceMethodWithClassProxy() {
		try (AdvisorContext context = AdvisorContext.of(StockOfShop.class)) {
			Stock bean = context.get(Stock.class);
			assertThat(AopUtils.isCglibProxy(bean)).isTrue();
			assertOnInterface(context, bean);
		}
	}

	private void assertOnInterface(AdvisorContext context, Stock bean) {
		bean.buy("a-1", 3);
		// Both names work: sku and count are the interface's, article the
		// implementation's.
		assertThat(context.lock().keys()).containsExactly("a-1", "a-1/3");
		bean.standard();
		assertThat(context.lock().keys()).containsExactly(StockOfShop.class.getName() + ".standard");
	}

	@Test
	void whereTheNamesContradictThoseBesideTheAnnotationWin() {
		try (AdvisorContext context = AdvisorContext.of(Crossed.class)) {
			context.get(Crossed.class).move("a", "b");
			assertThat(context.lock().keys()).containsExactly("a>b");
		}
	}

	@Test
	void onAnInterfaceWhoseMethodIsInheritedFromElsewhere() {
		try (AdvisorContext context = AdvisorContext.of(Inheriting.class)) {
			context.get(Inheriting.class).run();
			assertThat(context.lock().keys()).containsExactly("job");
		}
		try (AdvisorContext context = AdvisorContext.of(InheritingMarked.class)) {
			context.get(InheritingMarked.class).inherited();
			assertThat(context.lock().keys()).containsExactly("marked");
		}
	}

	@Test
	void onAGenericInterfaceMethod() {
		for (boolean classProxy : new boolean[] { true, false }) {
			AdvisorContext starting = classProxy ? new AdvisorContext() : new AdvisorContext().interfaceProxies();
			try (AdvisorContext context = starting.start(TextHandler.class)) {
				@SuppressWarnings("unchecked")
				Handler<String> bean = context.get(Handler.class);
				bean.handle("x");
				assertThat(context.lock().keys()).containsExactly("x");
				assertThat(context.lock().events).containsExactly("acquire", "release");
			}
		}
	}

	@Test
	void onAnAnnotationOfYourOwnWithAliases() {
		try (AdvisorContext context = AdvisorContext.of(Jobs.class)) {
			context.get(Jobs.class).nightly();
			assertThat(context.lock().keys()).containsExactly("nightly");
			assertThat(context.lock().request().minHoldTime()).isEqualTo(Duration.ofSeconds(30));
			assertThat(context.lock().events).containsExactly("tryAcquire", "release");
		}
	}

	@Test
	void severalOnOneMethodAreRefused() {
		AdvisorContext.refusal(Twice.class)
			.hasMessageContaining("Twice.run()")
			.hasMessageContaining("several lock annotations")
			.hasMessageContaining("write one with several keys");
	}

	@Test
	void keyOfALambdaOrProxyIsThatOfItsInterface() {
		try (AdvisorContext context = AdvisorContext.of(Nameless.class)) {
			context.get(Job.class).run();
			assertThat(context.lock().keys()).containsExactly("job");
			context.get(Report.class).write();
			assertThat(context.lock().keys()).containsExactly(Report.class.getName() + ".write");
			assertThat(context.lock().request().name()).isEqualTo("Report.write");
			context.get(Mapper.class).insert();
			assertThat(context.lock().keys()).containsExactly(Mapper.class.getName() + ".insert");
		}
	}

	@Test
	void keyOfAProxyIsItsOwnInterfaceWhereTheAnnotationIsAbove() {
		try (AdvisorContext context = AdvisorContext.of(Mappers.class)) {
			context.get(OrderMapper.class).insert();
			assertThat(context.lock().keys()).containsExactly(OrderMapper.class.getName() + ".insert");
			context.get(PayMapper.class).insert();
			assertThat(context.lock().keys()).containsExactly(PayMapper.class.getName() + ".insert");
		}
	}

	@Test
	void nearestOfSeveralDeclarationsWins() {
		try (AdvisorContext context = AdvisorContext.of(Nearest.class)) {
			context.get(Nearest.class).run();
			assertThat(context.lock().keys()).containsExactly("nearer job");
		}
		try (AdvisorContext context = AdvisorContext.of(NearestClass.class)) {
			context.get(NearestClass.class).run();
			assertThat(context.lock().keys()).containsExactly("working");
		}
	}

	@Test
	void sameAnnotationOnTwoInterfacesIsOne() {
		try (AdvisorContext context = AdvisorContext.of(SameTwice.class)) {
			context.get(SameTwice.class).run();
			assertThat(context.lock().keys()).containsExactly("job");
			assertThat(context.lock().events).containsExactly("acquire", "release");
		}
	}

	@Test
	void methodItselfSettlesWhatItsInterfacesContradict() {
		try (AdvisorContext context = AdvisorContext.of(Settled.class)) {
			context.get(Settled.class).run();
			assertThat(context.lock().keys()).containsExactly("settled");
		}
	}

	@Test
	void onAnIntroducedInterface() {
		try (AdvisorContext context = AdvisorContext.of(Plain.class, OnClass.class, Introduction.class)) {
			((Job) context.get(OnClass.class)).run();
			assertThat(context.lock().keys()).containsExactly("job");
		}
	}

	@Test
	void configurationClassIsLockedUnderItsOwnName() {
		try (AdvisorContext context = AdvisorContext.of(Configured.class)) {
			context.get(Configured.class).refreshRates();
			assertThat(context.lock().keys()).containsExactly(Configured.class.getName() + ".refreshRates");
		}
	}

	@Test
	void nonPublicMethodsOfTheBeansPackageAreLocked() {
		try (AdvisorContext context = AdvisorContext.of(NonPublic.class)) {
			context.get(NonPublic.class).packaged();
			context.get(NonPublic.class).guarded();
			assertThat(context.lock().events).containsExactly("acquire", "release", "acquire", "release");
		}
	}

	@Test
	void samplesOfSpringAreApplications(@TempDir Path directory) throws Exception {
		Class<?> type = Sources.compile(directory, "org.springframework.samples.Clinic",
				Map.of("org.springframework.samples.Clinic", """
						package org.springframework.samples;
						public class Clinic {
							@io.github.distributedlock.annotation.DistributedLock(key = "'clinic'")
							public void book() { }
						}
						"""));
		try (AdvisorContext context = AdvisorContext.of(type)) {
			type.getMethod("book").invoke(context.get(type));
			assertThat(context.lock().keys()).containsExactly("clinic");
		}
	}

	@Test
	void beanWithoutAnnotationIsNotProxied() {
		try (AdvisorContext context = AdvisorContext.of(Plain.class)) {
			assertThat(AopUtils.isAopProxy(context.get(Plain.class))).isFalse();
		}
	}

	static class Plain {

		public void run() {
		}

	}

	static class Above {

		public void inherited() {
		}

	}

	@DistributedLock(waitTime = "7s")
	static class OnClass extends Above {

		public void plain() {
		}

		@DistributedLock(key = "'own'")
		public void own() {
		}

		void packaged() {
			own(0);
		}

		protected void guarded() {
		}

		private void own(int number) {
		}

		public static void helper() {
		}

		@Override
		public String toString() {
			return "text";
		}

	}

	static class Sub extends OnClass {

		@Override
		public void own() {
		}

		public void added() {
		}

	}

	interface Stock {

		@DistributedLock(key = { "#sku", "#article + '/' + #count" })
		void buy(String sku, int count);

		@DistributedLock
		default void standard() {
		}

	}

	static class StockOfShop implements Stock {

		@Override
		public void buy(String article, int number) {
		}

	}

	interface Moves {

		@DistributedLock(key = "#{#from}>#{#to}")
		void move(String from, String to);

	}

	static class Crossed implements Moves {

		@Override
		public void move(String to, String from) {
		}

	}

	interface Job {

		@DistributedLock(key = "'job'")
		void run();

	}

	@DistributedLock(key = "'class'")
	static class Runner {

		public void run() {
		}

	}

	static class Inheriting extends Runner implements Job {

	}

	@DistributedLock(key = "'marked'")
	interface Marked {

		void inherited();

	}

	static class InheritingMarked extends Above implements Marked {

	}

	interface Handler<T> {

		@DistributedLock(key = "#value")
		void handle(T value);

	}

	static class TextHandler implements Handler<String> {

		@Override
		public void handle(String text) {
		}

	}

	@Target(ElementType.METHOD)
	@Retention(RetentionPolicy.RUNTIME)
	@DistributedLock(ifBusy = IfBusy.SKIP)
	@interface ScheduledLock {

		@AliasFor(annotation = DistributedLock.class, attribute = "key")
		String job();

		@AliasFor(annotation = DistributedLock.class)
		String minHoldTime() default "30s";

	}

	static class Jobs {

		@ScheduledLock(job = "'nightly'")
		public void nightly() {
		}

	}

	static class Twice {

		@ScheduledLock(job = "'nightly'")
		@DistributedLock(key = "'a'")
		public void run() {
		}

	}

	interface Report {

		@DistributedLock
		void write();

	}

	@DistributedLock
	interface Mapper {

		void insert();

	}

	interface OrderMapper extends Mapper {

	}

	interface PayMapper extends Mapper {

	}

	@Configuration(proxyBeanMethods = false)
	static class Mappers {

		@Bean
		OrderMapper orders() {
			return (OrderMapper) Proxy.newProxyInstance(getClass().getClassLoader(),
					new Class<?>[] { OrderMapper.class }, (proxy, method, args) -> null);
		}

		@Bean
		PayMapper payments() {
			return () -> {
			};
		}

	}

	interface NearerJob extends Job {

		@Override
		@DistributedLock(key = "'nearer job'")
		void run();

	}

	static class Nearest implements Job, NearerJob {

		@Override
		public void run() {
		}

	}

	static class Working implements Job {

		@Override
		@DistributedLock(key = "'working'")
		public void run() {
		}

	}

	static class NearestClass extends Working implements Job {

		@Override
		public void run() {
		}

	}

	interface SameJob {

		@DistributedLock(key = "'job'")
		void run();

	}

	static class SameTwice implements Job, SameJob {

		@Override
		public void run() {
		}

	}

	interface OtherJob {

		@DistributedLock(key = "'other'")
		void run();

	}

	static class Settled implements Job, OtherJob {

		@Override
		@DistributedLock(key = "'settled'")
		public void run() {
		}

	}

	@Configuration(proxyBeanMethods = false)
	static class Introduction {

		@Bean
		@Role(BeanDefinition.ROLE_INFRASTRUCTURE)
		static DefaultIntroductionAdvisor introduction() {
			Job job = () -> {
			};
			return new DefaultIntroductionAdvisor(new DelegatingIntroductionInterceptor(job),
					() -> new Class<?>[] { Job.class });
		}

	}

	@Configuration(proxyBeanMethods = false)
	static class Nameless {

		@Bean
		Job lambdaWithKey() {
			return () -> {
			};
		}

		@Bean
		Report lambda() {
			return () -> {
			};
		}

		@Bean
		Mapper mapper() {
			Supplier<Object> result = () -> null;
			return (Mapper) Proxy.newProxyInstance(getClass().getClassLoader(), new Class<?>[] { Mapper.class },
					(proxy, method, args) -> result.get());
		}

	}

	@Configuration
	static class Configured {

		@DistributedLock
		public void refreshRates() {
		}

	}

	static class NonPublic {

		@DistributedLock
		void packaged() {
		}

		@DistributedLock
		protected void guarded() {
		}

	}

	@DistributedLock(key = "#id")
	static class WithHelpers {

		public void run(String id) {
			help();
		}

		protected final void help() {
		}

	}

}
