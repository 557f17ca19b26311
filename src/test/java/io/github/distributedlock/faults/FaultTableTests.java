package io.github.distributedlock.faults;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import java.util.regex.Pattern;
import java.util.stream.Stream;

import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * The rows of the page are those of the suite, so that none vanishes when its class is
 * left out, and none stays that no test writes.
 */
class FaultTableTests {

	private static final Pattern ROW = Pattern
		.compile("\\(\\s*\"([^\"%]+)\",\\s*[cC]lient\\b|@FaultTest\\((?:value = )?\\s*\"([^\"]+)\"");

	@Test
	void thePageHasTheFaultsOfTheSuite() throws IOException {
		Set<String> faults = new TreeSet<>();
		try (Stream<Path> files = Files.walk(Path.of("src/test/java"))) {
			for (Path file : files.filter((each) -> each.toString().endsWith("Tests.java")).toList()) {
				String name = file.getFileName().toString().replace(".java", "");
				String source = Files.readString(file);
				if (source.contains("import " + FaultTest.class.getName()) || isNamed(name)) {
					assertThat(isNamed(name)).as("%s is run by %s", name, FaultTable.TESTS).isTrue();
					ROW.matcher(source)
						.results()
						.map((row) -> (row.group(1) != null) ? row.group(1) : row.group(2))
						.forEach(faults::add);
				}
			}
		}
		assertThat(FaultTable.faultsOfPage()).isEqualTo(faults);
	}

	@Test
	void thePageNamesTheClasses() throws IOException {
		assertThat(Files.readString(FaultTable.PAGE)).contains("-Dtest='" + FaultTable.TESTS + "'");
	}

	private static boolean isNamed(String test) {
		return test.endsWith("FaultsTests") || List.of(FaultTable.TESTS.split(",")).contains(test);
	}

}
