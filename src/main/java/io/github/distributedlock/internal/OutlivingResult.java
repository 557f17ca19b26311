package io.github.distributedlock.internal;

import java.lang.reflect.Method;
import java.util.Arrays;
import java.util.Collection;
import java.util.Collections;
import java.util.HashSet;
import java.util.Iterator;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.Callable;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.Flow;
import java.util.concurrent.Future;
import java.util.function.Supplier;
import java.util.stream.BaseStream;
import java.util.stream.Stream;

import org.jspecify.annotations.Nullable;

import org.springframework.core.ResolvableType;
import org.springframework.util.ReflectionUtils;

/**
 * Finds results that outlive the code which returns them, and with the code the lock, in
 * a type or in an object and its contents.
 */
public final class OutlivingResult {

	/**
	 * What is wrong with such a result, in messages.
	 */
	public static final String TOO_EARLY = ", and the lock would be released before that is done";

	private static final String LATER = "work that is done later";

	/**
	 * Kinds of results that outlive their method, each followed by the names of its
	 * types, since the libraries of the types may be absent.
	 */
	private static final List<List<String>> OUTLIVING = List.of(
			List.of("a reactive stream", Flow.Publisher.class.getName(), "org.reactivestreams.Publisher"),
			List.of("a Kotlin flow", "kotlinx.coroutines.flow.Flow"), List.of("a Kotlin job", "kotlinx.coroutines.Job"),
			List.of("a lazy sequence", "kotlin.sequences.Sequence"),
			List.of("a reactive result", "io.reactivex.rxjava3.core.SingleSource",
					"io.reactivex.rxjava3.core.MaybeSource", "io.reactivex.rxjava3.core.CompletableSource",
					"io.reactivex.rxjava3.core.ObservableSource", "io.smallrye.mutiny.Uni"),
			List.of("a deferred result", "org.springframework.web.context.request.async.DeferredResult",
					"org.springframework.web.context.request.async.WebAsyncTask"),
			List.of("a body that is written later",
					"org.springframework.web.servlet.mvc.method.annotation.StreamingResponseBody",
					"org.springframework.web.servlet.mvc.method.annotation.ResponseBodyEmitter"),
			List.of(LATER, Callable.class.getName(), Supplier.class.getName(), "kotlin.jvm.functions.Function0",
					"kotlin.Lazy"),
			List.of("a lazy stream", BaseStream.class.getName()),
			List.of("a result of another library that is there later", "io.vertx.core.Future",
					"io.reactivex.SingleSource", "io.reactivex.MaybeSource", "io.reactivex.CompletableSource",
					"io.reactivex.ObservableSource", "kotlinx.coroutines.channels.ReceiveChannel",
					"org.apache.ibatis.cursor.Cursor"),
			List.of("an iterator that is read later", Iterator.class.getName()),
			List.of("a future that does not signal its completion", Future.class.getName()));

	private static final String ENTITY = "org.springframework.http.HttpEntity";

	/**
	 * The kinds above that can be followed if Reactor is present.
	 */
	private static final Set<String> REACTIVE = Set.of("a reactive stream", "a Kotlin flow", "a reactive result");

	/** Ends the search in types that contain themselves, as a path is made of paths. */
	private static final int DEPTH = 5;

	private static final ClassValue<Optional<String>> KINDS = new ClassValue<>() {

		@Override
		protected Optional<String> computeValue(Class<?> type) {
			// A Streamable of Spring Data, such as a Page, contains elements, and is a
			// Supplier, too.
			return Optional.ofNullable(kind(type))
				.filter((kind) -> !kind.equals(LATER) || !Iterable.class.isAssignableFrom(type));
		}

	};

	private OutlivingResult() {
	}

	/**
	 * Returns whether a result of a type is subscribed to.
	 */
	public static boolean isReactive(Class<?> type) {
		return KINDS.get(type).filter(REACTIVE::contains).isPresent();
	}

	/**
	 * Returns whether what was found is subscribed to.
	 */
	public static boolean isReactive(String found) {
		return REACTIVE.stream().anyMatch(found::startsWith);
	}

	/**
	 * Looks for a result that outlives its method, in a {@link ResolvableType} or an
	 * object.
	 * @return what was found, for a message; {@code null} if nothing was
	 */
	public static @Nullable String find(Object result) {
		return outliving(result, DEPTH);
	}

	/**
	 * Looks for what outlives the stage or the stream that it is the value of, as a stage
	 * does, too.
	 * @return what was found, for a message; {@code null} if nothing was
	 */
	public static @Nullable String findInContent(Object value) {
		return content(value, DEPTH);
	}

	/**
	 * Returns whether a declared type leaves open which type is returned.
	 */
	public static boolean isOpen(ResolvableType type) {
		return isOpen(type, DEPTH);
	}

	private static boolean isOpen(ResolvableType type, int depth) {
		// Object and AutoCloseable are the supertypes of the refused types.
		return type.toClass() == Object.class || type.toClass() == AutoCloseable.class
				|| (depth > 0 && contents(type).stream().anyMatch((content) -> isOpen(content, depth - 1)));
	}

	private static @Nullable String outliving(Object result, int depth) {
		Class<?> type = classOf(result);
		String kind = KINDS.get(type).orElse(null);
		if (kind != null) {
			return kind + " (" + type.getName() + ")";
		}
		for (Object content : (depth > 0) ? contents(result) : List.of()) {
			String outliving = (content != null) ? content(content, depth - 1) : null;
			if (outliving != null) {
				return outliving + " inside of a " + type.getSimpleName();
			}
		}
		return null;
	}

	private static @Nullable String content(Object content, int depth) {
		Class<?> type = classOf(content);
		return CompletionStage.class.isAssignableFrom(type) ? "a future (" + type.getName() + ")"
				: outliving(content, depth);
	}

	private static Class<?> classOf(Object result) {
		return (result instanceof ResolvableType type) ? type.toClass() : result.getClass();
	}

	private static List<ResolvableType> contents(ResolvableType type) {
		if (type.isArray()) {
			return List.of(type.getComponentType());
		}
		if (type.as(Map.class) != ResolvableType.NONE) {
			return List.of(type.as(Map.class).getGeneric(1));
		}
		return Stream
			.concat(Stream.of(CompletionStage.class, Optional.class, Iterable.class).map(type::as),
					Stream.iterate(type, (above) -> above != ResolvableType.NONE, ResolvableType::getSuperType)
						.filter((above) -> above.toClass().getName().equals(ENTITY)))
			.filter((container) -> container != ResolvableType.NONE)
			.limit(1)
			.map((container) -> container.getGeneric(0))
			.toList();
	}

	/*
	 * Returns the contents of a value. Collections outside the JDK, and views of
	 * collections, are not looked into: reading their elements might load them only now.
	 */
	private static Collection<?> contents(Object value) {
		if (value instanceof ResolvableType type) {
			return contents(type);
		}
		if (value instanceof Object[] array) {
			return Arrays.asList(array);
		}
		Class<?> type = value.getClass();
		if (type.getName().startsWith("java.util.") && !type.getName().startsWith("java.util.Collections$")) {
			if (value instanceof Optional<?> optional) {
				return optional.stream().toList();
			}
			return (value instanceof Map<?, ?> map) ? map.values()
					: (value instanceof Collection<?> collection) ? collection : List.of();
		}
		while (type != null && !type.getName().equals(ENTITY)) {
			type = type.getSuperclass();
		}
		Method getter = (type != null) ? ReflectionUtils.findMethod(type, "getBody") : null;
		return (getter != null) ? Collections.singletonList(ReflectionUtils.invokeMethod(getter, value)) : List.of();
	}

	/*
	 * Returns the first kind in the order above: Reactor's Flux.just(…) is a Callable,
	 * too.
	 */
	private static @Nullable String kind(Class<?> type) {
		Set<String> names = new HashSet<>();
		addNames(type, names);
		return CompletionStage.class.isAssignableFrom(type) ? null
				: OUTLIVING.stream()
					.filter((each) -> !Collections.disjoint(each, names))
					.map((each) -> each.get(0))
					.findFirst()
					.orElse(null);
	}

	private static void addNames(@Nullable Class<?> type, Set<String> names) {
		if (type != null) {
			names.add(type.getName());
			addNames(type.getSuperclass(), names);
			for (Class<?> each : type.getInterfaces()) {
				addNames(each, names);
			}
		}
	}

}
