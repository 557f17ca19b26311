package io.github.distributedlock;

import java.io.IOException;
import java.lang.reflect.Constructor;
import java.lang.reflect.Executable;
import java.lang.reflect.Field;
import java.lang.reflect.Method;
import java.lang.reflect.Modifier;
import java.lang.reflect.Type;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.Comparator;
import java.util.List;
import java.util.TreeSet;
import java.util.stream.Collectors;
import java.util.stream.Stream;

import io.github.distributedlock.tck.LockTrial;
import org.junit.jupiter.api.Test;

import org.springframework.boot.SpringBootVersion;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assumptions.assumeThat;

/**
 * The API is what {@code api.txt} says. A change of the API changes that file, too, and
 * everybody sees that: {@code cp target/api.txt src/test/resources} accepts a change.
 */
class ApiTests {

	@Test
	void apiIsWhatTheListSays() throws Exception {
		assumeThat(SpringBootVersion.getVersion()).as("adapters need types that are new in it").startsWith("4.");
		StringBuilder list = new StringBuilder();
		for (String type : new TreeSet<>(ArchitectureTests.API)) {
			describe(Class.forName(ApiTests.class.getPackageName() + "." + type), list);
		}
		for (String type : contract()) {
			describe(Class.forName(LockTrial.class.getPackageName() + "." + type), list);
		}
		Files.writeString(Files.createDirectories(Path.of("target")).resolve("api.txt"), list);
		assertThat(list.toString().lines())
			.containsExactlyElementsOf(Files.readAllLines(Path.of("src/test/resources/api.txt")));
	}

	/**
	 * The types of the contract test, which is published, too.
	 */
	private static List<String> contract() throws IOException {
		try (Stream<Path> files = Files.list(Path.of("src/tck/java/io/github/distributedlock/tck"))) {
			return files.map((file) -> file.getFileName().toString().replace(".java", ""))
				.filter((name) -> !name.equals("package-info"))
				.sorted()
				.toList();
		}
	}

	private static void describe(Class<?> type, StringBuilder list) {
		if (!isVisible(type.getModifiers())) {
			return;
		}
		list.append(type.toGenericString());
		append(" extends ", Stream.ofNullable(type.getGenericSuperclass()), list);
		append(" implements ", Stream.of(type.getGenericInterfaces()), list);
		list.append('\n');
		Stream<String> fields = Stream.of(type.getDeclaredFields())
			.filter((field) -> isVisible(field.getModifiers()) && !field.isSynthetic())
			.map(Field::toGenericString);
		Stream<String> methods = Stream
			.<Executable>concat(Stream.of(type.getDeclaredConstructors()), Stream.of(type.getDeclaredMethods()))
			.filter((method) -> isVisible(method.getModifiers()) && !method.isSynthetic())
			.map(ApiTests::describe);
		String own = type.getTypeName().replace('$', '.') + ".";
		Stream.concat(fields, methods)
			.map((line) -> shorten(line.replace('$', '.').replace(own, "")))
			.sorted()
			.forEach((line) -> list.append("    ").append(line).append('\n'));
		Stream.of(type.getDeclaredClasses())
			.sorted(Comparator.comparing(Class::getName))
			.forEach((nested) -> describe(nested, list));
	}

	private static boolean isVisible(int modifiers) {
		return Modifier.isPublic(modifiers) || Modifier.isProtected(modifiers);
	}

	private static String describe(Executable executable) {
		if (executable instanceof Constructor<?>) {
			return executable.toGenericString();
		}
		Object preset = ((Method) executable).getDefaultValue();
		if (preset == null) {
			return executable.toGenericString();
		}
		String value = preset.getClass().isArray() ? Arrays.deepToString(new Object[] { preset }) : preset.toString();
		return executable.toGenericString() + " default '" + value + "'";
	}

	private static void append(String word, Stream<Type> types, StringBuilder list) {
		String names = types.filter((type) -> type != Object.class)
			.map((type) -> shorten(type.getTypeName()))
			.collect(Collectors.joining(", "));
		list.append(names.isEmpty() ? "" : word + names);
	}

	/**
	 * Leaves the names of packages out.
	 */
	private static String shorten(String text) {
		return text.replaceAll("\\b([a-z]\\w*[.])+(?=[A-Z])", "");
	}

}
