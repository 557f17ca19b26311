package io.github.distributedlock.aop;

import java.lang.annotation.Annotation;
import java.lang.reflect.Field;
import java.lang.reflect.Method;
import java.lang.reflect.Modifier;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collection;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.Consumer;
import java.util.function.Function;
import java.util.stream.Collectors;
import java.util.stream.Stream;

import io.github.distributedlock.DistributedLock;
import io.github.distributedlock.LockDefinitionException;
import io.github.distributedlock.LockRequest;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

import org.springframework.aop.config.AopConfigUtils;
import org.springframework.aop.framework.ProxyConfig;
import org.springframework.aop.support.AopUtils;
import org.springframework.beans.BeansException;
import org.springframework.beans.factory.BeanFactory;
import org.springframework.beans.factory.BeanFactoryUtils;
import org.springframework.beans.factory.BeanNotOfRequiredTypeException;
import org.springframework.beans.factory.ListableBeanFactory;
import org.springframework.beans.factory.NoSuchBeanDefinitionException;
import org.springframework.beans.factory.config.SingletonBeanRegistry;
import org.springframework.core.KotlinDetector;
import org.springframework.core.annotation.AnnotatedElementUtils;
import org.springframework.core.annotation.AnnotationUtils;
import org.springframework.core.env.PropertyResolver;
import org.springframework.expression.spel.support.StandardEvaluationContext;
import org.springframework.util.ClassUtils;
import org.springframework.util.ReflectionUtils;

/**
 * Knows the definition of each annotated method, and its lock. The first question about a
 * class, which comes when the bean is created, resolves and checks the whole class. Each
 * lock is looked up at the first use, and not before, since a scheduler calls methods
 * while beans are made. Used by many threads.
 */
class LockDefinitionSource {

	private static final Logger logger = LoggerFactory.getLogger(LockDefinitionSource.class);

	private static final Class<? extends Annotation> ANNOTATION = io.github.distributedlock.annotation.DistributedLock.class;

	private static final Set<String> STORES = Set.of("redisLock", "jdbcLock", "memoryLock");

	private final Map<Class<?>, Map<Method, LockDefinition>> definitions = new ConcurrentHashMap<>();

	private final Map<Class<?>, Boolean> annotatedTypes = new ConcurrentHashMap<>();

	private final StandardEvaluationContext shared;

	private final PropertyResolver properties;

	private final BeanFactory beanFactory;

	private final Function<String, DistributedLock> beans;

	private final Map<String, DistributedLock> locks = new ConcurrentHashMap<>();

	private final Set<Method> calledInTransactions = ConcurrentHashMap.newKeySet();

	LockDefinitionSource(Function<String, DistributedLock> beans, BeanFactory beanFactory,
			PropertyResolver properties) {
		this.beans = beans;
		this.properties = properties;
		this.beanFactory = beanFactory;
		this.shared = KeyContext.shared(beanFactory);
	}

	/**
	 * Returns the definition of a method.
	 * @param method the method that is called, also one of an interface or a bridge
	 * @param targetClass the class of the object on which the method is called
	 * @return the definition, or {@code null} if the method is not annotated
	 */
	@Nullable LockDefinition find(Method method, Class<?> targetClass) {
		Map<Method, LockDefinition> known = in(targetClass);
		LockDefinition definition = known.get(method);
		if (definition == null && !known.isEmpty()) {
			Class<?> declaring = method.getDeclaringClass();
			// An introduction adds an interface that the class does not have.
			definition = declaring.isAssignableFrom(targetClass)
					? known.get(AopUtils.getMostSpecificMethod(method, targetClass)) : in(declaring).get(method);
			if (definition != null) {
				known.put(method, definition);
			}
		}
		return definition;
	}

	/**
	 * Checks the definitions of all methods that were found so far.
	 * @throws LockDefinitionException if the check has refused a definition
	 */
	void forEach(Consumer<LockDefinition> check) {
		this.definitions.forEach((targetClass, known) -> checkEach(ClassUtils.getUserClass(targetClass),
				new LinkedHashSet<>(known.values()), check));
	}

	/**
	 * Warns of methods that have a key in common and yet do not limit each other, as a
	 * common key lets expect. A key that begins with a parameter is left out: such a key
	 * does not show what it locks.
	 */
	void warnOfDifferences() {
		Map<String, LockDefinition> first = new HashMap<>();
		forEach((definition) -> Stream.of(definition.annotated().annotation().key())
			.filter((key) -> !key.startsWith("#"))
			.forEach((key) -> {
				LockDefinition other = first.computeIfAbsent(key, (any) -> definition);
				int permits = definition.template().prototype().permits();
				int others = other.template().prototype().permits();
				String what = (lockOf(definition) != lockOf(other)) ? "stores, so that neither waits for the other"
						: (permits != others && permits > 1 && others > 1)
								? "permits, and each request goes by its own number" : null;
				if (what != null) {
					logger.warn("{} has the key \"{}\" of {}, but different {}: write the same in both, or another key",
							definition.annotated(), key, other.annotated(), what);
				}
			}));
	}

	/**
	 * Warns, once for each method, of a call inside a transaction.
	 */
	void warnOfTransaction(LockDefinition definition) {
		if (this.calledInTransactions.add(definition.annotated().method())) {
			logger.warn("{}: called inside a running transaction, so that the lock is held until that "
					+ "transaction has completed; to hold it for the method alone, call it before the transaction "
					+ "begins", definition.annotated());
		}
	}

	/**
	 * Returns the lock of a method.
	 * @throws LockDefinitionException if there is no such bean
	 */
	DistributedLock lockOf(LockDefinition definition) {
		DistributedLock known = this.locks.get(definition.store());
		if (known == null) {
			try {
				known = this.beans.apply(definition.store());
			}
			catch (NoSuchBeanDefinitionException | BeanNotOfRequiredTypeException ex) {
				throw refuseStore(definition, ex);
			}
			this.locks.put(definition.store(), known);
		}
		return known;
	}

	/**
	 * Lists the lock beans that there are, for a method whose own lock bean cannot be
	 * found.
	 */
	private LockDefinitionException refuseStore(LockDefinition definition, BeansException failure) {
		List<String> beans = (this.beanFactory instanceof ListableBeanFactory factory) ? Arrays
			.stream(BeanFactoryUtils.beanNamesForTypeIncludingAncestors(factory, DistributedLock.class, true, false))
			.flatMap((name) -> Stream.concat(Stream.of(name), Arrays.stream(factory.getAliases(name))))
			.collect(Collectors.toCollection(ArrayList::new)) : new ArrayList<>();
		String remedy = "";
		String store = definition.store().replace("Lock", "");
		// The engine of the default store, which has the name of that store, too.
		if (beans.remove("distributedLockEngine") && STORES.contains(store + "Lock")
				&& !beans.contains(store + "Lock")) {
			remedy = "add " + store + " to distributed-lock.backend and write " + store + "Lock, or ";
		}
		return definition.annotated()
			.refuse("store", definition.store(), "names no single DistributedLock bean: " + failure.getMessage(),
					remedy + (beans.isEmpty() ? "define a DistributedLock bean" : "write one of "
							+ String.join(", ", beans) + ", or mark one with @Primary as the default"),
					failure);
	}

	/**
	 * Returns the request of each method that was found so far. Keys that only a call
	 * knows are placeholders.
	 */
	List<LockRequest> requests() {
		return this.definitions.values()
			.stream()
			.flatMap((known) -> known.values().stream())
			.distinct()
			.map((definition) -> definition.template().prototype())
			.toList();
	}

	/**
	 * Returns the annotated methods of a class with their definitions. All declarations
	 * of a method have the same definition.
	 * @throws LockDefinitionException if any of the definitions cannot work
	 */
	Map<Method, LockDefinition> in(Class<?> targetClass) {
		Map<Method, LockDefinition> known = this.definitions.get(targetClass);
		if (known == null) {
			Class<?> beanClass = ClassUtils.getUserClass(targetClass);
			known = (beanClass != targetClass) ? in(beanClass) : resolve(beanClass);
			this.definitions.put(targetClass, known);
		}
		return known;
	}

	private Map<Method, LockDefinition> resolve(Class<?> beanClass) {
		Set<Class<?>> types = AnnotatedMethod.types(beanClass);
		if (KotlinDetector.isKotlinType(beanClass)) {
			refuseCompanion(beanClass);
		}
		if (types.stream().noneMatch(this::isAnnotated)) {
			return Map.of();
		}
		Map<AnnotatedMethod, LockDefinition> definitions = new HashMap<>();
		Map<Method, LockDefinition> resolved = new ConcurrentHashMap<>();
		checkEach(beanClass, declarations(types, beanClass).entrySet(), (each) -> {
			AnnotatedMethod annotated = AnnotatedMethod.find(each.getKey(), each.getValue(), beanClass);
			if (annotated != null) {
				LockDefinition definition = definitions.computeIfAbsent(annotated, this::define);
				resolved.put(each.getKey(), definition);
				each.getValue().forEach((declaration) -> resolved.put(declaration, definition));
			}
		});
		if (resolved.isEmpty()) {
			throw new LockDefinitionException(
					"@DistributedLock on a type of " + beanClass.getName()
							+ ": there is no method that the annotation covers, so that all would run unlocked",
					"an annotation on a class is for methods that are declared there or in a subclass, and are not"
							+ " private or static: override the method that is to be locked, or annotate it",
					null);
		}
		return resolved;
	}

	/**
	 * Refuses annotated methods of the companion object: no bean has them, though they
	 * stand in the class of a bean.
	 */
	private void refuseCompanion(Class<?> beanClass) {
		for (Class<?> nested : beanClass.getDeclaredClasses()) {
			// The class has its companion object in a field, whose name is that of the
			// object.
			Field companion = ReflectionUtils.findField(beanClass, nested.getSimpleName(), nested);
			if (companion != null && Modifier.isStatic(companion.getModifiers()) && isAnnotated(nested)) {
				throw new LockDefinitionException(
						"@DistributedLock in the companion object of " + beanClass.getName()
								+ ": a companion object is no bean, so that its methods would run unlocked",
						"move the method into the class", null);
			}
		}
	}

	/**
	 * Returns the declarations of each method, by the method that runs.
	 */
	private static Map<Method, Set<Method>> declarations(Set<Class<?>> types, Class<?> beanClass) {
		Map<Method, Set<Method>> declarations = new LinkedHashMap<>();
		for (Class<?> type : types) {
			for (Method method : ReflectionUtils.getDeclaredMethods(type)) {
				if (method.isBridge() || AnnotatedMethod.isInSource(method)) {
					Method specific = AopUtils.getMostSpecificMethod(method, beanClass);
					declarations.computeIfAbsent(specific, (any) -> new LinkedHashSet<>()).add(method);
				}
			}
		}
		return declarations;
	}

	private LockDefinition define(AnnotatedMethod annotated) {
		MethodRules.check(annotated, makesSubclasses());
		return LockDefinition.of(annotated, this.properties, this.shared);
	}

	/**
	 * Checks all elements of a class before throwing: a single mistake is thrown
	 * unchanged, several as one exception that lists them.
	 */
	private static <T> void checkEach(Class<?> beanClass, Collection<T> all, Consumer<T> check) {
		// The map sorts the mistakes, since the JVM gives methods in any order.
		Map<String, LockDefinitionException> refusals = new TreeMap<>();
		for (T each : all) {
			try {
				check.accept(each);
			}
			catch (LockDefinitionException ex) {
				refusals.put(String.valueOf(ex.getMessage()), ex);
			}
		}
		if (refusals.size() == 1) {
			throw refusals.values().iterator().next();
		}
		if (!refusals.isEmpty()) {
			LockDefinitionException together = new LockDefinitionException(refusals.size() + " lock annotations of "
					+ beanClass.getName() + " cannot work:\n" + String.join("\n", refusals.keySet()), null, null);
			refusals.values().forEach(together::addSuppressed);
			throw together;
		}
	}

	/**
	 * Returns whether a type carries the annotation, on the type or on one of its
	 * methods. Spring's own types are left out: most beans of a small application are
	 * Spring's own, and reading all their methods is most of what this class would cost
	 * at start-up. Spring's samples are applications, so they are not left out.
	 */
	private boolean isAnnotated(Class<?> type) {
		String name = type.getName();
		boolean ofSpring = name.startsWith("org.springframework.") && !name.startsWith("org.springframework.samples.");
		return !ofSpring && this.annotatedTypes.computeIfAbsent(type,
				(any) -> AnnotationUtils.isCandidateClass(type, ANNOTATION)
						&& (AnnotatedElementUtils.isAnnotated(type, ANNOTATION)
								|| Arrays.stream(ReflectionUtils.getDeclaredMethods(type))
									.anyMatch((method) -> AnnotatedElementUtils.isAnnotated(method, ANNOTATION))));
	}

	/**
	 * Returns whether Spring makes each proxy as a subclass, as Spring Boot configures by
	 * default.
	 */
	private boolean makesSubclasses() {
		return this.beanFactory instanceof SingletonBeanRegistry singletons
				&& singletons.getSingleton(AopConfigUtils.AUTO_PROXY_CREATOR_BEAN_NAME) instanceof ProxyConfig creator
				&& creator.isProxyTargetClass();
	}

}
