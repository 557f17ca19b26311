package io.github.distributedlock.aop;

import java.lang.reflect.Method;
import java.util.Arrays;
import java.util.Collection;
import java.util.Collections;
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
 * Refuses results that outlive the method, and with the method the lock, in a way that
 * cannot be followed: at start-up where the declaration tells, and else when the result
 * is returned.
 *
 * @param annotated the method
 * @param open whether the declared type leaves open which type is returned
 */
record ResultRules(AnnotatedMethod annotated, boolean open) {

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
			List.of("an iterator that is read later", Iterator.class.getName()),
			List.of("a future that does not signal its completion", Future.class.getName()));

	/**
	 * The kinds above that can be followed if Reactor is present.
	 */
	private static final Set<String> REACTIVE = Set.of("a reactive stream", "a Kotlin flow", "a reactive result");

	private static final String ENTITY = "org.springframework.http.HttpEntity";

	private static final String TOO_EARLY = ", and the lock would be released before that is done";

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

	/**
	 * Returns the rules for the results of a method.
	 * @param reactive whether the method's own result may outlive the method; the content
	 * of the result may not
	 * @throws io.github.distributedlock.LockDefinitionException if the declared result
	 * outlives the method
	 */
	static ResultRules of(AnnotatedMethod annotated, boolean reactive) {
		Class<?>[] parameters = annotated.method().getParameterTypes();
		if (!reactive && parameters.length > 0
				&& "kotlin.coroutines.Continuation".equals(parameters[parameters.length - 1].getName())) {
			throw annotated.refuse("the method is a suspend function" + TOO_EARLY,
					remedy(annotated, "a suspend function"));
		}
		ResolvableType result = annotated.result();
		ResolvableType type = (reactive && isReactive(result.toClass())) ? result.getGeneric(0) : result;
		String outliving = reactive ? content(type, DEPTH) : outliving(type, DEPTH);
		if (outliving != null) {
			throw annotated.refuse(
					"the method returns " + outliving
							+ ((type != result) ? " inside of a " + result.toClass().getSimpleName() : "") + TOO_EARLY,
					remedy(annotated, outliving));
		}
		return new ResultRules(annotated, isOpen(type, DEPTH));
	}

	/**
	 * Returns whether a result of a type is subscribed to.
	 */
	static boolean isReactive(Class<?> type) {
		return KINDS.get(type).filter(REACTIVE::contains).isPresent();
	}

	/**
	 * Checks a result whose type the declaration does not tell.
	 * @throws IllegalStateException if the result outlives the method
	 */
	void check(@Nullable Object result) {
		refuse((this.open && result != null) ? outliving(result, DEPTH) : null);
	}

	/**
	 * Checks the value of a returned stage, or an element of a returned stream. The lock
	 * is held until the stage or stream has ended, so the value must not be a stage, too.
	 * @throws IllegalStateException if the value outlives the stage or stream
	 */
	void checkContent(@Nullable Object value) {
		refuse((this.open && value != null) ? content(value, DEPTH) : null);
	}

	private void refuse(@Nullable String outliving) {
		if (outliving != null) {
			throw new IllegalStateException(this.annotated + ": the method has returned " + outliving + TOO_EARLY + " ("
					+ remedy(this.annotated, outliving) + ")");
		}
	}

	private static String remedy(AnnotatedMethod annotated, String outliving) {
		boolean reactive = REACTIVE.stream().anyMatch(outliving::startsWith);
		return (reactive
				? "let the result be the stream itself, declared as Mono, Flux or Publisher, or as the basic type of its library"
				: "return CompletableFuture, or the plain result") + ", or lock in code"
				+ ((annotated.declaration() instanceof Method) ? ""
						: "; or, since the annotation is on the type, move it to the methods that need the lock");
	}

	/**
	 * Looks for a result that outlives its method, in a type or an object and its
	 * contents.
	 */
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

	private static boolean isOpen(ResolvableType type, int depth) {
		// Object and AutoCloseable are the supertypes of the refused types.
		return type.toClass() == Object.class || type.toClass() == AutoCloseable.class
				|| (depth > 0 && contents(type).stream().anyMatch((content) -> isOpen(content, depth - 1)));
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

	private static @Nullable String kind(@Nullable Class<?> type) {
		if (type == null || CompletionStage.class.isAssignableFrom(type)) {
			return null;
		}
		String kind = OUTLIVING.stream()
			.filter((each) -> each.contains(type.getName()))
			.map((each) -> each.get(0))
			.findFirst()
			.orElse(null);
		for (Class<?> each : type.getInterfaces()) {
			kind = (kind != null) ? kind : kind(each);
		}
		return (kind != null) ? kind : kind(type.getSuperclass());
	}

}
