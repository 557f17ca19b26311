package io.github.distributedlock.aop;

import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;

import io.github.distributedlock.LockDefinitionException;
import io.github.distributedlock.LockHandle;
import io.github.distributedlock.OnLost;
import io.github.distributedlock.internal.LossOutcome;
import org.aopalliance.intercept.MethodInvocation;
import org.jspecify.annotations.Nullable;

/**
 * Runs a method, and reacts as the annotation says if the lock is lost meanwhile.
 *
 * @param onLost the reaction
 */
record LossReaction(OnLost onLost) {

	static LossReaction of(AnnotatedMethod annotated) {
		LossReaction reaction = new LossReaction(annotated.annotation().onLost());
		Class<?> result = annotated.resultType();
		if (CompletionStage.class.isAssignableFrom(result)) {
			reaction.checkStage(annotated, result, result.isAssignableFrom(CompletableFuture.class));
		}
		return reaction;
	}

	/**
	 * Checks a stage that a method returns, or is declared to return.
	 * @param replaceable whether another stage can be returned in place of this one
	 * @throws LockDefinitionException if a loss could not be reported as the annotation
	 * says
	 */
	void checkStage(AnnotatedMethod annotated, Class<?> stage, boolean replaceable) {
		if (this.onLost == OnLost.INTERRUPT) {
			throw annotated.refuse("onLost", this.onLost, "interrupts the thread that runs the method, but a method"
					+ " that returns " + stage.getName() + " goes on elsewhere", "choose THROW or REPORT");
		}
		if (fails() && !replaceable) {
			throw annotated.refuse("onLost", this.onLost,
					"lets the returned future fail, but cannot make one of type " + stage.getName(),
					"return CompletableFuture or CompletionStage, or choose REPORT");
		}
	}

	/**
	 * Returns whether a loss is a failure of the call.
	 */
	boolean fails() {
		return this.onLost == OnLost.THROW;
	}

	/**
	 * Runs a method on the calling thread.
	 */
	@Nullable Object proceed(MethodInvocation invocation, LockHandle handle) throws Throwable {
		if (this.onLost == OnLost.REPORT) {
			return invocation.proceed();
		}
		Object result;
		try (RunningCall call = new RunningCall(handle, fails())) {
			if (this.onLost == OnLost.INTERRUPT) {
				// The interrupt does not queue behind an action of the application.
				handle.onLost(call::interrupt, LossOutcome.INTERRUPT);
			}
			result = invocation.proceed();
		}
		catch (Throwable ex) {
			LossOutcome.addLoss(ex, handle);
			throw ex;
		}
		if (fails() && !(result instanceof CompletionStage)) {
			LossOutcome.throwIfLost(handle);
		}
		return result;
	}

	/**
	 * Returns the outcome of a method that has gone on elsewhere. Throws nothing.
	 * @param failure the method's failure, {@code null} if the method succeeded
	 */
	@Nullable Throwable outcome(@Nullable Throwable failure, LockHandle handle) {
		return (this.onLost == OnLost.REPORT) ? failure : LossOutcome.of(failure, handle);
	}

}
