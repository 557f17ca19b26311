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

import org.jspecify.annotations.Nullable;

import org.springframework.core.ResolvableType;
import org.springframework.util.ReflectionUtils;

/**
 * Refuses results that outlive the method, and with it the lock, in a way that cannot be
 * followed: at start-up where the declaration tells, and else when they are returned.
 */
final class ResultRules {

	/**
	 * By name, since their libraries need not be there.
	 */
	private static final Map<String, String> OUTLIVING = Map.ofEntries(
			Map.entry("org.reactivestreams.Publisher", "a reactive stream"),
			Map.entry(Flow.Publisher.class.getName(), "a reactive stream"),
			Map.entry("kotlinx.coroutines.flow.Flow", "a Kotlin flow"),
			Map.entry("kotlinx.coroutines.Job", "a Kotlin job"),
			Map.entry("kotlin.sequences.Sequence", "a lazy sequence"),
			Map.entry("io.reactivex.rxjava3.core.SingleSource", "a reactive result"),
			Map.entry("io.reactivex.rxjava3.core.MaybeSource", "a reactive result"),
			Map.entry("io.reactivex.rxjava3.core.CompletableSource", "a reactive result"),
			Map.entry("io.reactivex.rxjava3.core.ObservableSource", "a reactive result"),
			Map.entry("io.smallrye.mutiny.Uni", "a reactive result"),
			Map.entry("org.springframework.web.context.request.async.DeferredResult", "a deferred result"),
			Map.entry("org.springframework.web.context.request.async.WebAsyncTask", "a deferred result"),
			Map.entry("org.springframework.web.servlet.mvc.method.annotation.StreamingResponseBody",
					"a body that is written later"),
			Map.entry("org.springframework.web.servlet.mvc.method.annotation.ResponseBodyEmitter",
					"a body that is written later"),
			Map.entry(Callable.class.getName(), "work that is done later"),
			Map.entry(Supplier.class.getName(), "work that is done later"),
			Map.entry(BaseStream.class.getName(), "a lazy stream"),
			Map.entry(Iterator.class.getName(), "an iterator that is read later"));

	/**
	 * A result that is declared as one of their supertypes may turn out to be one.
	 */
	private static final List<Class<?>> OUTLIVING_OF_THE_JDK = List.of(Flow.Publisher.class, Callable.class,
			Supplier.class, BaseStream.class, Iterator.class, Future.class);

	/**
	 * The kinds above that can be followed where Reactor is.
	 */
	private static final Set<String> REACTIVE = Set.of("a reactive stream", "a Kotlin flow", "a reactive result");

	private static final String ENTITY = "org.springframework.http.HttpEntity";

	private static final String TOO_EARLY = ", and the lock would be released before that is done";

	/** Ends the search in types that contain themselves, as a path is made of paths. */
	private static final int DEPTH = 5;

	private static final ClassValue<Optional<String>> KINDS = new ClassValue<>() {

		@Override
		protected Optional<String> computeValue(Class<?> type) {
			return Optional.ofNullable(kind(type));
		}

	};

	private final AnnotatedMethod annotated;

	private final boolean open;

	private ResultRules(AnnotatedMethod annotated, boolean open) {
		this.annotated = annotated;
		this.open = open;
	}

	/**
	 * The rules for the results of a method.
	 * @param reactive whether its own result may outlive it, but not what that contains
	 * @throws io.github.distributedlock.LockDefinitionException if its declaration says
	 * that they outlive it
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
		String outliving = outliving(type, DEPTH);
		if (outliving == null && reactive && CompletionStage.class.isAssignableFrom(type.toClass())) {
			outliving = "a future (" + type.toClass().getName() + ")";
		}
		if (outliving != null) {
			throw annotated.refuse(
					"the method returns " + outliving
							+ ((type != result) ? " inside of a " + result.toClass().getSimpleName() : "") + TOO_EARLY,
					remedy(annotated, outliving));
		}
		return new ResultRules(annotated, isOpen(type, DEPTH));
	}

	/**
	 * Whether a result of that type is subscribed to.
	 */
	static boolean isReactive(Class<?> type) {
		return KINDS.get(type).filter(REACTIVE::contains).isPresent();
	}

	/**
	 * Looks at a result whose declaration does not tell what it is.
	 * @throws IllegalStateException if it outlives the method
	 */
	void check(@Nullable Object result) {
		String outliving = this.open ? outliving(result, DEPTH) : null;
		if (outliving != null) {
			throw new IllegalStateException(this.annotated + ": the method has returned " + outliving + TOO_EARLY + " ("
					+ remedy(this.annotated, outliving) + ")");
		}
	}

	private static String remedy(AnnotatedMethod annotated, String outliving) {
		boolean reactive = REACTIVE.stream().anyMatch(outliving::startsWith);
		return (reactive
				? "let the result be the stream itself, declared as Mono, Flux or Publisher, or as the basic type of its library"
				: "return CompletableFuture, or the plain result") + ", or lock by hand"
				+ ((annotated.declaration() instanceof Method) ? ""
						: "; or, since the annotation is on the type, move it to the methods that need the lock");
	}

	private static @Nullable String outliving(ResolvableType type, int depth) {
		Class<?> raw = type.toClass();
		String kind = KINDS.get(raw).orElse(null);
		if (kind != null) {
			return kind + " (" + raw.getName() + ")";
		}
		if (depth == 0) {
			return null;
		}
		ResolvableType content = content(type);
		Class<?> contained = content.toClass();
		if (CompletionStage.class.isAssignableFrom(contained)) {
			return "a future (" + contained.getName() + ") inside of a " + raw.getSimpleName();
		}
		String outliving = (content != ResolvableType.NONE) ? outliving(content, depth - 1) : null;
		return (outliving != null) ? outliving + " inside of a " + raw.getSimpleName() : null;
	}

	private static boolean isOpen(ResolvableType type, int depth) {
		Class<?> raw = type.toClass();
		if (OUTLIVING_OF_THE_JDK.stream().anyMatch(raw::isAssignableFrom)) {
			return true;
		}
		ResolvableType content = content(type);
		return depth > 0 && content != ResolvableType.NONE && isOpen(content, depth - 1);
	}

	private static ResolvableType content(ResolvableType type) {
		if (type.isArray()) {
			return type.getComponentType();
		}
		if (type.as(Map.class) != ResolvableType.NONE) {
			return type.as(Map.class).getGeneric(1);
		}
		for (Class<?> container : List.of(CompletionStage.class, Optional.class, Iterable.class)) {
			if (type.as(container) != ResolvableType.NONE) {
				return type.as(container).getGeneric(0);
			}
		}
		for (ResolvableType above = type; above != ResolvableType.NONE; above = above.getSuperType()) {
			if (above.toClass().getName().equals(ENTITY)) {
				return above.getGeneric(0);
			}
		}
		return ResolvableType.NONE;
	}

	private static @Nullable String outliving(@Nullable Object value, int depth) {
		if (value == null) {
			return null;
		}
		String kind = KINDS.get(value.getClass()).orElse(null);
		if (kind != null) {
			return kind + " (" + value.getClass().getName() + ")";
		}
		if (depth == 0) {
			return null;
		}
		for (Object content : contents(value)) {
			String outliving = (content instanceof CompletionStage) ? "a future (" + content.getClass().getName() + ")"
					: outliving(content, depth - 1);
			if (outliving != null) {
				return outliving + " inside of a " + value.getClass().getSimpleName();
			}
		}
		return null;
	}

	/*
	 * Not those of collections that are not the JDK's, or that are views of one: they
	 * might be loaded only now.
	 */
	private static Collection<?> contents(Object value) {
		if (value instanceof Object[] array) {
			return Arrays.asList(array);
		}
		String name = value.getClass().getName();
		if (name.startsWith("java.util.") && !name.startsWith("java.util.Collections$")) {
			if (value instanceof Optional<?> optional) {
				return optional.stream().toList();
			}
			if (value instanceof Collection<?> collection) {
				return collection;
			}
			return (value instanceof Map<?, ?> map) ? map.values() : List.of();
		}
		return body(value);
	}

	private static List<@Nullable Object> body(Object value) {
		Class<?> type = value.getClass();
		while (type != null && !type.getName().equals(ENTITY)) {
			type = type.getSuperclass();
		}
		Method getter = (type != null) ? ReflectionUtils.findMethod(type, "getBody") : null;
		return (getter != null) ? Collections.singletonList(ReflectionUtils.invokeMethod(getter, value)) : List.of();
	}

	private static @Nullable String kind(Class<?> type) {
		if (Future.class.isAssignableFrom(type) && !CompletionStage.class.isAssignableFrom(type)) {
			return "a future that does not tell when it completes";
		}
		return listed(type);
	}

	private static @Nullable String listed(Class<?> type) {
		String kind = OUTLIVING.get(type.getName());
		for (Class<?> each : type.getInterfaces()) {
			kind = (kind != null) ? kind : listed(each);
		}
		return (kind == null && type.getSuperclass() != null) ? listed(type.getSuperclass()) : kind;
	}

}
