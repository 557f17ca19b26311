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
			Fault fault = fault(onLost, result, result.isAssignableFrom(CompletableFuture.class));
			if (fault != null) {
				throw annotated.refuse("onLost", onLost, fault.problem(), fault.remedy());
			}
		}
		return new LossReaction(onLost);
	}

	private static @Nullable Fault fault(OnLost onLost, Class<?> stage, boolean replaceable) {
		if (onLost == OnLost.INTERRUPT) {
			return new Fault("interrupts the thread that runs the method, but a method that returns " + stage.getName()
					+ " goes on elsewhere", "choose THROW or REPORT");
		}
		return (onLost == OnLost.THROW && !replaceable)
				? new Fault("lets the returned future fail, but cannot make one of type " + stage.getName(),
						"return CompletableFuture or CompletionStage, or choose REPORT")
				: null;
	}

	/**
	 * Checks what shows only when the method has returned a stage that its declaration
	 * does not tell of.
	 * @param replaceable whether another can be returned in its place
	 * @throws IllegalStateException if a loss could not be told as the annotation says
	 */
	void checkStage(AnnotatedMethod annotated, CompletionStage<?> stage, boolean replaceable) {
		Fault fault = fault(this.onLost, stage.getClass(), replaceable);
		if (fault != null) {
			throw new IllegalStateException(
					annotated.told("onLost", this.onLost) + " " + fault.problem() + " (" + fault.remedy() + ")");
		}
	}

	/**
	 * Whether a loss is a failure of the call.
	 */
	boolean fails() {
		return this.onLost == OnLost.THROW;
	}

	/**
	 * Tells of a loss where the method has gone on elsewhere. Throws nothing, whatever
	 * the handle does: the lock is yet to be given back.
	 * @param failure what it failed with, {@code null} if it did not
	 * @return what the call fails with, {@code null} if it does not
	 */
	@Nullable Throwable outcome(@Nullable Throwable failure, LockHandle handle) {
		if (this.onLost == OnLost.REPORT) {
			return failure;
		}
		try {
			if (failure == null) {
				return LossCheck.of(handle);
			}
			LossCheck.addTo(failure, handle);
			return failure;
		}
		catch (Throwable ex) {
			return (failure != null) ? failure : ex;
		}
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
			LossCheck.addTo(ex, handle);
			throw ex;
		}
	}

	private static @Nullable Object throwing(MethodInvocation invocation, LockHandle handle) throws Throwable {
		Object result;
		try (GuardedCall call = GuardedCall.begin(handle)) {
			result = invocation.proceed();
		}
		catch (Throwable ex) {
			LossCheck.addTo(ex, handle);
			throw ex;
		}
		if (!(result instanceof CompletionStage)) {
			LossCheck.throwIfLost(handle);
		}
		return result;
	}

}
