package io.github.distributedlock.aop;

import java.lang.annotation.ElementType;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.annotation.Target;
import java.lang.reflect.Proxy;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.function.Consumer;

import io.github.distributedlock.annotation.DistributedLock;
import io.github.distributedlock.annotation.IfBusy;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

import org.springframework.aop.Advisor;
import org.springframework.aop.support.AopUtils;
import org.springframework.aop.support.DefaultIntroductionAdvisor;
import org.springframework.aop.support.DelegatingIntroductionInterceptor;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.core.annotation.AliasFor;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * The places where the annotation may be, and the annotation that counts.
 */
class AnnotationLookupTests {

	@Test
	void annotationOnAClassCoversWhatAProxyCanIntercept() {
		try (AdvisorContext context = AdvisorContext.of(OnClass.class)) {
			OnClass bean = context.get(OnClass.class);
			bean.inherited();
			assertThat(bean.toString()).isEqualTo("text");
			OnClass.helper();
			assertThat(context.lock().events).isEmpty();
			bean.plain();
			assertThat(context.lock().keys()).containsExactly(OnClass.class.getName() + ".plain");
			bean.packaged();
			assertThat(context.lock().keys()).containsExactly(OnClass.class.getName() + ".packaged");
			bean.guarded();
			assertThat(context.lock().keys()).containsExactly(OnClass.class.getName() + ".guarded");
			assertThat(context.lock().request().waitTime()).isEqualTo(Duration.ofSeconds(7));
			bean.own();
			assertThat(context.lock().keys()).containsExactly("own");
			assertThat(context.lock().request().waitTime()).isNull();
		}
		assertThat(keys(WithHelpers.class, (bean) -> bean.run("a"))).containsExactly("a");
	}

	@Test
	void subclassInheritsFromTheClassAndFromTheOverriddenMethod() {
		assertThat(keys(Sub.class, Sub::own)).containsExactly("own");
		assertThat(keys(Sub.class, Sub::added)).containsExactly(Sub.class.getName() + ".added");
	}

	@ParameterizedTest
	@ValueSource(booleans = { true, false })
	void annotationOnAnInterfaceMethod(boolean classProxies) {
		try (AdvisorContext context = context(classProxies).start(StockOfShop.class, TextHandler.class)) {
			Stock stock = context.get(Stock.class);
			assertThat(AopUtils.isCglibProxy(stock)).isEqualTo(classProxies);
			stock.buy("a-1", 3);
			// Both names work: sku and count are the interface's, article the
			// implementation's.
			assertThat(context.lock().keys()).containsExactly("a-1", "a-1/3");
			stock.standard();
			assertThat(context.lock().keys()).containsExactly(StockOfShop.class.getName() + ".standard");
			@SuppressWarnings("unchecked")
			Handler<String> handler = context.get(Handler.class);
			handler.handle("x");
			assertThat(context.lock().keys()).containsExactly("x");
			assertThat(context.lock().events).hasSize(6);
		}
	}

	@Test
	void namesBesideTheAnnotationWin() {
		assertThat(keys(Crossed.class, (bean) -> bean.move("a", "b"))).containsExactly("a>b");
	}

	@Test
	void annotationOnAnInterfaceWhoseMethodIsInheritedFromElsewhere() {
		assertThat(keys(Inheriting.class, Inheriting::run)).containsExactly("job");
		assertThat(keys(InheritingMarked.class, InheritingMarked::inherited)).containsExactly("marked");
	}

	@Test
	void annotationOfYourOwnWithAliases() {
		try (AdvisorContext context = AdvisorContext.of(Jobs.class)) {
			context.get(Jobs.class).nightly();
			assertThat(context.lock().keys()).containsExactly("nightly");
			assertThat(context.lock().request().minHoldTime()).isEqualTo(Duration.ofSeconds(30));
			assertThat(context.lock().events).containsExactly("tryAcquire", "release");
		}
	}

	@Test
	void keyOfALambdaOrProxyIsThatOfItsInterface() {
		try (AdvisorContext context = AdvisorContext.of(Nameless.class)) {
			context.get(Job.class).run();
			assertThat(context.lock().keys()).containsExactly("job");
			context.get(Report.class).write();
			assertThat(context.lock().keys()).containsExactly(Report.class.getName() + ".write");
			assertThat(context.lock().request().name()).isEqualTo("Report.write");
			// The annotation is above both.
			context.get(OrderMapper.class).insert();
			assertThat(context.lock().keys()).containsExactly(OrderMapper.class.getName() + ".insert");
			context.get(PayMapper.class).insert();
			assertThat(context.lock().keys()).containsExactly(PayMapper.class.getName() + ".insert");
		}
	}

	@Test
	void nearestOfSeveralDeclarationsWins() {
		assertThat(keys(Nearest.class, Nearest::run)).containsExactly("nearer job");
		assertThat(keys(NearestClass.class, NearestClass::run)).containsExactly("working");
		assertThat(keys(SameTwice.class, SameTwice::run)).containsExactly("job");
		assertThat(keys(Settled.class, Settled::run)).containsExactly("settled");
	}

	@Test
	void annotationOnAnIntroducedInterface() {
		try (AdvisorContext context = new AdvisorContext().advice(AnnotationLookupTests::introduction)
			.start(Plain.class, OnClass.class)) {
			((Job) context.get(OnClass.class)).run();
			assertThat(context.lock().keys()).containsExactly("job");
		}
	}

	@Test
	void configurationClassIsLockedUnderItsOwnName() {
		assertThat(keys(Configured.class, Configured::refreshRates))
			.containsExactly(Configured.class.getName() + ".refreshRates");
	}

	private static Advisor introduction() {
		Job job = () -> {
		};
		return new DefaultIntroductionAdvisor(new DelegatingIntroductionInterceptor(job),
				() -> new Class<?>[] { Job.class });
	}

	private static AdvisorContext context(boolean classProxies) {
		return classProxies ? new AdvisorContext() : new AdvisorContext().interfaceProxies();
	}

	/**
	 * Returns the keys that one call of a bean locks.
	 */
	private static <T> List<String> keys(Class<T> type, Consumer<T> call) {
		try (AdvisorContext context = AdvisorContext.of(type)) {
			call.accept(context.get(type));
			assertThat(context.lock().events).containsExactly("acquire", "release");
			return context.lock().keys();
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

	@Configuration
	static class Configured {

		@DistributedLock
		public void refreshRates() {
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
