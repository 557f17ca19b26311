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
import java.util.concurrent.TimeUnit;
import java.util.function.Function;
import java.util.function.Supplier;
import java.util.stream.IntStream;
import java.util.stream.Stream;

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
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

/**
 * Results that outlive the method are refused at start-up if the declaration tells, and
 * when they are returned if only the object does.
 */
class OutlivingResultTests {

	private static final String REMEDY = ", and the lock would be released before that is done"
			+ " (return CompletableFuture, or the plain result, or lock in code";

	@ParameterizedTest
	@CsvSource(delimiter = ';', value = { "Work; work that is done later (java.util.concurrent.Callable)",
			"Lazy; work that is done later (java.util.function.Supplier)",
			"Numbers; a lazy stream (java.util.stream.IntStream)",
			"Cursor; an iterator that is read later (java.util.Iterator)",
			"MaybeFuture; a future (java.util.concurrent.CompletableFuture) inside of a Optional",
			"Futures; a future (java.util.concurrent.CompletionStage) inside of a List",
			"FutureArray; a future (java.util.concurrent.CompletableFuture) inside of a CompletableFuture[]",
			"FuturesByName; a future that does not signal its completion (java.util.concurrent.FutureTask) inside of a Map",
			"StreamLater; a lazy stream (java.util.stream.Stream) inside of a CompletableFuture",
			"Bound; work that is done later (java.util.function.Supplier)" })
	void declarationThatTells(String type, String what) throws Exception {
		AdvisorContext.refusal(Class.forName(OutlivingResultTests.class.getName() + "$" + type))
			.hasMessageContaining("run(): the method returns " + what)
			.hasMessageEndingWith(REMEDY + ")");
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
				.withMessageContaining("acme.Service.run(): the method has returned work that is done later")
				.withMessageContaining("inside of a HttpEntity");
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
		try (AdvisorContext context = AdvisorContext.of(Open.class)) {
			assertThatIllegalStateException().isThrownBy(() -> context.get(Open.class).any((any) -> result))
				.withMessageStartingWith(
						"@DistributedLock on " + Open.class.getName() + ".any(Function): " + "the method has returned ")
				.withMessageEndingWith(REMEDY + ")");
			assertThatIllegalStateException().isThrownBy(() -> context.get(Open.class).inferred((any) -> result));
			assertThat(context.lock().events).containsExactly("acquire", "release", "acquire", "release");
		}
	}

	static Stream<Object> plain() {
		return Stream.of("x", 1, Optional.of("x"), List.of("x", Optional.empty()), Map.of("x", 1), new int[] { 1 },
				new Object[] { "x" }, Path.of("a", "b"));
	}

	@ParameterizedTest
	@MethodSource("plain")
	void plainObjectIsReturned(Object result) {
		try (AdvisorContext context = AdvisorContext.of(Open.class)) {
			assertThat(context.get(Open.class).any((any) -> result)).isSameAs(result);
		}
	}

	@Test
	void elementsThatTheDeclarationLeavesOpen() {
		try (AdvisorContext context = AdvisorContext.of(Open.class)) {
			Open open = context.get(Open.class);
			assertThatIllegalStateException().isThrownBy(() -> open.list(List.of(new CompletableFuture<>())))
				.withMessageContaining(
						"has returned a future (java.util.concurrent.CompletableFuture) inside of a List");
			assertThat(open.list(List.of("x"))).containsExactly("x");
		}
	}

	@Test
	void elementsOfSpringDataAreNoWorkThatIsDoneLater() {
		Page<String> page = new PageImpl<>(List.of("x"));
		try (AdvisorContext context = AdvisorContext.of(SpringData.class, Open.class)) {
			assertThat(context.get(SpringData.class).page(page)).isSameAs(page);
			assertThat(context.get(SpringData.class).sort(Sort.by("x"))).isEqualTo(Sort.by("x"));
			assertThat(context.get(SpringData.class).window(Window.from(List.of("x"), (i) -> ScrollPosition.keyset())))
				.containsExactly("x");
			assertThat(context.get(Open.class).any((any) -> page)).isSameAs(page);
		}
		AdvisorContext.refusal(PageOfFutures.class)
			.hasMessageContaining("returns a future (java.util.concurrent.CompletableFuture) inside of a Page");
	}

	@ParameterizedTest
	@ValueSource(booleans = { true, false })
	void valueOfAStageThatOutlivesTheStage(boolean late) {
		CompletableFuture<Object> stage = new CompletableFuture<>();
		Runnable completion = () -> stage.complete(new CompletableFuture<>());
		try (AdvisorContext context = AdvisorContext.of(Open.class)) {
			assertThatThrownBy(() -> {
				if (!late) {
					completion.run();
				}
				CompletableFuture<Object> result = context.get(Open.class).stage(stage);
				completion.run();
				result.get(Patience.PATIENCE.toSeconds(), TimeUnit.SECONDS);
			}).hasMessageContaining(
					"Open.stage(CompletableFuture): the method has returned a future (java.util.concurrent.CompletableFuture)"
							+ REMEDY);
			assertThat(context.lock().events).containsExactly("acquire", "release");
		}
	}

	@Test
	void typeThatHappensToBeASupplierToo() {
		Both both = new Both();
		try (AdvisorContext context = AdvisorContext.of(Open.class)) {
			assertThat(context.get(Open.class).path(both)).isSameAs(both);
		}
	}

	@Test
	void stageOfATypeThatTheCallerKnowsIsReturnedAsItIs() {
		StageTests.Special special = new StageTests.Special();
		try (AdvisorContext context = AdvisorContext.of(Open.class)) {
			StageTests.Special result = context.get(Open.class).inferred((any) -> special);
			assertThat(result).isSameAs(special);
			assertThat(context.lock().events).containsExactly("acquire");
			special.complete("done");
			assertThat(context.lock().events).containsExactly("acquire", "release");
		}
	}

	@Test
	void stageThatALossCannotInterruptFailsTheCallButKeepsTheLock() {
		CompletableFuture<String> stage = new CompletableFuture<>();
		try (AdvisorContext context = AdvisorContext.of(Reacting.class)) {
			assertThatIllegalStateException().isThrownBy(() -> context.get(Reacting.class).interrupting(stage))
				.withMessageContaining(
						"Reacting.interrupting(Object): onLost = INTERRUPT interrupts the thread that runs"
								+ " the method, but a method that returns java.util.concurrent.CompletableFuture goes on elsewhere");
			assertThat(context.lock().events).containsExactly("acquire");
			stage.complete("done");
			assertThat(context.lock().events).containsExactly("acquire", "release");
		}
	}

	@Test
	void stageThatALossCannotFailFailsTheCall() {
		try (AdvisorContext context = AdvisorContext.of(Reacting.class)) {
			assertThatIllegalStateException()
				.isThrownBy(() -> context.get(Reacting.class).throwing(new StageTests.Special()))
				.withMessageContaining("onLost = THROW lets the returned future fail, but cannot make one of type");
		}
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

	static class PageOfFutures extends Declared<Page<CompletableFuture<String>>> {

	}

	abstract static class Declared<R> {

		@DistributedLock
		public R run() {
			throw new UnsupportedOperationException();
		}

	}

	static class Work extends Declared<Callable<String>> {

	}

	static class Lazy extends Declared<Supplier<String>> {

	}

	static class Numbers extends Declared<IntStream> {

	}

	static class Cursor extends Declared<Iterator<String>> {

	}

	static class MaybeFuture extends Declared<Optional<CompletableFuture<String>>> {

	}

	static class Futures extends Declared<List<? extends CompletionStage<String>>> {

	}

	static class FutureArray extends Declared<CompletableFuture<?>[]> {

	}

	static class FuturesByName extends Declared<Map<String, FutureTask<String>>> {

	}

	static class StreamLater extends Declared<CompletableFuture<Stream<String>>> {

	}

	static class Bound {

		@DistributedLock
		public <T extends Supplier<String>> T run() {
			throw new UnsupportedOperationException();
		}

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

	}

	static class Reacting {

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
