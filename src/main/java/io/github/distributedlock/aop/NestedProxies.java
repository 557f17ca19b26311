package io.github.distributedlock.aop;

import java.lang.reflect.Method;
import java.lang.reflect.Proxy;
import java.util.ArrayList;
import java.util.List;

import org.aopalliance.intercept.MethodInterceptor;
import org.aopalliance.intercept.MethodInvocation;
import org.jspecify.annotations.Nullable;

import org.springframework.aop.ProxyMethodInvocation;
import org.springframework.aop.framework.Advised;
import org.springframework.aop.framework.AopProxyUtils;
import org.springframework.aop.framework.DefaultAdvisorChainFactory;
import org.springframework.aop.interceptor.AsyncExecutionInterceptor;
import org.springframework.util.ClassUtils;

/**
 * Decides which of several nested proxies acquires the lock of a call. A bean has several
 * proxies if there are several auto-proxy creators, or if another post-processor has made
 * a proxy before the auto-proxy creator. Each proxy may have the lock advice, and none
 * can do without: a post-processor between them keeps the inner proxy. A call acquires
 * the lock once.
 * <p>
 * The outermost lock advice acquires, since it is outside of all transactions. But an
 * inner proxy may have advice outside of its lock that the outer proxy has not. Such
 * advice was put there to be outside of all other: {@code @Async}, which would find the
 * lock taken by the caller, and retries. Then the inner proxy acquires the lock.
 */
final class NestedProxies {

	private static final DefaultAdvisorChainFactory CHAINS = new DefaultAdvisorChainFactory();

	/**
	 * The call of an inner proxy that the calling thread makes inside of a lock that the
	 * thread has acquired for this call.
	 */
	private static final ThreadLocal<@Nullable Locked> LOCKED = new ThreadLocal<>();

	private NestedProxies() {
	}

	/**
	 * Finds the advice that hands a method to another thread after the innermost lock has
	 * been acquired.
	 * @param proxy a proxy with the lock
	 * @param method a method of the class that the proxy is made for
	 * @param lock the lock's advice
	 * @return the advice, or {@code null} if there is none
	 */
	static @Nullable Object asyncInside(Object proxy, Method method, MethodInterceptor lock) {
		Object async = null;
		for (Object object = proxy; object instanceof Advised next; object = AopProxyUtils.getSingletonTarget(object)) {
			for (Object advice : advice(next, method)) {
				if (advice instanceof AsyncExecutionInterceptor) {
					async = advice;
				}
				else if (advice == lock) {
					async = null;
				}
			}
		}
		return async;
	}

	/**
	 * Finds the object on which a method is called, as the innermost proxy with the lock
	 * sees the object.
	 * @param invocation the call of a proxy
	 * @param lock the lock's advice, which is asked
	 * @return the object, which is the target of the call if no inner proxy has the lock,
	 * or {@code null} if the lock is left to an inner proxy
	 */
	static @Nullable Object lockedTarget(MethodInvocation invocation, MethodInterceptor lock) {
		Object target = invocation.getThis();
		if (!(target instanceof Advised)) {
			return target;
		}
		Method method = invocation.getMethod();
		List<Class<?>> known = new ArrayList<>();
		if (invocation instanceof ProxyMethodInvocation call && call.getProxy() instanceof Advised outer) {
			advice(outer, method).forEach((advice) -> known.add(advice.getClass()));
		}
		boolean differs = false;
		// Targets of other kinds of proxies, such as scoped proxies, are beans of their
		// own.
		for (Object object = target; object instanceof Advised proxy;) {
			object = AopProxyUtils.getSingletonTarget(object);
			for (Object advice : advice(proxy, method)) {
				if (advice == lock && differs) {
					return null;
				}
				if (advice == lock && object != null) {
					target = object;
				}
				differs |= advice != lock && !known.contains(advice.getClass());
			}
		}
		return target;
	}

	private static List<Object> advice(Advised proxy, Method method) {
		Method called = Proxy.isProxyClass(proxy.getClass())
				? ClassUtils.getInterfaceMethodIfPossible(method, proxy.getClass()) : method;
		return CHAINS.getInterceptorsAndDynamicInterceptionAdvice(proxy, called, proxy.getTargetClass());
	}

	/**
	 * Remembers that the calling thread has acquired the lock of a call and proceeds.
	 * @return to be closed when the call has returned; {@code null} if there is no inner
	 * proxy
	 */
	static @Nullable Locked lock(MethodInvocation invocation) {
		return (invocation.getThis() instanceof Advised inner) ? new Locked(inner, invocation.getMethod(), LOCKED.get())
				: null;
	}

	/**
	 * Returns whether the calling thread has acquired the lock of a call in an outer
	 * proxy. The answer is given once, so that another call of the same method acquires
	 * the lock.
	 */
	static boolean isLocked(MethodInvocation invocation) {
		Locked locked = LOCKED.get();
		return locked != null && invocation instanceof ProxyMethodInvocation call && locked.isFor(call);
	}

	/**
	 * One call of an inner proxy. Belongs to one thread.
	 */
	static final class Locked implements AutoCloseable {

		private final Method method;

		private final @Nullable Locked outer;

		private @Nullable Object callee;

		private Locked(Object callee, Method method, @Nullable Locked outer) {
			this.callee = callee;
			this.method = method;
			this.outer = outer;
			LOCKED.set(this);
		}

		private boolean isFor(ProxyMethodInvocation call) {
			Method called = call.getMethod();
			if (this.callee != call.getProxy() || !called.getName().equals(this.method.getName())
					|| called.getParameterCount() != this.method.getParameterCount()) {
				return false;
			}
			this.callee = call.getThis(); // Perhaps another proxy with the lock.
			return true;
		}

		@Override
		public void close() {
			if (this.outer != null) {
				LOCKED.set(this.outer);
			}
			else {
				LOCKED.remove();
			}
		}

	}

}
