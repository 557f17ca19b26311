package io.github.distributedlock.faults;

import java.lang.reflect.Method;
import java.util.Collections;
import java.util.List;
import java.util.stream.Stream;

import org.junit.jupiter.api.extension.Extension;
import org.junit.jupiter.api.extension.ExtensionContext;
import org.junit.jupiter.api.extension.ParameterContext;
import org.junit.jupiter.api.extension.ParameterResolver;
import org.junit.jupiter.api.extension.TestTemplateInvocationContext;
import org.junit.jupiter.api.extension.TestTemplateInvocationContextProvider;
import org.junit.jupiter.api.extension.TestWatcher;

/**
 * Runs each {@link FaultTest}, and writes the rows of the test.
 */
final class FaultTestRows implements TestTemplateInvocationContextProvider {

	@Override
	public boolean supportsTestTemplate(ExtensionContext context) {
		return true;
	}

	@Override
	public Stream<TestTemplateInvocationContext> provideTestTemplateInvocationContexts(ExtensionContext context) {
		Method test = context.getRequiredTestMethod();
		FaultTest fault = test.getAnnotation(FaultTest.class);
		List<String> names = List.of(fault.with());
		Stream<?> with = (test.getParameterCount() == 0) ? names.stream()
				: Stream.of(test.getParameterTypes()[0].getEnumConstants())
					.filter((constant) -> names.isEmpty() || names.contains(((Enum<?>) constant).name()));
		return with.flatMap((each) -> Collections.nCopies(FaultRow.TRIALS, new Row(fault, each)).stream());
	}

	/** A row, which all trials of a test share. */
	private static final class Row implements TestTemplateInvocationContext, ParameterResolver, TestWatcher {

		private final FaultTest fault;

		private final Object with;

		private int trials;

		private String remark;

		private Row(FaultTest fault, Object with) {
			this.fault = fault;
			this.with = with;
			this.remark = fault.promise();
		}

		@Override
		public String getDisplayName(int invocation) {
			return "[%d] %s".formatted(invocation, this.with);
		}

		@Override
		public List<Extension> getAdditionalExtensions() {
			return List.of(this);
		}

		@Override
		public boolean supportsParameter(ParameterContext parameter, ExtensionContext context) {
			return parameter.getParameter().getType().isInstance(this.with);
		}

		@Override
		public Object resolveParameter(ParameterContext parameter, ExtensionContext context) {
			return this.with;
		}

		@Override
		public void testSuccessful(ExtensionContext context) {
			this.trials++;
			write();
		}

		@Override
		public void testFailed(ExtensionContext context, Throwable cause) {
			this.trials++;
			this.remark = FaultTable.BROKEN;
			write();
		}

		@Override
		public void testAborted(ExtensionContext context, Throwable cause) {
			this.remark = FaultTable.NOT_RUN;
			write();
		}

		private void write() {
			FaultTable.add(this.fault.value(), this.with, this.trials, this.remark);
		}

	}

}
