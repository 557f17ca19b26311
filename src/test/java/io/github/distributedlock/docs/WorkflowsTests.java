package io.github.distributedlock.docs;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.regex.Pattern;
import java.util.stream.Stream;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import org.yaml.snakeyaml.Yaml;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * The workflows run what the POM, {@code .ci/run} and README name, with no more rights
 * than they need.
 */
class WorkflowsTests {

	private static final Pattern PINNED = Pattern.compile("[\\w-]+/[\\w/-]+@[0-9a-f]{40}");

	@ParameterizedTest
	@MethodSource("workflows")
	void actionsArePinnedByCommit(Path workflow) throws IOException {
		assertThat(used(workflow)).isNotEmpty()
			.allSatisfy((line) -> assertThat(line.replaceFirst(" #.*", "")).matches(PINNED))
			.allSatisfy((line) -> assertThat(line).matches(".* # v\\d+\\.\\d+\\.\\d+"));
	}

	@ParameterizedTest
	@MethodSource("workflows")
	void rightsAreToReadUnlessAJobNeedsMore(Path workflow) throws IOException {
		assertThat(load(workflow).get("permissions")).isEqualTo(Map.of("contents", "read"));
	}

	@Test
	void buildRunsWhatCiRuns() throws IOException {
		String ci = Files.readString(Path.of(".ci/run"));
		assertThat(matrix()).extracting((row) -> String.valueOf(row.get("arguments")))
			.contains("-Pthorough", "-Pboot-3", "-Prelease");
		assertThat(ci).contains("build -Pthorough", "build -Pboot-3");
	}

	@Test
	void versionsAreThoseOfTheBuild() throws IOException {
		String pom = Files.readString(Path.of("pom.xml"));
		assertThat(matrix()).extracting((row) -> row.get("boot"))
			.allSatisfy((boot) -> assertThat(pom)
				.containsPattern("<spring-boot.version>" + Pattern.quote(String.valueOf(boot))));
		List<String> tested = List.of(Documents.table("", "supported", "tested with").get(1).get(2).split(", "));
		assertThat(matrix()).extracting((row) -> String.valueOf(row.get("java"))).containsAll(tested);
	}

	@Test
	void serversAreThoseOfReadme() throws IOException {
		String servers = Files.readString(Path.of(".github/servers"));
		List<List<String>> rows = Documents.table("", "supported", "tested with");
		assertThat(Stream.of(rows.get(2).get(2).split(", (and )?"))
			.filter((version) -> version.matches("[\\d.]+"))
			// The embedded one.
			.filter((version) -> !version.equals("6.2"))
			.map((version) -> "redis:" + version)).isNotEmpty()
			.allSatisfy((image) -> assertThat(servers).contains(image));
		assertThat(Stream.of(rows.get(3).get(2).split(", ")).map((version) -> "valkey/valkey:" + version)).isNotEmpty()
			.allSatisfy((image) -> assertThat(servers).contains(image));
	}

	static Stream<Path> workflows() throws IOException {
		try (Stream<Path> files = Files.list(Path.of(".github/workflows"))) {
			return files.sorted().toList().stream();
		}
	}

	private static List<String> used(Path workflow) throws IOException {
		return Files.readAllLines(workflow)
			.stream()
			.map(String::strip)
			.filter((line) -> line.matches("(- )?uses: .*"))
			.map((line) -> line.replaceFirst(".*uses: ", ""))
			.toList();
	}

	@SuppressWarnings("unchecked")
	private static List<Map<String, Object>> matrix() throws IOException {
		Map<String, Object> jobs = (Map<String, Object>) load(Path.of(".github/workflows/build.yml")).get("jobs");
		Map<String, Object> strategy = (Map<String, Object>) ((Map<String, Object>) jobs.get("build")).get("strategy");
		return (List<Map<String, Object>>) ((Map<String, Object>) strategy.get("matrix")).get("include");
	}

	private static Map<String, Object> load(Path workflow) throws IOException {
		return new Yaml().load(Files.readString(workflow));
	}

}
