package io.github.distributedlock.aop;

import java.lang.reflect.InvocationTargetException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Iterator;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.Callable;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.FutureTask;
import java.util.function.Function;
import java.util.function.Supplier;
import java.util.stream.IntStream;
import java.util.stream.Stream;

import io.github.distributedlock.LockDefinitionException;
import io.github.distributedlock.OnLost;
import io.github.distributedlock.annotation.DistributedLock;
import io.github.distributedlock.fixtures.Patience;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;

import org.springframework.data.domain.Page;
import org.springframework.data.domain.PageImpl;
import org.springframework.data.domain.ScrollPosition;
import org.springframework.data.domain.Slice;
import org.springframework.data.domain.Sort;
import org.springframework.data.domain.Window;
import org.springframework.data.util.Streamable;
import org.springframework.http.ResponseEntity;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

/**
 * Results that outlive the method are refused at start-up if the declaration tells, and
 * when they are returned if only the object does.
 */
class OutlivingResultTests extends AdvisedFixture<OutlivingResultTests.Open> {

	private static final String REMEDY = ", and the lock would be released before that is done"
			+ " (return CompletableFuture, or the plain result, or lock in code";

	OutlivingResultTests() {
		super(Open.class);
	}

	@ParameterizedTest
	@CsvSource(delimiter = ';',
			textBlock = """
					work; work that is done later (java.util.concurrent.Callable)
					lazy; work that is done later (java.util.function.Supplier)
					numbers; a lazy stream (java.util.stream.IntStream)
					cursor; an iterator that is read later (java.util.Iterator)
					maybeFuture; a future (java.util.concurrent.CompletableFuture) inside of a Optional
					futures; a future (java.util.concurrent.CompletionStage) inside of a List
					futureArray; a future (java.util.concurrent.CompletableFuture) inside of a CompletableFuture[]
					futuresByName; a future that does not signal its completion (java.util.concurrent.FutureTask) inside of a Map
					pageOfFutures; a future (java.util.concurrent.CompletableFuture) inside of a Page
					streamLater; a lazy stream (java.util.stream.Stream) inside of a CompletableFuture
					bound; work that is done later (java.util.function.Supplier)
					""")
	void declarationThatTells(String method, String what) {
		assertThatExceptionOfType(LockDefinitionException.class)
			.isThrownBy(() -> Definitions.of(Declared.class, method, "", Map.of()))
			.withMessageContaining(method + "(): the method returns " + what)
			.withMessageEndingWith(REMEDY + ")");
	}

	@ParameterizedTest
	@ValueSource(strings = { "org.springframework.web.context.request.async.DeferredResult",
			"org.springframework.web.context.request.async.WebAsyncTask",
			"org.springframework.web.servlet.mvc.method.annotation.StreamingResponseBody",
			"org.springframework.web.servlet.mvc.method.annotation.ResponseBodyEmitter", "io.vertx.core.Future",
			"io.reactivex.SingleSource", "io.reactivex.MaybeSource", "io.reactivex.CompletableSource",
			"io.reactivex.ObservableSource", "kotlinx.coroutines.channels.ReceiveChannel",
			"org.apache.ibatis.cursor.Cursor" })
	void asynchronousResultsOfOtherLibraries(String result, @TempDir Path directory) {
		int dot = result.lastIndexOf('.');
		Class<?> type = Sources.compile(directory, "acme.Service", Map.of(result, """
				package %s;
				public class %s { }
				""".formatted(result.substring(0, dot), result.substring(dot + 1)), "acme.Service", """
				package acme;
				public class Service {
					@io.github.distributedlock.annotation.DistributedLock
					public %s run() { return null; }
				}
				""".formatted(result)));
		AdvisorContext.refusal(type).hasMessageContaining("(" + result + ")" + REMEDY);
	}

	@ParameterizedTest
	@ValueSource(strings = { "java.util.concurrent.Callable<String>", "java.util.concurrent.CompletableFuture<String>",
			"java.util.List<java.util.concurrent.Future<?>>" })
	void bodyOfAResponse(String body, @TempDir Path directory) {
		Class<?> type = responses(directory, "org.springframework.http.ResponseEntity<" + body + ">", "null");
		AdvisorContext.refusal(type).hasMessageContaining("inside of a ResponseEntity" + REMEDY);
	}

	@Test
	void bodyThatOnlyTheObjectTells(@TempDir Path directory) throws Exception {
		Class<?> type = responses(directory, "org.springframework.http.HttpEntity<?>",
				"new org.springframework.http.HttpEntity<>((java.util.function.Supplier<String>) () -> \"x\")");
		try (AdvisorContext context = AdvisorContext.of(type)) {
			assertThatIllegalStateException().isThrownBy(() -> invoke(type, context.get(type)))
				.withMessageContainingAll("acme.Service.run(): the method has returned work that is done later",
						"inside of a HttpEntity");
			assertThat(context.lock().events).containsExactly("acquire", "release");
		}
	}

	private static Class<?> responses(Path directory, String result, String value) {
		return Sources.compile(directory, "acme.Service", Map.of("org.springframework.http.HttpEntity", """
				package org.springframework.http;
				public class HttpEntity<T> {
					private final T body;
					public HttpEntity(T body) { this.body = body; }
					public T getBody() { return this.body; }
				}
				""", "org.springframework.http.ResponseEntity", """
				package org.springframework.http;
				public class ResponseEntity<T> extends HttpEntity<T> {
					public ResponseEntity(T body) { super(body); }
				}
				""", "acme.Service", """
				package acme;
				public class Service {
					@io.github.distributedlock.annotation.DistributedLock
					public %s run() { return %s; }
				}
				""".formatted(result, value)));
	}

	private static Object invoke(Class<?> type, Object bean) {
		try {
			return type.getMethod("run").invoke(bean);
		}
		catch (InvocationTargetException ex) {
			throw (RuntimeException) ex.getCause();
		}
		catch (ReflectiveOperationException ex) {
			throw new AssertionError(ex);
		}
	}

	@Test
	void annotationOnTheClassSaysSo() {
		AdvisorContext.refusal(OnClass.class)
			.hasMessageContaining("OnClass.names(): the method returns a lazy stream (java.util.stream.Stream)")
			.hasMessageEndingWith(
					REMEDY + "; or, since the annotation is on the type, move it to the methods that need the lock)");
	}

	static Stream<Object> outliving() {
		CompletableFuture<String> future = new CompletableFuture<>();
		return Stream.of((Callable<String>) () -> "x", (Supplier<String>) () -> "x", Stream.of("x"), IntStream.of(1),
				List.of("x").iterator(), new FutureTask<>(() -> "x"), Optional.of(future), List.of("x", future),
				new ArrayList<>(Arrays.asList("x", List.of(future))), Map.of("x", future),
				new Object[] { new Object[] { future } });
	}

	@ParameterizedTest
	@MethodSource("outliving")
	void objectThatTells(Object result) {
		assertThatIllegalStateException().isThrownBy(() -> this.service.any((any) -> result))
			.withMessageStartingWith(
					"@DistributedLock on " + Open.class.getName() + ".any(Function): the method has returned ")
			.withMessageEndingWith(REMEDY + ")");
		assertThatIllegalStateException().isThrownBy(() -> this.service.inferred((any) -> result));
		assertThat(this.events).containsExactly("acquire", "release", "acquire", "release");
	}

	static Stream<Object> plain() {
		return Stream.of("x", 1, Optional.of("x"), List.of("x", Optional.empty()), Map.of("x", 1), new int[] { 1 },
				new Object[] { "x" }, Path.of("a", "b"));
	}

	@ParameterizedTest
	@MethodSource("plain")
	void plainObjectIsReturned(Object result) {
		assertThat(this.service.any((any) -> result)).isSameAs(result);
	}

	@Test
	void elementsThatTheDeclarationLeavesOpen() {
		assertThatIllegalStateException().isThrownBy(() -> this.service.list(List.of(new CompletableFuture<>())))
			.withMessageContaining("has returned a future (java.util.concurrent.CompletableFuture) inside of a List");
		assertThat(this.service.list(List.of("x"))).containsExactly("x");
	}

	@Test
	void elementsOfSpringDataAreNoWorkThatIsDoneLater() {
		Page<String> page = new PageImpl<>(List.of("x"));
		try (AdvisorContext data = AdvisorContext.of(SpringData.class)) {
			assertThat(data.get(SpringData.class).page(page)).isSameAs(page);
			assertThat(data.get(SpringData.class).sort(Sort.by("x"))).isEqualTo(Sort.by("x"));
			assertThat(data.get(SpringData.class).window(Window.from(List.of("x"), (i) -> ScrollPosition.keyset())))
				.containsExactly("x");
		}
		assertThat(this.service.any((any) -> page)).isSameAs(page);
	}

	@ParameterizedTest
	@ValueSource(booleans = { true, false })
	void valueOfAStageThatOutlivesTheStage(boolean late) {
		CompletableFuture<Object> stage = new CompletableFuture<>();
		Runnable completion = () -> stage.complete(new CompletableFuture<>());
		assertThatThrownBy(() -> {
			if (!late) {
				completion.run();
			}
			CompletableFuture<Object> result = this.service.stage(stage);
			completion.run();
			Patience.get(result, "the stage");
		}).hasMessageContaining(
				"Open.stage(CompletableFuture): the method has returned a future (java.util.concurrent.CompletableFuture)"
						+ REMEDY);
		assertThat(this.events).containsExactly("acquire", "release");
	}

	@Test
	void typeThatHappensToBeASupplierToo() {
		Both both = new Both();
		assertThat(this.service.path(both)).isSameAs(both);
	}

	@Test
	void stageOfATypeThatTheCallerKnowsIsReturnedAsItIs() {
		StageTests.Special special = new StageTests.Special();
		StageTests.Special result = this.service.inferred((any) -> special);
		assertThat(result).isSameAs(special);
		assertThat(this.events).containsExactly("acquire");
		special.complete("done");
		assertThat(this.events).containsExactly("acquire", "release");
	}

	@Test
	void stageThatALossCannotInterruptOrFailFailsTheCall() {
		CompletableFuture<String> stage = new CompletableFuture<>();
		assertThatIllegalStateException().isThrownBy(() -> this.service.interrupting(stage))
			.withMessageContaining("Open.interrupting(Object): onLost = INTERRUPT interrupts the thread that runs"
					+ " the method, but a method that returns java.util.concurrent.CompletableFuture goes on elsewhere");
		assertThat(this.events).containsExactly("acquire");
		stage.complete("done");
		assertThat(this.events).containsExactly("acquire", "release");
		assertThatIllegalStateException().isThrownBy(() -> this.service.throwing(new StageTests.Special()))
			.withMessageContaining("onLost = THROW lets the returned future fail, but cannot make one of type");
	}

	@DistributedLock(key = "'data'")
	static class SpringData {

		public Page<String> page(Page<String> page) {
			return page;
		}

		public Sort sort(Sort sort) {
			return sort;
		}

		public Window<String> window(Window<String> window) {
			return window;
		}

		public ResponseEntity<Slice<String>> response() {
			return ResponseEntity.ok(Page.empty());
		}

		public Streamable<String> streamable() {
			return Streamable.empty();
		}

	}

	interface Declared {

		Callable<String> work();

		Supplier<String> lazy();

		IntStream numbers();

		Iterator<String> cursor();

		Optional<CompletableFuture<String>> maybeFuture();

		List<? extends CompletionStage<String>> futures();

		CompletableFuture<?>[] futureArray();

		Map<String, FutureTask<String>> futuresByName();

		Page<CompletableFuture<String>> pageOfFutures();

		CompletableFuture<Stream<String>> streamLater();

		<T extends Supplier<String>> T bound();

	}

	@DistributedLock
	static class OnClass {

		public Stream<String> names() {
			return Stream.empty();
		}

	}

	static class Both implements Iterable<Path>, Supplier<String> {

		@Override
		public String get() {
			return "x";
		}

		@Override
		public Iterator<Path> iterator() {
			return List.<Path>of().iterator();
		}

	}

	static class Open {

		@DistributedLock
		public Object any(Function<String, Object> result) {
			return result.apply("x");
		}

		@DistributedLock
		@SuppressWarnings("unchecked")
		public <T> T inferred(Function<String, Object> result) {
			return (T) result.apply("x");
		}

		@DistributedLock
		public CompletableFuture<Object> stage(CompletableFuture<Object> result) {
			return result;
		}

		@DistributedLock
		public List<Object> list(List<Object> result) {
			return result;
		}

		@DistributedLock
		public Iterable<Path> path(Iterable<Path> result) {
			return result;
		}

		@DistributedLock(onLost = OnLost.INTERRUPT)
		public Object interrupting(Object result) {
			return result;
		}

		@DistributedLock(onLost = OnLost.THROW)
		public Object throwing(Object result) {
			return result;
		}

	}

}
