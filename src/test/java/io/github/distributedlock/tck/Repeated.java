package io.github.distributedlock.tck;

import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;

import org.junit.jupiter.api.extension.ExtensionContext;
import org.junit.jupiter.api.extension.InvocationInterceptor;
import org.junit.jupiter.api.extension.ReflectiveInvocationContext;
import org.opentest4j.TestAbortedException;

/**
 * Does a contract test again that failed while this machine or the store's stood still: a
 * reservation, a short lease or the silence of a waiter may have ended between two steps,
 * by a clock that no test moves, so that the failure says nothing. One that fails without
 * a standstill counts.
 */
final class Repeated implements InvocationInterceptor {

	private static final int ATTEMPTS = 10;

	@Override
	public void interceptTestTemplateMethod(Invocation<Void> invocation, ReflectiveInvocationContext<Method> test,
			ExtensionContext context) throws Throwable {
		ContractBench bench = (ContractBench) context.getRequiredTestInstance();
		try {
			invocation.proceed();
		}
		catch (Throwable failure) {
			again(bench, test, failure, ATTEMPTS - 1);
		}
	}

	private static void again(ContractBench bench, ReflectiveInvocationContext<Method> test, Throwable failure,
			int attempts) throws Throwable {
		if (attempts == 0 || failure instanceof TestAbortedException || !bench.stoodStill()) {
			throw failure;
		}
		bench.closeBackends();
		try {
			test.getExecutable().setAccessible(true);
			test.getExecutable().invoke(bench, test.getArguments().toArray());
		}
		catch (InvocationTargetException ex) {
			again(bench, test, ex.getCause(), attempts - 1);
		}
	}

}
