package io.github.distributedlock.aop;

import java.lang.annotation.Annotation;
import java.lang.reflect.Method;
import java.lang.reflect.Modifier;
import java.util.Set;

import org.springframework.util.ClassUtils;

/**
 * Refuses methods that would run without the lock, since no proxy intercepts them.
 */
final class MethodRules {

	private static final String FOR_FINAL = "remove final (in Kotlin: open, or the kotlin-spring plugin)";

	private static final Set<String> LIFECYCLE = Set.of("jakarta.annotation.PostConstruct",
			"jakarta.annotation.PreDestroy");

	private MethodRules() {
	}

	static void check(AnnotatedMethod annotated) {
		checkReachable(annotated);
		checkCalledOnTheProxy(annotated);
	}

	private static void checkReachable(AnnotatedMethod annotated) {
		Method method = annotated.method();
		int modifiers = method.getModifiers();
		if (Modifier.isPrivate(modifiers)) {
			throw unlocked(annotated, "is private", "make it public and call it on the bean, or move the annotation");
		}
		if (Modifier.isStatic(modifiers)) {
			throw unlocked(annotated, "is static", "make it an instance method, or lock by hand");
		}
		if (Modifier.isFinal(modifiers)) {
			throw unlocked(annotated, "is final", FOR_FINAL);
		}
		Class<?> beanClass = annotated.beanClass();
		if (Modifier.isFinal(beanClass.getModifiers()) && ClassUtils.getAllInterfacesForClass(beanClass).length == 0) {
			throw unlocked(annotated, "is in a final class", FOR_FINAL);
		}
		if ((modifiers & (Modifier.PUBLIC | Modifier.PROTECTED)) == 0
				&& !method.getDeclaringClass().getPackageName().equals(beanClass.getPackageName())) {
			throw unlocked(annotated, "is visible only in the package of " + method.getDeclaringClass().getName(),
					"make it public or protected");
		}
	}

	/*
	 * Spring calls these on the bean itself, before there is a proxy. An annotation on
	 * the class does not mean them.
	 */
	private static void checkCalledOnTheProxy(AnnotatedMethod annotated) {
		if (annotated.declaration() instanceof Method) {
			for (Annotation annotation : annotated.method().getAnnotations()) {
				if (LIFECYCLE.contains(annotation.annotationType().getName())) {
					throw annotated.refuse("the method is called by Spring on the bean itself (@"
							+ annotation.annotationType().getSimpleName()
							+ "), so that it would run unlocked: move the locked part to another bean, or lock by hand");
				}
			}
		}
	}

	private static RuntimeException unlocked(AnnotatedMethod annotated, String why, String remedy) {
		return annotated
			.refuse("the method " + why + ", so that no proxy can intercept it and it would run unlocked: " + remedy);
	}

}
