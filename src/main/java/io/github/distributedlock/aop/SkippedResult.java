package io.github.distributedlock.aop;

import java.lang.reflect.Array;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.OptionalDouble;
import java.util.OptionalInt;
import java.util.OptionalLong;
import java.util.Queue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.function.Supplier;

import io.github.distributedlock.annotation.IfBusy;
import io.github.distributedlock.internal.OutlivingResult;
import org.jspecify.annotations.Nullable;

import org.springframework.core.CollectionFactory;
import org.springframework.core.ReactiveAdapter;

/**
 * The result of a skipped call: nothing, in the form that the method's result type
 * offers.
 */
final class SkippedResult {

	private static final Map<Class<?>, Supplier<Object>> EMPTY = Map.of(Optional.class, Optional::empty,
			OptionalInt.class, OptionalInt::empty, OptionalLong.class, OptionalLong::empty, OptionalDouble.class,
			OptionalDouble::empty, Iterable.class, ArrayList::new, Queue.class, ArrayDeque::new, Deque.class,
			ArrayDeque::new, CompletionStage.class, () -> CompletableFuture.completedFuture(null),
			CompletableFuture.class, () -> CompletableFuture.completedFuture(null));

	private SkippedResult() {
	}

	/**
	 * Returns a supplier of the results of skipped calls.
	 * @param reactive the reactive type of the result, {@code null} if the result is not
	 * reactive
	 * @return a supplier, asked at each skipped call because callers may change
	 * collections, or {@code null} if calls are never skipped
	 */
	static @Nullable Supplier<@Nullable Object> of(AnnotatedMethod annotated, @Nullable ReactiveAdapter reactive) {
		if (annotated.annotation().ifBusy() != IfBusy.SKIP) {
			return null;
		}
		if (reactive != null && OutlivingResult.isReactive(annotated.result().toClass())) {
			if (!reactive.supportsEmpty()) {
				throw refuse(annotated,
						"that returns " + annotated.resultType().getName() + ", which always has a value",
						"return one that may be empty");
			}
			return () -> null; // the subscription completes without a value
		}
		Class<?> type = annotated.resultType();
		if (type.isPrimitive() && type != void.class) {
			throw refuse(annotated, "that returns " + type, "return an object (null then says skipped)");
		}
		if (EMPTY.containsKey(type)) {
			return EMPTY.get(type)::get;
		}
		if (type.isArray()) {
			return () -> Array.newInstance(type.getComponentType(), 0);
		}
		Supplier<Object> empty = Map.class.isAssignableFrom(type) ? () -> CollectionFactory.createMap(type, 0)
				: () -> CollectionFactory.createCollection(type, 0);
		if (isPossible(empty)) {
			return empty::get;
		}
		if (ReactiveResults.isNeverNull(annotated)) {
			throw refuse(annotated, "whose result is never null", "let it be a function that returns "
					+ annotated.result().toClass().getSimpleName() + "? (null then says skipped)");
		}
		return () -> null;
	}

	private static RuntimeException refuse(AnnotatedMethod annotated, String which, String remedy) {
		return annotated.refuse("ifBusy", IfBusy.SKIP,
				"has no result to return for a skipped call of a method " + which, remedy + ", or use a fallback");
	}

	private static boolean isPossible(Supplier<Object> empty) {
		try {
			Objects.requireNonNull(empty.get());
			return true;
		}
		catch (RuntimeException ex) {
			return false; // No collection, or of a type that nobody can instantiate.
		}
	}

}
