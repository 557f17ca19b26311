package io.github.distributedlock.docs;

import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.regex.Pattern;
import java.util.stream.Stream;

import org.assertj.core.api.InstanceOfAssertFactories;
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

	private static final Path BUILD = Path.of(".github/workflows/build.yml");

	private static final Pattern PINNED = Pattern.compile("[\\w-]+/[\\w/-]+@[0-9a-f]{40}");

	@ParameterizedTest
	@MethodSource("workflows")
	void actionsArePinnedByCommit(Path workflow) {
		assertThat(used(workflow)).isNotEmpty()
			.allSatisfy((line) -> assertThat(line.replaceFirst(" #.*", "")).matches(PINNED))
			.allSatisfy((line) -> assertThat(line).matches(".* # v\\d+\\.\\d+\\.\\d+"));
	}

	@ParameterizedTest
	@MethodSource("workflows")
	void rightsAreToReadUnlessAJobNeedsMore(Path workflow) {
		assertThat(load(workflow).get("permissions")).isEqualTo(Map.of("contents", "read"));
	}

	@Test
	void jobsHaveMoreRightsOnlyWhereTheyNeedThem() {
		Map<String, Object> rights = new TreeMap<>();
		for (Path workflow : workflows().toList()) {
			jobs(workflow).forEach((name, job) -> {
				if (job.containsKey("permissions")) {
					rights.put(workflow.getFileName() + " " + name, job.get("permissions"));
				}
			});
		}
		assertThat(rights)
			.isEqualTo(Map.of("codeql.yml analyze", Map.of("contents", "read", "security-events", "write"),
					"release.yml publish", Map.of("contents", "write")));
	}

	@ParameterizedTest
	@MethodSource("workflows")
	void jobsEnd(Path workflow) {
		assertThat(jobs(workflow).values()).isNotEmpty()
			.allSatisfy((job) -> assertThat(job).containsKey("timeout-minutes"));
	}

	@Test
	void buildRunsWhatCiRuns() {
		String ci = Documents.text(Path.of(".ci/run"));
		assertThat(matrix()).extracting((row) -> String.valueOf(row.get("arguments")))
			.containsAll(matches("(?m)^build.* (-P\\S+)", ci));
		assertThat(ci).contains("\n.ci/consumers\n");
		assertThat(commands(jobs(BUILD).get("build"))).contains(".ci/consumers");
	}

	@ParameterizedTest
	@MethodSource("workflows")
	void profilesAndProgramsExist(Path workflow) {
		String text = Documents.text(workflow);
		String pom = Documents.text(Path.of("pom.xml"));
		assertThat(matches("-P([\\w-]+)", text))
			.allSatisfy((profile) -> assertThat(pom).contains("<id>" + profile + "</id>"));
		assertThat(matches("(?m)run: (\\.\\S+)", text))
			.allSatisfy((program) -> assertThat(Path.of(program)).isExecutable());
	}

	@Test
	void versionsAreThoseOfTheBuild() {
		String pom = Documents.text(Path.of("pom.xml"));
		List<String> built = matches("<spring-boot.version>(.+)</spring-boot.version>", pom);
		List<String> rows = matrix().stream().map((row) -> String.valueOf(row.get("boot"))).toList();
		assertThat(rows).allSatisfy((row) -> assertThat(built).anyMatch((version) -> version.startsWith(row)));
		assertThat(built).allSatisfy((version) -> assertThat(rows).anyMatch(version::startsWith));
		List<String> tested = List.of(Documents.table("", "supported", "tested with").get(1).get(2).split(", "));
		assertThat(matrix()).extracting((row) -> String.valueOf(row.get("java"))).containsAll(tested);
	}

	/**
	 * With less time the job would be cancelled before Surefire ends the hanging test and
	 * names that test.
	 */
	@Test
	void thoroughHasTheTimeThatSurefireGives() {
		int seconds = matches("<surefire.timeout>(\\d+)<", profile("thorough")).stream()
			.mapToInt(Integer::parseInt)
			.sum();
		assertThat(matrix()).filteredOn((row) -> "-Pthorough".equals(row.get("arguments")))
			.extracting((row) -> (int) row.get("minutes") * 60)
			.singleElement(InstanceOfAssertFactories.INTEGER)
			.isGreaterThan(seconds);
	}

	@Test
	void releaseIsTheTaggedVersionAndTestedBeforeItIsPublished() {
		Map<String, Map<String, Object>> jobs = jobs(Path.of(".github/workflows/release.yml"));
		assertThat(jobs.get("publish")).containsEntry("needs", "test").containsEntry("environment", "release");
		assertThat(commands(jobs.get("publish"))).anyMatch((command) -> command.contains("-f src/artifacts -Prelease"));
		assertThat(commands(jobs.get("test"))).contains(".ci/consumers")
			.anyMatch((command) -> command.contains("-Pthorough"))
			.anyMatch((command) -> command.contains("project.version") && command.contains("$GITHUB_REF_NAME"));
	}

	/** See RELEASING.md. */
	@Test
	void releasesAreComparedOnceThereIsOne() {
		String pom = Documents.text(Path.of("pom.xml"));
		String version = matches("<version>(.+)</version>", pom).get(0).replace("-SNAPSHOT", "");
		String last = matches("<last.release>(.+)</last.release>", pom).get(0);
		boolean first = version.equals("1.0.0");
		assertThat(last.equals(version)).as("compared with %s", last).isEqualTo(first);
		assertThat(pom).contains("<japicmp.skip>" + first + "</japicmp.skip>");
	}

	@Test
	void mavenIsCheckedWhenItIsFetched() {
		assertThat(Documents.lines(Path.of(".mvn/wrapper/maven-wrapper.properties")))
			.anyMatch((line) -> line.matches("distributionSha256Sum=[0-9a-f]{64}"))
			.anyMatch((line) -> line.matches("distributionUrl=https://.+\\.zip"));
	}

	@Test
	void serversAreThoseOfReadme() {
		String servers = Documents.text(Path.of(".github/servers"));
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

	static Stream<Path> workflows() {
		return Documents.under(Path.of(".github/workflows"));
	}

	private static List<String> used(Path workflow) {
		return Documents.lines(workflow)
			.stream()
			.map(String::strip)
			.filter((line) -> line.matches("(- )?uses: .*"))
			.map((line) -> line.replaceFirst(".*uses: ", ""))
			.toList();
	}

	@SuppressWarnings("unchecked")
	private static List<Map<String, Object>> matrix() {
		Map<String, Object> strategy = (Map<String, Object>) jobs(BUILD).get("build").get("strategy");
		return (List<Map<String, Object>>) ((Map<String, Object>) strategy.get("matrix")).get("include");
	}

	@SuppressWarnings("unchecked")
	private static Map<String, Map<String, Object>> jobs(Path workflow) {
		return (Map<String, Map<String, Object>>) load(workflow).get("jobs");
	}

	@SuppressWarnings("unchecked")
	private static List<String> commands(Map<String, Object> job) {
		return ((List<Map<String, Object>>) job.get("steps")).stream()
			.map((step) -> (String) step.getOrDefault("run", ""))
			.toList();
	}

	private static String profile(String id) {
		String pom = Documents.text(Path.of("pom.xml"));
		int start = pom.indexOf("<id>" + id + "</id>");
		return pom.substring(start, pom.indexOf("</profile>", start));
	}

	private static List<String> matches(String regex, String text) {
		return Pattern.compile(regex).matcher(text).results().map((match) -> match.group(1)).toList();
	}

	private static Map<String, Object> load(Path workflow) {
		return new Yaml().load(Documents.text(workflow));
	}

}
