package io.github.distributedlock.tck;

import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.time.Duration;

import io.github.distributedlock.tck.Eventually.WaitedInVain;
import org.junit.jupiter.api.extension.ExtensionContext;
import org.junit.jupiter.api.extension.InvocationInterceptor;
import org.junit.jupiter.api.extension.ReflectiveInvocationContext;
import org.junit.jupiter.api.function.Executable;
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
		repeat(bench, invocation::proceed, () -> {
			try {
				test.getExecutable().setAccessible(true);
				test.getExecutable().invoke(bench, test.getArguments().toArray());
			}
			catch (InvocationTargetException ex) {
				throw ex.getCause();
			}
		});
	}

	static void repeat(ContractBench bench, Executable first, Executable next) throws Throwable {
		Executable attempt = first;
		for (int left = ATTEMPTS - 1; attempt != null; left--) {
			try {
				attempt.execute();
				attempt = null;
			}
			catch (Throwable failure) {
				// No step ends during a wait, so that one in vain looks like a
				// standstill.
				Duration waiting = (failure instanceof WaitedInVain vain) ? vain.time() : Duration.ZERO;
				if (left == 0 || failure instanceof TestAbortedException || !bench.stoodStill(waiting)) {
					throw failure;
				}
				bench.closeBackends();
				attempt = next;
			}
		}
	}

}
