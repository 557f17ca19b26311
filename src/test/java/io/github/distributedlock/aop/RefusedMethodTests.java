package io.github.distributedlock.aop;

import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.reflect.Method;
import java.nio.file.Path;
import java.util.Map;
import java.util.concurrent.Flow;
import java.util.concurrent.Future;
import java.util.stream.Stream;

import io.github.distributedlock.LockDefinitionException;
import io.github.distributedlock.LockMode;
import io.github.distributedlock.annotation.DistributedLock;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

import org.springframework.beans.factory.annotation.Autowired;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Methods that would run unlocked, or for longer than their lock, are refused at
 * start-up.
 */
class RefusedMethodTests {

	private static final Map<String, Throwable> REFUSALS = new AdvisorContext().refusals(Mistakes.class);

	@ParameterizedTest(name = "{0}")
	@CsvSource(delimiter = '|', quoteCharacter = '`',
			textBlock = """
					ofItself         | (): the method is private | it would run unlocked (make it public
					ofTheClass       | (): the method is static | it would run unlocked
					unchangeable     | (): the method is final | remove final (in Kotlin: open
					ownPublisher     | (): the method returns a reactive stream (io.github.distributedlock.aop.RefusedMethodTests$OwnPublisher) | declared as Mono, Flux or Publisher
					future           | (): the method returns a future | that does not signal its completion (java.util.concurrent.Future)
					sharedAndFair    | (): not possible: Lock [ | sharedAndFair] was requested as SHARED and fair, but shared requests queue
					sharedAndFenced  | (): not possible: Lock [ | sharedAndFenced] was requested as SHARED and fenced, but a fencing token orders
					twoNumbers       | (): permits = 2 is there beside permitsString = "3" | (write one of them)
					permitsAndShared | (): not possible: Lock [ | permitsAndShared] was requested as SHARED with permits, but any number may share
					permitsAndFair   | (): not possible: Lock [ | permitsAndFair] was requested as fair with permits, but requests with permits
					permitsAndFenced | (): not possible: Lock [ | permitsAndFenced] was requested as fenced with permits, but a fencing token tells
					fencedKeys       | (): not possible: Lock [ | was requested as fenced, but a fencing token is of one key. Request one key as fenced
					""")
	void methodThatCannotBeLocked(String method, String problem, String remedy) {
		assertThat(REFUSALS.get(method))
			.hasMessageStartingWith("@DistributedLock on " + Mistakes.class.getName() + "." + method + problem)
			.hasMessageContaining(remedy);
	}

	@Test
	void eachOfThemIsRefused() {
		assertThat(REFUSALS).containsOnlyKeys(
				Stream.of(Mistakes.class.getDeclaredMethods()).map(Method::getName).toArray(String[]::new));
	}

	@Test
	void privateMethodOfASuperclass() {
		AdvisorContext.refusal(BelowPrivateMethod.class).hasMessageContaining("the method is private");
	}

	@Test
	void finalMethodOfAnAnnotatedClassAndOfAnAnnotatedInterface() {
		AdvisorContext.refusal(FinalMethodOfClass.class).hasMessageContaining("run(): the method is final");
		AdvisorContext.refusal(FinalMethodOfInterface.class).hasMessageContaining("run(): the method is final");
	}

	@Test
	void annotatedClassWithoutAMethodThatIsCovered() {
		for (Class<?> type : new Class<?>[] { NothingToCover.class, InheritsAll.class, GuardedFinalMethod.class }) {
			AdvisorContext.refusal(type)
				.hasMessageStartingWith("@DistributedLock on a type of " + type.getName()
						+ ": there is no method that the annotation covers, so that all would run unlocked (")
				.hasMessageContaining("override the method that is to be locked");
		}
	}

	@Test
	void twoInterfacesWithDifferentLocksForOneMethod() {
		for (boolean classProxy : new boolean[] { true, false }) {
			AdvisorContext context = classProxy ? new AdvisorContext() : new AdvisorContext().interfaceProxies();
			context.refuses(TwoJobs.class)
				.hasMessageContaining("TwoJobs.run(): there are several lock annotations on ")
				.hasMessageContaining("$Job.run() and on ")
				.hasMessageContaining("$OtherJob.run(), of which one would be ignored (write the one that counts");
		}
		AdvisorContext.refusal(TwoMarks.class)
			.hasMessageContaining("TwoMarks.run(): there are several lock annotations on interface ")
			.hasMessageContaining("$Marked and on interface ")
			.hasMessageContaining("$OtherMarked, of which one would be ignored");
	}

	@Test
	void superclassAndInterfaceWithDifferentLocksForOneMethod() {
		AdvisorContext.refusal(OfBoth.class)
			.hasMessageContaining("OfBoth.run(): there are several lock annotations on ")
			.hasMessageContaining("$OtherSource.run() and on ")
			.hasMessageContaining("$Base.run(), of which one would be ignored");
	}

	@Test
	void severalMethodsOfAClassAreToldTogether() {
		String start = "@DistributedLock on " + SeveralMistakes.class.getName() + ".";
		AdvisorContext.refusal(SeveralMistakes.class).satisfies((ex) -> {
			assertThat(ex.getMessage().lines()).hasSize(4)
				.satisfiesExactly(
						(line) -> assertThat(line)
							.isEqualTo("3 lock annotations of " + SeveralMistakes.class.getName() + " cannot work:"),
						(line) -> assertThat(line).startsWith(start + "buy(): there are several lock annotations"),
						(line) -> assertThat(line).startsWith(start + "count(): the method is private"),
						(line) -> assertThat(line).startsWith(start + "sell(String): key = \"sku\" reads the word"));
			assertThat(ex.getSuppressed()).hasSize(3).allMatch(LockDefinitionException.class::isInstance);
		});
	}

	@Test
	void finalClass() {
		AdvisorContext.refusal(FinalClass.class).hasMessageContaining("run(): the method is in a final class");
	}

	@Test
	void sealedClass() {
		AdvisorContext.refusal(SealedClass.class)
			.hasMessageContaining("run(): the method is in a sealed class, so that no proxy can intercept it")
			.hasMessageEndingWith("(remove sealed)");
		AdvisorContext.refusal(SealedJob.class)
			.hasMessageEndingWith(
					"(remove sealed, or set spring.aop.proxy-target-class=false, for a proxy of its" + " interfaces)");
		assertStartsWithInterfaceProxies(SealedJob.class);
	}

	@Test
	void classWithPrivateConstructorsOnly() {
		AdvisorContext.refusal(Factories.class)
			.hasMessageContaining("run(): the method is in a class with no constructor but private ones")
			.hasMessageContaining("(make one visible in the package, or protected, or set spring.aop");
		assertStartsWithInterfaceProxies(Factories.class);
		try (AdvisorContext context = AdvisorContext.of(TwoConstructors.class)) {
			context.get(TwoConstructors.class).run();
			assertThat(context.lock().requests).hasSize(1);
		}
	}

	private static void assertStartsWithInterfaceProxies(Class<?> type) {
		try (AdvisorContext context = new AdvisorContext().interfaceProxies().start(type)) {
			context.get(Job.class).run();
			assertThat(context.lock().requests).hasSize(1);
		}
	}

	@Test
	void methodThatMakesABean() {
		for (Class<?> type : new Class<?>[] { MakesBeans.class, MakesBeansStatically.class }) {
			AdvisorContext.refusal(type)
				.hasMessageContaining(".text(): the method makes a bean (@Bean), so that the lock would be held while"
						+ " the bean is made, and not while the methods of the bean run (annotate the methods of");
		}
	}

	@Test
	void methodThatOnlyAnotherPackageCanOverride(@TempDir Path directory) {
		Class<?> type = Sources.compile(directory, "far.Below", Map.of("near.Above", """
				package near;
				public class Above {
					@io.github.distributedlock.annotation.DistributedLock
					void run() { }
				}
				""", "far.Below", """
				package far;
				public class Below extends near.Above { }
				"""));
		AdvisorContext.refusal(type)
			.hasMessageContaining("far.Below.run(): the method is visible only in the package of near.Above")
			.hasMessageContaining("make it public or protected");
	}

	@Test
	void publisherThatAGenericInterfaceHides() {
		AdvisorContext.refusal(GenericPublisher.class).hasMessageContaining("returns a reactive stream");
	}

	@ParameterizedTest
	@ValueSource(strings = { "org.reactivestreams.Publisher", "kotlinx.coroutines.flow.Flow", "kotlinx.coroutines.Job",
			"io.reactivex.rxjava3.core.SingleSource", "io.smallrye.mutiny.Uni" })
	void resultsOfLibraries(String library, @TempDir Path directory) {
		int dot = library.lastIndexOf('.');
		Class<?> type = Sources.compile(directory, "acme.Service", Map.of(library, """
				package %s;
				public interface %s { }
				""".formatted(library.substring(0, dot), library.substring(dot + 1)), "acme.Service", """
				package acme;
				public class Service {
					public interface Special extends %s { }
					@io.github.distributedlock.annotation.DistributedLock
					public Special run() { return null; }
				}
				""".formatted(library)));
		AdvisorContext.refusal(type)
			.hasMessageContaining("acme.Service.run(): the method returns a ")
			.hasMessageContaining("(acme.Service$Special)");
	}

	@Test
	void suspendFunction(@TempDir Path directory) {
		Class<?> type = Sources.compile(directory, "acme.Service", Map.of("kotlin.coroutines.Continuation", """
				package kotlin.coroutines;
				public interface Continuation<T> { }
				""", "acme.Service", """
				package acme;
				public class Service {
					@io.github.distributedlock.annotation.DistributedLock
					public Object run(String sku, kotlin.coroutines.Continuation<String> rest) { return null; }
				}
				"""));
		AdvisorContext.refusal(type)
			.hasMessageContaining("acme.Service.run(String, Continuation): the method is a suspend");
	}

	static class PrivateMethod {

		@DistributedLock
		private void run() {
		}

	}

	static class BelowPrivateMethod extends PrivateMethod {

	}

	@DistributedLock
	@Retention(RetentionPolicy.RUNTIME)
	@interface AnotherLock {

	}

	static class SeveralMistakes {

		@DistributedLock(key = "sku")
		public void sell(String sku) {
		}

		@DistributedLock
		public void fine() {
		}

		@AnotherLock
		@DistributedLock
		public void buy() {
		}

		@DistributedLock
		private void count() {
		}

	}

	@DistributedLock
	static class FinalMethodOfClass {

		public final void run() {
		}

	}

	interface Job {

		@DistributedLock
		void run();

	}

	@DistributedLock
	static class GuardedFinalMethod {

		protected final void run() {
		}

	}

	@DistributedLock
	static class NothingToCover {

		private void run() {
		}

		static void helper() {
			new NothingToCover().run();
		}

		@Override
		public String toString() {
			return "nothing";
		}

	}

	static class Template {

		public void run() {
		}

	}

	@DistributedLock
	static class InheritsAll extends Template {

	}

	interface OtherJob {

		@DistributedLock(key = "'other'")
		void run();

	}

	static class TwoJobs implements Job, OtherJob {

		@Override
		public void run() {
		}

	}

	@DistributedLock(key = "'marked'")
	interface Marked {

		void run();

	}

	@DistributedLock(key = "'other'")
	interface OtherMarked {

	}

	static class TwoMarks implements Marked, OtherMarked {

		@Override
		public void run() {
		}

	}

	interface OtherSource {

		@DistributedLock(key = "'other'")
		String run();

	}

	static class OfBoth extends Base<String> implements OtherSource {

		@Override
		public String run() {
			return "";
		}

	}

	static class FinalMethodOfInterface implements Job {

		@Override
		public final void run() {
		}

	}

	static final class FinalClass {

		@DistributedLock
		public void run() {
		}

	}

	static sealed class SealedClass permits BelowSealed {

		@DistributedLock
		public void run() {
		}

	}

	static final class BelowSealed extends SealedClass {

	}

	static sealed class SealedJob implements Job permits BelowSealedJob {

		@Override
		public void run() {
		}

	}

	static final class BelowSealedJob extends SealedJob {

	}

	static class Factories implements Job {

		private Factories() {
		}

		@Override
		public void run() {
		}

	}

	static class TwoConstructors {

		@Autowired
		TwoConstructors() {
			this("");
		}

		private TwoConstructors(String name) {
		}

		@DistributedLock
		public void run() {
		}

	}

	@Configuration
	static class MakesBeans {

		@Bean
		@DistributedLock
		String text() {
			return "";
		}

	}

	@Configuration(proxyBeanMethods = false)
	static class MakesBeansStatically {

		@Bean
		@DistributedLock
		static String text() {
			return "";
		}

	}

	static class Mistakes {

		@DistributedLock
		private void ofItself() {
		}

		@DistributedLock
		public static void ofTheClass() {
		}

		@DistributedLock
		public final void unchangeable() {
		}

		@DistributedLock
		public OwnPublisher ownPublisher() {
			throw new UnsupportedOperationException();
		}

		@DistributedLock
		public Future<String> future() {
			throw new UnsupportedOperationException();
		}

		@DistributedLock(mode = LockMode.SHARED, fair = true)
		public void sharedAndFair() {
		}

		@DistributedLock(mode = LockMode.SHARED, fenced = true)
		public void sharedAndFenced() {
		}

		@DistributedLock(permits = 2, permitsString = "3")
		public void twoNumbers() {
		}

		@DistributedLock(permits = 2, mode = LockMode.SHARED)
		public void permitsAndShared() {
		}

		@DistributedLock(permits = 2, fair = true)
		public void permitsAndFair() {
		}

		@DistributedLock(permits = 2, fenced = true)
		public void permitsAndFenced() {
		}

		@DistributedLock(key = { "'a'", "'b'" }, fenced = true)
		public void fencedKeys() {
		}

	}

	interface OwnPublisher extends Flow.Publisher<String> {

	}

	static class Base<R> {

		@DistributedLock
		public R run() {
			throw new UnsupportedOperationException();
		}

	}

	static class GenericPublisher extends Base<OwnPublisher> {

	}

}
