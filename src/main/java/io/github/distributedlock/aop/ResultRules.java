package io.github.distributedlock.aop;

import java.lang.reflect.Method;

import io.github.distributedlock.internal.OutlivingResult;
import org.jspecify.annotations.Nullable;

import org.springframework.core.ResolvableType;

/**
 * Refuses results that outlive the method, and with the method the lock, in a way that
 * cannot be followed: at start-up where the declaration tells, and else when the result
 * is returned.
 *
 * @param annotated the method
 * @param open whether the declared type leaves open which type is returned
 */
record ResultRules(AnnotatedMethod annotated, boolean open) {

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
			throw annotated.refuse("the method is a suspend function" + OutlivingResult.TOO_EARLY,
					remedy(annotated, "a suspend function"));
		}
		ResolvableType result = annotated.result();
		ResolvableType type = (reactive && OutlivingResult.isReactive(result.toClass())) ? result.getGeneric(0)
				: result;
		String outliving = reactive ? OutlivingResult.findInContent(type) : OutlivingResult.find(type);
		if (outliving != null) {
			throw annotated.refuse("the method returns " + outliving
					+ ((type != result) ? " inside of a " + result.toClass().getSimpleName() : "")
					+ OutlivingResult.TOO_EARLY, remedy(annotated, outliving));
		}
		return new ResultRules(annotated, OutlivingResult.isOpen(type));
	}

	/**
	 * Checks a result whose type the declaration does not tell.
	 * @throws IllegalStateException if the result outlives the method
	 */
	void check(@Nullable Object result) {
		refuse((this.open && result != null) ? OutlivingResult.find(result) : null);
	}

	/**
	 * Checks the value of a returned stage, or an element of a returned stream. The lock
	 * is held until the stage or stream has ended, so the value must not be a stage, too.
	 * @throws IllegalStateException if the value outlives the stage or stream
	 */
	void checkContent(@Nullable Object value) {
		refuse((this.open && value != null) ? OutlivingResult.findInContent(value) : null);
	}

	private void refuse(@Nullable String outliving) {
		if (outliving != null) {
			throw new IllegalStateException(this.annotated + ": the method has returned " + outliving
					+ OutlivingResult.TOO_EARLY + " (" + remedy(this.annotated, outliving) + ")");
		}
	}

	private static String remedy(AnnotatedMethod annotated, String outliving) {
		boolean reactive = OutlivingResult.isReactive(outliving);
		return (reactive
				? "let the result be the stream itself, declared as Mono, Flux or Publisher, or as the basic type of its library"
				: "return CompletableFuture, or the plain result") + ", or lock in code"
				+ ((annotated.declaration() instanceof Method) ? ""
						: "; or, since the annotation is on the type, move it to the methods that need the lock");
	}

}
