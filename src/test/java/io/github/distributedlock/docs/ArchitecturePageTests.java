package io.github.distributedlock.docs;

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
			.flatMap((root) -> Documents.under(Path.of(root)))
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
		List<String> packages = Documents.under(SOURCES)
			.map((file) -> SOURCES.relativize(file.getParent()).toString())
			.map((folder) -> folder.isEmpty() ? "(root)" : folder.replace('/', '.'))
			.distinct()
			.toList();
		assertThat(told).containsExactlyInAnyOrderElementsOf(packages);
	}

}
