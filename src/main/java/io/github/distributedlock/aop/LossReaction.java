package io.github.distributedlock.aop;

import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;

import io.github.distributedlock.LockHandle;
import io.github.distributedlock.annotation.OnLost;
import org.aopalliance.intercept.MethodInvocation;
import org.jspecify.annotations.Nullable;

/**
 * Runs a method, and does what its annotation says if the lock is lost meanwhile.
 *
 * @param onLost what it says
 */
record LossReaction(OnLost onLost) {

	static LossReaction of(AnnotatedMethod annotated) {
		OnLost onLost = annotated.annotation().onLost();
		Class<?> result = annotated.resultType();
		if (CompletionStage.class.isAssignableFrom(result)) {
			if (onLost == OnLost.INTERRUPT) {
				throw annotated.refuse("onLost", onLost,
						"interrupts the thread that runs the method, but a method that returns " + result.getName()
								+ " goes on elsewhere: choose THROW or REPORT",
						null);
			}
			if (onLost == OnLost.THROW && !result.isAssignableFrom(CompletableFuture.class)) {
				throw annotated.refuse(
						"onLost", onLost, "lets the returned future fail, but cannot make one of type "
								+ result.getName() + ": return CompletableFuture or CompletionStage, or choose REPORT",
						null);
			}
		}
		return new LossReaction(onLost);
	}

	/**
	 * Whether a loss is a failure of the call.
	 */
	boolean fails() {
		return this.onLost == OnLost.THROW;
	}

	@Nullable Object proceed(MethodInvocation invocation, LockHandle handle) throws Throwable {
		return switch (this.onLost) {
			case REPORT -> invocation.proceed();
			case INTERRUPT -> interrupting(invocation, handle);
			case THROW -> throwing(invocation, handle);
		};
	}

	private static @Nullable Object interrupting(MethodInvocation invocation, LockHandle handle) throws Throwable {
		try (RunningMethod method = RunningMethod.begin()) {
			// Not behind an action of the application.
			handle.onLost(method::interrupt, Runnable::run);
			return invocation.proceed();
		}
		catch (Throwable ex) {
			Loss.addTo(ex, handle);
			throw ex;
		}
	}

	private static @Nullable Object throwing(MethodInvocation invocation, LockHandle handle) throws Throwable {
		Object result;
		try (GuardedCall call = GuardedCall.begin(handle)) {
			result = invocation.proceed();
		}
		catch (Throwable ex) {
			Loss.addTo(ex, handle);
			throw ex;
		}
		if (!(result instanceof CompletionStage)) {
			Loss.throwIfLost(handle);
		}
		return result;
	}

}
