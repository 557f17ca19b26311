package io.github.distributedlock.docs;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Set;
import java.util.stream.Collectors;
import java.util.stream.Stream;

import io.github.distributedlock.DistributedLock;
import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * The page about the architecture names what exists.
 */
class ArchitecturePageTests {

	private static final Path PAGE = Documents.page("architecture.md");

	private static final Path SOURCES = Path.of("src/main/java",
			DistributedLock.class.getPackageName().replace('.', '/'));

	@Test
	void classesAndScriptsExist() {
		Set<String> names = Stream.of("src/main", "src/test", "src/tck", "src/model")
			.flatMap((root) -> files(Path.of(root)))
			.map((file) -> file.getFileName().toString().replaceFirst("[.]java$", ""))
			.collect(Collectors.toSet());
		assertThat(Documents.code(PAGE).filter((code) -> code.matches("[A-Z]\\w*[a-z]\\w*|[a-z-]+[.]lua"))).isNotEmpty()
			.allSatisfy((name) -> assertThat(names).contains(name));
	}

	@Test
	void theTableHasEachPackage() {
		List<String> told = Documents.table("package", "job")
			.stream()
			.map((row) -> row.get(0).replace("`", ""))
			.toList();
		List<String> packages = files(SOURCES).map((file) -> SOURCES.relativize(file.getParent()).toString())
			.map((folder) -> folder.isEmpty() ? "(root)" : folder.replace('/', '.'))
			.distinct()
			.toList();
		assertThat(told).containsExactlyInAnyOrderElementsOf(packages);
	}

	private static Stream<Path> files(Path root) {
		try (Stream<Path> files = Files.walk(root)) {
			return files.filter(Files::isRegularFile).toList().stream();
		}
		catch (IOException ex) {
			throw new AssertionError(ex);
		}
	}

}
