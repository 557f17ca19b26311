package io.github.distributedlock.aop;

import java.io.File;
import java.io.IOException;
import java.net.MalformedURLException;
import java.net.URL;
import java.net.URLClassLoader;
import java.util.Arrays;
import java.util.HashMap;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Flow;
import java.util.stream.Stream;

import io.github.distributedlock.annotation.DistributedLock;
import io.github.distributedlock.fixtures.Patience;
import io.reactivex.rxjava3.core.Single;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import reactor.core.publisher.Mono;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * An application without Reactor, without Kotlin's bridge to Reactor, or without context
 * propagation: methods that need the missing library are refused, and all else works.
 */
class WithoutReactorTests {

	/**
	 * The class loaders of applications by the library that is missing. Each loads Spring
	 * anew.
	 */
	private static final Map<String, URLClassLoader> applications = new HashMap<>();

	@AfterAll
	static void close() throws IOException {
		for (URLClassLoader application : applications.values()) {
			application.close();
		}
	}

	@ParameterizedTest
	@CsvSource(delimiter = '|',
			textBlock = """
					reactor-core | FlowService | returns java.util.concurrent.Flow$Publisher, and a lock can be held \
					until that has ended only with Reactor (add io.projectreactor:reactor-core
					reactor-core | RxService | returns io.reactivex.rxjava3.core.Single, and a lock can be held
					reactor-core | FutureService | works
					context-propagation | MonoService | works
					kotlinx-coroutines-reactor | io.github.distributedlock.kotlin.RefusedFunctionTests$NeverNull | is a suspend function, and \
					a lock can be held until that has ended only with Kotlin's bridge to Reactor \
					(add org.jetbrains.kotlinx:kotlinx-coroutines-reactor and org.jetbrains.kotlin:kotlin-reflect
					kotlin-reflect | io.github.distributedlock.kotlin.RefusedFunctionTests$NeverNull | is a suspend function, and
					kotlinx-coroutines-reactor | FlowOfKotlin | returns a Kotlin Flow, and a lock can be held until \
					that has ended only with Kotlin's bridge to Reactor (add org.jetbrains.kotlinx:kotlinx-coroutines-reactor
					""")
	void worksOrIsRefused(String missing, String service, String outcome) throws Exception {
		Object told = applications.computeIfAbsent(missing, WithoutReactorTests::without)
			.loadClass(Application.class.getName())
			.getMethod("start", String.class)
			.invoke(null, service);
		assertThat(told).asString().contains(outcome);
	}

	private static URLClassLoader without(String library) {
		URL[] urls = Arrays.stream(classPath().split(File.pathSeparator))
			.filter((entry) -> !new File(entry).getName().startsWith(library))
			.map(WithoutReactorTests::url)
			.toArray(URL[]::new);
		return new URLClassLoader(urls, ClassLoader.getPlatformClassLoader());
	}

	// Surefire may start the test on a jar that has nothing but a manifest.
	private static String classPath() {
		return System.getProperty("surefire.test.class.path", System.getProperty("java.class.path"));
	}

	private static URL url(String entry) {
		try {
			return new File(entry).toURI().toURL();
		}
		catch (MalformedURLException ex) {
			throw new IllegalStateException(ex);
		}
	}

	/**
	 * Runs with the class loader of the application.
	 */
	public static final class Application {

		private Application() {
		}

		public static String start(String service) throws Exception {
			// Services in Kotlin are compiled after this class.
			Class<?> type = Class
				.forName(service.contains(".") ? service : WithoutReactorTests.class.getName() + "$" + service);
			ClassLoader before = Thread.currentThread().getContextClassLoader();
			Thread.currentThread().setContextClassLoader(type.getClassLoader());
			try (AdvisorContext context = AdvisorContext.of(type)) {
				Object bean = context.get(type);
				if (bean instanceof MonoService works) {
					return works.run().block(Patience.PATIENCE);
				}
				return (bean instanceof FutureService works) ? Patience.get(works.run(), "the result") : "started";
			}
			catch (Exception ex) {
				return Stream.iterate((Throwable) ex, (each) -> each != null, Throwable::getCause).toList().toString();
			}
			finally {
				Thread.currentThread().setContextClassLoader(before);
			}
		}

	}

	static class FlowService {

		@DistributedLock(key = "'k'")
		public Flow.Publisher<String> run() {
			throw new UnsupportedOperationException();
		}

	}

	static class RxService {

		@DistributedLock(key = "'k'")
		public Single<String> run() {
			throw new UnsupportedOperationException();
		}

	}

	static class FlowOfKotlin {

		@DistributedLock(key = "'k'")
		public kotlinx.coroutines.flow.Flow<String> run() {
			throw new UnsupportedOperationException();
		}

	}

	static class MonoService {

		@DistributedLock(key = "'k'")
		public Mono<String> run() {
			return Mono.just("works");
		}

	}

	static class FutureService {

		@DistributedLock(key = "'k'")
		public CompletableFuture<String> run() {
			return CompletableFuture.completedFuture("works");
		}

	}

}
