package io.github.distributedlock.test;

import org.junit.jupiter.api.extension.ExtensionContext;
import org.junit.jupiter.api.extension.TestWatcher;

/**
 * Prints why a test failed or was skipped where the output of its class goes, which the
 * build redirects to a file. JUnit finds this extension by itself, for all tests.
 */
public final class FailurePrinter implements TestWatcher {

	@Override
	public void testFailed(ExtensionContext test, Throwable cause) {
		print("FAILED", test, cause);
	}

	@Override
	public void testAborted(ExtensionContext test, Throwable cause) {
		print("SKIPPED", test, cause);
	}

	private static void print(String outcome, ExtensionContext test, Throwable cause) {
		System.out.println(outcome + ": " + test.getRequiredTestMethod().getName() + " " + test.getDisplayName());
		cause.printStackTrace(System.out);
	}

}
