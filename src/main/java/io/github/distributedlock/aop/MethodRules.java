package io.github.distributedlock.aop;

import java.lang.reflect.Constructor;
import java.lang.reflect.Method;
import java.lang.reflect.Modifier;
import java.lang.reflect.Proxy;
import java.util.List;
import java.util.stream.Stream;

import io.github.distributedlock.annotation.IfBusy;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

import org.springframework.beans.factory.Aware;
import org.springframework.beans.factory.DisposableBean;
import org.springframework.beans.factory.InitializingBean;
import org.springframework.context.SmartLifecycle;
import org.springframework.core.KotlinDetector;
import org.springframework.core.annotation.MergedAnnotations;
import org.springframework.core.annotation.MergedAnnotations.SearchStrategy;
import org.springframework.util.ClassUtils;

/**
 * Refuses methods that would run without the lock, since no proxy intercepts them.
 */
final class MethodRules {

	private static final Logger logger = LoggerFactory.getLogger(MethodRules.class);

	private static final String FOR_FINAL = "remove final (in Kotlin: open, or the kotlin-spring plugin)";

	/**
	 * The annotations of methods that Spring calls on the bean itself, by name.
	 */
	private static final List<String> LIFECYCLE = List.of("jakarta.annotation.PostConstruct",
			"jakarta.annotation.PreDestroy", "jakarta.annotation.Resource", "jakarta.inject.Inject",
			"javax.annotation.PostConstruct", "javax.annotation.PreDestroy", "javax.annotation.Resource",
			"javax.inject.Inject", "org.springframework.beans.factory.annotation.Autowired",
			"org.springframework.beans.factory.annotation.Value");

	private static final String BEAN = "org.springframework.context.annotation.Bean";

	private static final String SCHEDULED = "org.springframework.scheduling.annotation.Scheduled";

	private static final String ASYNC = "org.springframework.scheduling.annotation.Async";

	/**
	 * The annotation of Spring 7 that chooses the kind of proxy for one class.
	 */
	private static final String PROXYABLE = "org.springframework.context.annotation.Proxyable";

	private MethodRules() {
	}

	/**
	 * Refuses a method that would run without its lock, and warns of a scheduled method
	 * that would run under the lock more often than is meant.
	 * @param subclasses whether each proxy is a subclass, also where there are interfaces
	 */
	static void check(AnnotatedMethod annotated, boolean subclasses) {
		checkReachable(annotated, subclasses);
		checkCalledOnTheProxy(annotated);
		MergedAnnotations annotations = MergedAnnotations.from(annotated.method());
		if ((annotations.isPresent(SCHEDULED) || annotations.isPresent(SCHEDULED + "s"))
				&& annotated.annotation().ifBusy() != IfBusy.SKIP && annotated.annotation().fallback().isEmpty()) {
			logger
				.warn("{}: the method is scheduled in each JVM. Where its lock is busy, the method waits, and then runs as"
						+ " well or fails. To run it in one JVM only, write @DistributedLock(ifBusy = IfBusy.SKIP,"
						+ " minHoldTime = \"30s\"), with a minHoldTime above the difference of the clocks and below the"
						+ " time between two runs", annotated);
		}
	}

	private static void checkReachable(AnnotatedMethod annotated, boolean subclasses) {
		Method method = annotated.method();
		boolean ofFactory = AnnotatedMethod.isOfFactory(method, annotated.beanClass());
		if (ofFactory || MergedAnnotations.from(method).isPresent(BEAN)) {
			throw annotated.refuse(
					"the method makes a bean (" + (ofFactory ? "FactoryBean" : "@Bean")
							+ "), so that the lock would be held while the bean is made, and not"
							+ " while the methods of the bean run",
					"annotate the methods of the bean's class, or its class; to make the bean under a lock, lock in code");
		}
		int modifiers = method.getModifiers();
		if (Modifier.isPrivate(modifiers)) {
			throw unlocked(annotated, "is private", "make it public and call it on the bean, or move the annotation");
		}
		if (Modifier.isStatic(modifiers)) {
			throw unlocked(annotated, "is static", "make it an instance method, or lock in code");
		}
		if (Modifier.isFinal(modifiers)) {
			throw unlocked(annotated, "is final", forFinal(annotated.beanClass()));
		}
		Class<?> beanClass = annotated.beanClass();
		boolean hasInterface = ClassUtils.getAllInterfacesForClass(beanClass).length > 0;
		// Proxy and lambda classes are proxied by their interfaces, whatever is set.
		boolean generated = Proxy.isProxyClass(beanClass) || ClassUtils.isLambdaClass(beanClass);
		boolean proxied = generated || !subclasses || MergedAnnotations.from(beanClass).isPresent(PROXYABLE);
		if (!(hasInterface && proxied)) {
			checkExtensible(annotated, hasInterface);
		}
		if ((modifiers & (Modifier.PUBLIC | Modifier.PROTECTED)) == 0
				&& !AnnotatedMethod.isInPackageOf(method, beanClass)) {
			throw unlocked(annotated, "is visible only in the package of " + method.getDeclaringClass().getName(),
					"make it public or protected");
		}
	}

	/**
	 * Refuses a method of a class that no proxy can extend.
	 * @param hasInterface whether the proxy may implement interfaces instead
	 */
	private static void checkExtensible(AnnotatedMethod annotated, boolean hasInterface) {
		Class<?> beanClass = annotated.beanClass();
		String instead = hasInterface ? ", or set spring.aop.proxy-target-class=false, for a proxy of its interfaces"
				: "";
		if (Modifier.isFinal(beanClass.getModifiers())) {
			throw unlocked(annotated, "is in a final class", forFinal(beanClass) + instead);
		}
		if (beanClass.isSealed()) {
			throw unlocked(annotated, "is in a sealed class", "remove sealed" + instead);
		}
		Constructor<?>[] constructors = beanClass.getDeclaredConstructors();
		if (constructors.length > 0
				&& Stream.of(constructors).allMatch((constructor) -> Modifier.isPrivate(constructor.getModifiers()))) {
			throw unlocked(annotated, "is in a class with no constructor but private ones",
					"make one visible in the package, or protected" + instead);
		}
	}

	/**
	 * Returns the remedy for a final class or method. Kotlin lets nothing in an object be
	 * open.
	 */
	private static String forFinal(Class<?> beanClass) {
		return (KotlinDetector.isKotlinType(beanClass) && Stream.of(beanClass.getDeclaredFields())
			.anyMatch((field) -> field.getName().equals("INSTANCE") && field.getType() == beanClass))
					? "let it be an open class instead of an object" : FOR_FINAL;
	}

	private static void checkCalledOnTheProxy(AnnotatedMethod annotated) {
		Method method = annotated.method();
		for (String name : LIFECYCLE) {
			// Spring calls a callback of a superclass also where the callback is
			// overridden, and does not inject into a method that overrides another one.
			boolean callback = name.endsWith("Construct") || name.endsWith("Destroy");
			if (MergedAnnotations.from(method, callback ? SearchStrategy.SUPERCLASS : SearchStrategy.DIRECT)
				.isPresent(name)) {
				refuseLifecycleMethod(annotated, "@" + ClassUtils.getShortName(name));
			}
		}
		for (Class<?> type : AnnotatedMethod.types(annotated.beanClass())) {
			if ((type == InitializingBean.class || type == DisposableBean.class
					|| (type.isInterface() && List.of(type.getInterfaces()).contains(Aware.class)))
					&& ClassUtils.hasMethod(type, method)) {
				refuseLifecycleMethod(annotated, ClassUtils.getShortName(type));
			}
		}
		if (SmartLifecycle.class.isAssignableFrom(annotated.beanClass()) && method.getName().equals("stop")
				&& method.getParameterCount() == 0) {
			// The default method that Spring calls with a callback calls this one.
			refuseLifecycleMethod(annotated, "SmartLifecycle");
		}
	}

	/**
	 * Refuses a method that Spring calls on the bean itself, where there is no proxy. An
	 * annotation on the class does not mean such methods, so they are accepted then.
	 * @param why the reason for which Spring calls the method
	 */
	static void refuseLifecycleMethod(AnnotatedMethod annotated, String why) {
		if (annotated.declaration() instanceof Method) {
			throw annotated.refuse(
					"the method is called by Spring on the bean itself (" + why + "), so that it would run unlocked",
					"move the locked part to another bean, or lock in code");
		}
	}

	/**
	 * Refuses a method that runs on another thread than the one that has the lock.
	 * @param woven whether AspectJ has woven {@code @Async} into the method's class
	 * @param advice hands the method to the other thread, if not {@code null}
	 */
	static void refuseAsync(AnnotatedMethod annotated, boolean woven, @Nullable Object advice) {
		String remedy = "or call the locked method of another bean in the asynchronous one";
		if (advice != null) {
			throw annotated.refuse(
					"the method is handed to another thread by advice inside of its lock ("
							+ ClassUtils.getShortName(advice.getClass()) + "), which would run it unlocked",
					"give @EnableAsync no order of its own, so that it is outside of the lock, " + remedy);
		}
		Method method = annotated.method();
		if (woven && Stream.of(method, method.getDeclaringClass())
			.anyMatch((element) -> MergedAnnotations.from(element).isPresent(ASYNC))) {
			throw annotated.refuse("AspectJ hands the method to another thread inside of its lock (@EnableAsync with"
					+ " AdviceMode.ASPECTJ), which would run it unlocked", "use AdviceMode.PROXY, " + remedy);
		}
	}

	private static RuntimeException unlocked(AnnotatedMethod annotated, String why, String remedy) {
		return annotated.refuse("the method " + why + ", so that no proxy can intercept it and it would run unlocked",
				remedy);
	}

}
