package io.github.distributedlock.aop;

import java.lang.reflect.Method;
import java.util.Collection;
import java.util.List;
import java.util.Objects;
import java.util.Set;
import java.util.function.Consumer;
import java.util.function.Function;
import java.util.function.Predicate;

import io.github.distributedlock.DistributedLock;
import io.github.distributedlock.LockRequest;
import io.github.distributedlock.internal.reactive.LockedResult;
import org.aopalliance.aop.Advice;
import org.aopalliance.intercept.MethodInterceptor;

import org.springframework.aop.Pointcut;
import org.springframework.aop.PointcutAdvisor;
import org.springframework.aop.framework.Advised;
import org.springframework.aop.framework.AopProxyUtils;
import org.springframework.aop.support.DefaultPointcutAdvisor;
import org.springframework.aop.support.StaticMethodMatcherPointcut;
import org.springframework.beans.factory.BeanFactory;
import org.springframework.core.Ordered;
import org.springframework.core.env.PropertyResolver;
import org.springframework.transaction.TransactionExecutionListener;

/**
 * Puts the lock around methods with
 * {@link io.github.distributedlock.annotation.DistributedLock @DistributedLock}. An
 * auto-proxy creator finds and applies this advisor.
 * <p>
 * Asking the pointcut about a class checks all lock annotations of that class, and throws
 * {@link io.github.distributedlock.LockDefinitionException} if one of them cannot work.
 *
 * @since 1.0
 */
public final class DistributedLockAdvisor implements PointcutAdvisor, Ordered {

	/**
	 * The order unless {@linkplain #setOrder(int) set}: {@value}. With this order the
	 * lock is inside {@code @Async} and Spring Framework's own {@code @Retryable} and
	 * {@code @ConcurrencyLimit}, which come first whatever the order. The lock is outside
	 * {@code @Cacheable} and {@code @Transactional}, which come last, and outside retries
	 * of other libraries, which come just before these two.
	 */
	public static final int DEFAULT_ORDER = Ordered.LOWEST_PRECEDENCE - 1000;

	private final Pointcut pointcut;

	private final LockInterceptor advice;

	private final LockDefinitionSource definitions;

	private int order = DEFAULT_ORDER;

	/**
	 * Creates the advisor.
	 * @param locks gives the lock of a
	 * {@linkplain io.github.distributedlock.annotation.DistributedLock#store() store}, or
	 * the default lock for an empty name. The function is called at the first call of a
	 * method, or when the start is checked, and not before, since an advisor is made
	 * before ordinary beans are
	 * @param beanFactory for {@code @bean} in expressions
	 * @param properties for <code>${…}</code> in attributes; usually the environment
	 */
	public DistributedLockAdvisor(Function<String, DistributedLock> locks, BeanFactory beanFactory,
			PropertyResolver properties) {
		this.definitions = new LockDefinitionSource(locks, beanFactory, properties);
		this.pointcut = pointcut((definition) -> true);
		this.advice = new LockInterceptor(this.definitions);
	}

	/**
	 * Returns a second advisor for the same methods, to be the innermost of all. If the
	 * annotation says {@link io.github.distributedlock.OnLost#THROW}, this advisor lets a
	 * lost lock also roll back the reactive transaction of the same method: the result
	 * fails where the method makes the result, inside of the advice that commits when the
	 * result completes. A blocking method needs no such advisor, since the
	 * {@linkplain #commitGuard() guard} finds the lock by the thread.
	 * @return the advisor, of lowest precedence, to come after that of transactions
	 */
	public PointcutAdvisor commitCheck() {
		Pointcut pointcut = pointcut(
				(definition) -> definition.reactive() != null && definition.lossReaction().fails());
		MethodInterceptor check = (invocation) -> {
			Object result = invocation.proceed();
			LockDefinition definition = this.definitions.find(invocation.getMethod(),
					Objects.requireNonNull(invocation.getThis()).getClass());
			return (definition != null && definition.reactive() != null && result != null)
					? LockedResult.failingIfLost(definition.reactive(), result) : result;
		};
		return new DefaultPointcutAdvisor(pointcut, check);
	}

	/**
	 * Returns the listener that lets no transaction commit inside a method whose lock was
	 * lost, if the annotation says {@link io.github.distributedlock.OnLost#THROW}. To be
	 * registered once with each transaction manager.
	 * @return the listener, without state
	 */
	public static TransactionExecutionListener commitGuard() {
		return new RunningCall.CommitGuard();
	}

	private Pointcut pointcut(Predicate<LockDefinition> condition) {
		StaticMethodMatcherPointcut pointcut = new StaticMethodMatcherPointcut() {

			@Override
			public boolean matches(Method method, Class<?> targetClass) {
				LockDefinition definition = DistributedLockAdvisor.this.definitions.find(method, targetClass);
				return definition != null && condition.test(definition);
			}

		};
		pointcut.setClassFilter((targetClass) -> !this.definitions.in(targetClass).isEmpty());
		return pointcut;
	}

	/**
	 * Looks up the lock of each annotated method of all classes that the pointcut was
	 * asked about so far. Warns of methods that have a key in common, but another store
	 * or another number of permits.
	 * @throws io.github.distributedlock.LockDefinitionException if a method's lock bean
	 * is missing, or there are several lock beans, none of them primary
	 */
	public void requireLocks() {
		this.definitions.forEach(this.definitions::lockOf);
		this.definitions.warnOfDifferences();
	}

	/**
	 * Asks whether the store can serve the annotated methods of all classes that the
	 * pointcut was asked about so far. Methods whose lock is kept in another store are
	 * left out.
	 * @param lock the lock of the store
	 * @param store is given the request of each method, with placeholders for keys that
	 * only a call knows, and throws a
	 * {@link io.github.distributedlock.LockBackendException} if the store cannot serve
	 * the request; an exception that says that the store may serve the request later is
	 * passed on
	 * @throws io.github.distributedlock.LockDefinitionException if the store cannot serve
	 * a request
	 */
	public void require(DistributedLock lock, Consumer<LockRequest> store) {
		this.definitions.forEach((definition) -> {
			if (this.definitions.lockOf(definition) == lock) {
				definition.require(store);
			}
		});
	}

	/**
	 * Returns the requests of the annotated methods of all classes that the pointcut was
	 * asked about so far. Keys that only a call knows are placeholders.
	 * @return the requests
	 */
	public List<LockRequest> requests() {
		return this.definitions.requests();
	}

	/**
	 * Returns the definitions of the annotated methods of a class.
	 * @throws io.github.distributedlock.LockDefinitionException if one of them cannot
	 * work
	 */
	Collection<LockDefinition> definitions(Class<?> beanClass) {
		return Set.copyOf(this.definitions.in(beanClass).values());
	}

	/**
	 * Refuses annotated methods that Spring calls on the bean itself, before or after the
	 * bean has a proxy. Methods that are covered by an annotation on the class are not
	 * refused.
	 * @param beanClass the class of the bean
	 * @param names the names of the methods without parameters that are called so
	 * @throws io.github.distributedlock.LockDefinitionException if there is such a method
	 */
	public void refuseLifecycleMethods(Class<?> beanClass, Set<String> names) {
		for (LockDefinition definition : definitions(beanClass)) {
			Method method = definition.annotated().method();
			if (method.getParameterCount() == 0 && names.contains(method.getName())) {
				MethodRules.refuseLifecycleMethod(definition.annotated(), "an init or destroy method");
			}
		}
	}

	/**
	 * Refuses annotated methods that advice hands to another thread inside of the lock:
	 * the caller would hold the lock, and not the thread that runs the method.
	 * @param bean the bean with all its proxies
	 * @param woven whether AspectJ has woven Spring's {@code @Async} into the classes
	 * @throws io.github.distributedlock.LockDefinitionException if there is such a method
	 */
	public void refuseAsyncInside(Object bean, boolean woven) {
		for (Object object = bean; object instanceof Advised proxy; object = AopProxyUtils.getSingletonTarget(object)) {
			Class<?> targetClass = proxy.getTargetClass();
			if (targetClass != null && proxy.indexOf(this) >= 0) {
				for (LockDefinition definition : definitions(targetClass)) {
					MethodRules.refuseAsync(definition.annotated(), woven,
							NestedProxies.asyncInside(proxy, definition.annotated().method(), this.advice));
				}
			}
		}
	}

	@Override
	public Pointcut getPointcut() {
		return this.pointcut;
	}

	@Override
	public Advice getAdvice() {
		return this.advice;
	}

	@Override
	public int getOrder() {
		return this.order;
	}

	/**
	 * Sets the order among advisors.
	 * @param order the order, lower is further outside
	 */
	public void setOrder(int order) {
		this.order = order;
	}

}
