package io.github.distributedlock.aop;

import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.nio.file.Path;
import java.util.Map;
import java.util.concurrent.Flow;
import java.util.concurrent.Future;

import io.github.distributedlock.LockDefinitionException;
import io.github.distributedlock.annotation.DistributedLock;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

import org.springframework.beans.factory.FactoryBean;
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
					""")
	void methodThatCannotBeLocked(String method, String problem, String remedy) {
		assertThat(REFUSALS.get(method))
			.hasMessageStartingWith("@DistributedLock on " + Mistakes.class.getName() + "." + method + problem)
			.hasMessageContaining(remedy);
	}

	@ParameterizedTest
	@CsvSource({ "BelowPrivateMethod, the method is private", "FinalMethodOfClass, run(): the method is final",
			"FinalMethodOfInterface, run(): the method is final", "FinalClass, run(): the method is in a final class",
			"GenericPublisher, returns a reactive stream" })
	void methodOfAClassThatCannotBeLocked(String type, String problem) throws Exception {
		AdvisorContext.refusal(Class.forName(RefusedMethodTests.class.getName() + "$" + type))
			.hasMessageContaining(problem);
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
				.hasMessageContainingAll("TwoJobs.run(): there are several lock annotations on ", "$Job.run() and on ",
						"$OtherJob.run(), of which one would be ignored (write the one that counts");
		}
		AdvisorContext.refusal(TwoMarks.class)
			.hasMessageContainingAll("TwoMarks.run(): there are several lock annotations on interface ",
					"$Marked and on interface ", "$OtherMarked, of which one would be ignored");
	}

	@Test
	void superclassAndInterfaceWithDifferentLocksForOneMethod() {
		AdvisorContext.refusal(OfBoth.class)
			.hasMessageContainingAll("OfBoth.run(): there are several lock annotations on ",
					"$OtherSource.run() and on ", "$Base.run(), of which one would be ignored");
	}

	@Test
	void severalMethodsOfAClassAreToldTogether() {
		String start = "@DistributedLock on " + SeveralMistakes.class.getName() + ".";
		AdvisorContext.refusal(SeveralMistakes.class).satisfies((ex) -> {
			assertThat(ex.getMessage().lines()).hasSize(4)
				.satisfiesExactly(
						(line) -> assertThat(line)
							.isEqualTo("3 lock annotations of " + SeveralMistakes.class.getName() + " cannot work:"),
						(line) -> assertThat(line).startsWith(start + "buy(): there are several lock annotations")
							.contains("write one with several keys"),
						(line) -> assertThat(line).startsWith(start + "count(): the method is private"),
						(line) -> assertThat(line).startsWith(start + "sell(String): key = \"sku\" reads the word"));
			assertThat(ex.getSuppressed()).hasSize(3).allMatch(LockDefinitionException.class::isInstance);
		});
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
			.hasMessageContainingAll("run(): the method is in a class with no constructor but private ones",
					"(make one visible in the package, or protected, or set spring.aop");
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
	void methodOfAFactoryThatMakesABean() {
		AdvisorContext.refusal(MakesABean.class)
			.hasMessageContaining("MakesABean.getObject(): the method makes a bean (FactoryBean), so that the lock");
	}

	static class MakesABean implements FactoryBean<String> {

		@Override
		@DistributedLock
		public String getObject() {
			return "";
		}

		@Override
		public Class<?> getObjectType() {
			return String.class;
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
			.hasMessageContainingAll("far.Below.run(): the method is visible only in the package of near.Above",
					"make it public or protected");
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
			.hasMessageContainingAll("acme.Service.run(): the method returns a ", "(acme.Service$Special)");
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
