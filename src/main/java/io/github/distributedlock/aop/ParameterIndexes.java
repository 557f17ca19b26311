package io.github.distributedlock.aop;

import java.lang.reflect.Method;
import java.util.Arrays;
import java.util.HashMap;
import java.util.Map;
import java.util.stream.Collectors;
import java.util.stream.IntStream;

import org.jspecify.annotations.Nullable;

import org.springframework.core.DefaultParameterNameDiscoverer;
import org.springframework.core.ParameterNameDiscoverer;

/**
 * What the parameters of a method are called in an expression: by position, by the names
 * of the implementation and, where the two differ, first of all by those of the
 * declaration that carries the annotation.
 */
final class ParameterIndexes {

	private static final ParameterNameDiscoverer NAMES = new DefaultParameterNameDiscoverer();

	private final Map<String, Integer> indexes = new HashMap<>();

	private final boolean named;

	private final Method method;

	ParameterIndexes(AnnotatedMethod annotated) {
		this.method = annotated.method();
		for (int index = 0; index < this.method.getParameterCount(); index++) {
			this.indexes.put("p" + index, index);
			this.indexes.put("a" + index, index);
		}
		boolean known = putNames(this.method);
		if (annotated.declaration() instanceof Method declaration && !declaration.equals(this.method)) {
			known |= putNames(declaration);
		}
		this.named = known;
	}

	private boolean putNames(Method method) {
		@Nullable String[] names = NAMES.getParameterNames(method);
		if (names == null) {
			return method.getParameterCount() == 0;
		}
		for (int index = 0; index < names.length; index++) {
			if (names[index] != null) {
				this.indexes.put(names[index], index);
			}
		}
		return true;
	}

	/**
	 * The index of a parameter.
	 * @return the index, or {@code null} if there is no parameter of that name
	 */
	@Nullable Integer of(String name) {
		return this.indexes.get(name);
	}

	/**
	 * What to say to somebody who asked for a parameter that is not there.
	 */
	String remedy() {
		if (this.method.getParameterCount() == 0) {
			return "the method has no parameters";
		}
		String positions = IntStream.range(0, this.method.getParameterCount())
			.mapToObj((index) -> "#p" + index)
			.collect(Collectors.joining(", "));
		if (!this.named) {
			return "the parameter names of " + this.method.getDeclaringClass().getName()
					+ " are not in its class file: compile it with -parameters, or write " + positions;
		}
		String[] names = this.indexes.keySet()
			.stream()
			.filter((name) -> !name.matches("[ap]\\d+"))
			.map((name) -> "#" + name)
			.sorted()
			.toArray(String[]::new);
		return "write one of " + Arrays.stream(names).collect(Collectors.joining(", ")) + ", " + positions;
	}

}
