package io.github.distributedlock.docs;

import java.io.ByteArrayInputStream;
import java.lang.reflect.Method;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.regex.MatchResult;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;

import javax.xml.parsers.DocumentBuilderFactory;

import io.github.distributedlock.CurrentLock;
import io.github.distributedlock.DistributedLock;
import io.github.distributedlock.LockHandle;
import io.github.distributedlock.LockRequest;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import org.w3c.dom.Document;
import org.w3c.dom.Element;
import org.w3c.dom.Node;

import org.springframework.boot.context.properties.bind.Bindable;
import org.springframework.boot.context.properties.bind.Binder;
import org.springframework.boot.context.properties.source.ConfigurationPropertySources;
import org.springframework.boot.env.YamlPropertySourceLoader;
import org.springframework.core.env.EnumerablePropertySource;
import org.springframework.core.env.PropertySource;
import org.springframework.core.io.ByteArrayResource;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * The documents say what is so: their code is compiled and run, their names exist, and
 * their links lead somewhere.
 */
class DocumentsTests {

	private static final List<String> COORDINATES = List.of("groupId", "artifactId", "version");

	private static final Path ARTIFACTS = Path.of("src/artifacts");

	private static final Pattern VERSION_OR_TIME = Pattern
		.compile("<([a-z.-]+[.](version|outputTimestamp|url))>[^<$]+</\\1>");

	private static final Pattern PLUGIN = Pattern
		.compile("<artifactId>[\\w-]+-plugin</artifactId>\\s+<version>[^<]+</version>");

	private static final Pattern PROPERTY = Pattern.compile("(distributed-lock|spring|management)(\\.[a-z-]+)+");

	/** Begins a dependency, which is Kotlin, too. */
	private static final String GRADLE = "implementation(";

	/**
	 * A property of another library that begins like Spring Boot's.
	 */
	private static final String FOREIGN_PROPERTY = "spring.klock.";

	/** Spring Boot still reads these, and does not list them any more. */
	private static final Set<String> OLDER_PROPERTIES = Set.of("management.endpoints.enabled-by-default",
			"management.endpoint.distributedlocks.enabled");

	private static final Pattern LINK = Pattern.compile("]\\(([^)#]*)(#[^)]*)?\\)");

	private static final Pattern CALL = Pattern
		.compile("(lock|handle|LockHandle|LockRequest|CurrentLock)\\.(\\w+)\\(.*");

	/** A method, which has to exist, rather than code. */
	private static final Pattern MENTION = Pattern.compile("\\w+\\.\\w+\\(\\w*\\)");

	private static final Map<String, Class<?>> CALLED = Map.of("lock", DistributedLock.class, "handle",
			LockHandle.class, "LockHandle", LockHandle.class, "LockRequest", LockRequest.class, "CurrentLock",
			CurrentLock.class);

	@Test
	void theReadmeIsShort() {
		assertThat(Documents.lines(Documents.README)).hasSizeLessThanOrEqualTo(250);
	}

	@ParameterizedTest
	@MethodSource("io.github.distributedlock.docs.Documents#pages")
	void proseIsNarrow(Path file) {
		assertThat(Documents.prose(file)).filteredOn((line) -> !line.startsWith("!["))
			.allSatisfy((line) -> assertThat(line).hasSizeLessThanOrEqualTo(120));
	}

	/**
	 * GitHub shows a box only if the mark stands alone.
	 */
	@ParameterizedTest
	@MethodSource("io.github.distributedlock.docs.Documents#pages")
	void marksOfBoxesStandAlone(Path file) {
		assertThat(Documents.prose(file)).noneMatch((line) -> line.matches("> \\[!\\w+].+"));
	}

	@Test
	void eachKindOfBlockIsChecked() {
		assertThat(Documents.languages()).isSubsetOf("java", "yaml", "xml", "kotlin", "sh", "text", "mermaid")
			.contains("java", "yaml");
	}

	@Test
	void javaIsWhatTheTestsRun() {
		assertThat(Documents.blocks("java").stream().map(Regions::normal).distinct())
			.containsExactlyInAnyOrderElementsOf(Regions.all("java").values().stream().map(Regions::normal).toList());
	}

	@Test
	void kotlinIsWhatTheTestsRun() {
		assertThat(Documents.blocks("kotlin")
			.stream()
			.filter((block) -> !block.startsWith(GRADLE))
			.map(Regions::normal)
			.distinct())
			.containsExactlyInAnyOrderElementsOf(Regions.all("kotlin").values().stream().map(Regions::normal).toList());
	}

	@Test
	void codeInTheTextIsWhatTheTestsRun() {
		String sources = Regions.normal(String.join("\n", Regions.sources())).replace("this.", "");
		List<String> code = Documents.code()
			.filter((each) -> each.startsWith("@DistributedLock(")
					|| (CALL.matcher(each).matches() && !MENTION.matcher(each).matches() && !each.contains("…")))
			.toList();
		assertThat(code).isNotEmpty().allSatisfy((each) -> assertThat(sources).contains(Regions.normal(each)));
	}

	@Test
	void methodsInTheTextExist() {
		assertThat(Documents.code().map(CALL::matcher).filter(Matcher::matches)).isNotEmpty()
			.allSatisfy((call) -> assertThat(CALLED.get(call.group(1)).getMethods()).extracting(Method::getName)
				.contains(call.group(2)));
	}

	@Test
	void yamlBinds() throws Exception {
		Class<?> properties = Class.forName("io.github.distributedlock.autoconfigure.DistributedLockProperties");
		Map<String, String> known = Metadata.defaults();
		for (String block : Documents.blocks("yaml")) {
			for (PropertySource<?> source : new YamlPropertySourceLoader().load("documents",
					new ByteArrayResource(block.getBytes(StandardCharsets.UTF_8)))) {
				// Properties below "stores" belong to stores of others.
				assertThat(((EnumerablePropertySource<?>) source).getPropertyNames())
					.allMatch((name) -> name.startsWith("distributed-lock.stores.") || known.containsKey(name));
				new Binder(ConfigurationPropertySources.from(source)).bindOrCreate("distributed-lock",
						Bindable.of(properties));
			}
		}
	}

	@Test
	void propertiesInTheTextExist() {
		assertThat(Documents.code()
			.map((code) -> code.replaceFirst("=.*", ""))
			.filter((code) -> PROPERTY.matcher(code).matches() && !code.startsWith(FOREIGN_PROPERTY)
					&& !OLDER_PROPERTIES.contains(code)))
			.isNotEmpty()
			.allSatisfy((name) -> assertThat(Metadata.defaults()).containsKey(name));
	}

	@Test
	void dependenciesAreThisProject() throws Exception {
		List<Map<String, String>> published = new ArrayList<>();
		published.add(coordinates(Documents.text(Path.of("pom.xml"))));
		for (Path pom : artifacts().toList()) {
			published.add(coordinates(Documents.text(pom)));
		}
		assertThat(Documents.blocks("xml")).extracting(DocumentsTests::coordinates).isNotEmpty().isSubsetOf(published);
		assertThat(Documents.blocks("kotlin")
			.stream()
			.filter((block) -> block.startsWith(GRADLE))
			.map((block) -> block.split("\"")[1]))
			.isNotEmpty()
			.isSubsetOf(published.stream()
				.map((pom) -> COORDINATES.stream().map(pom::get).collect(Collectors.joining(":")))
				.toList());
	}

	@Test
	void versionsAreThoseOfTheBuild() {
		String pom = Documents.text(Path.of("pom.xml"));
		List<List<String>> rows = Documents.table("", "supported", "tested with");
		assertThat(rows.get(0).get(2).split(", ")).hasSize(2)
			.allSatisfy((version) -> assertThat(pom)
				.contains("<spring-boot.version>" + version + "</spring-boot.version>"));
		assertThat(rows.get(1).get(1)).startsWith("17 ");
		assertThat(pom).contains("<java.version>17</java.version>");
	}

	/** The demos have a POM of their own, so that a first look fetches little. */
	@Test
	void demosAreBuiltWithTheVersionsOfTheBuild() {
		String pom = Documents.text(Path.of("pom.xml"));
		assertThat(matches(VERSION_OR_TIME, Documents.text(Path.of("src/demo/pom.xml")))).hasSizeGreaterThan(5)
			.isSubsetOf(matches(VERSION_OR_TIME, pom));
	}

	/** One build publishes all, with one version. */
	@Test
	void artifactsHaveTheVersionsOfTheBuild() throws Exception {
		String pom = Documents.text(Path.of("pom.xml"));
		Map<String, String> library = coordinates(pom);
		for (Path artifact : Stream.concat(Stream.of(ARTIFACTS.resolve("pom.xml")), artifacts()).toList()) {
			String text = Documents.text(artifact);
			assertThat(coordinates(text)).containsEntry("groupId", library.get("groupId"))
				.containsEntry("version", library.get("version"));
			assertThat(matches(VERSION_OR_TIME, text)).isSubsetOf(matches(VERSION_OR_TIME, pom));
			assertThat(matches(PLUGIN, text)).isSubsetOf(matches(PLUGIN, pom));
		}
	}

	@ParameterizedTest
	@MethodSource("io.github.distributedlock.docs.Documents#linked")
	void linksLeadSomewhere(Path file) {
		assertThat(Documents.lines(file).stream().flatMap((line) -> LINK.matcher(line).results()))
			.filteredOn((MatchResult link) -> !link.group(1).startsWith("https://"))
			.allSatisfy((link) -> {
				Path target = link.group(1).isEmpty() ? file : file.resolveSibling(link.group(1)).normalize();
				assertThat(target).exists();
				if (link.group(2) != null) {
					assertThat(Documents.anchors(target)).as("%s", target).contains(link.group(2).substring(1));
				}
			});
	}

	@Test
	void theReadmeLeadsToEachPage() {
		List<String> links = Documents.lines(Documents.README)
			.stream()
			.flatMap((line) -> LINK.matcher(line).results())
			.map((link) -> link.group(1))
			.toList();
		assertThat(Documents.pages().skip(1).map(Path::toString).filter((page) -> !page.endsWith("atomicity.md")))
			.allSatisfy((page) -> assertThat(links).contains(page));
	}

	/**
	 * Returns the POMs of the artifacts beside the library.
	 */
	private static Stream<Path> artifacts() {
		return Documents.under(ARTIFACTS)
			.filter((file) -> file.endsWith("pom.xml") && !file.getParent().equals(ARTIFACTS));
	}

	private static List<String> matches(Pattern pattern, String text) {
		return pattern.matcher(text).results().map((match) -> match.group().replaceAll("\\s+", "")).toList();
	}

	/**
	 * Returns the coordinates at the top of a document, or the coordinates of the parent.
	 */
	private static Map<String, String> coordinates(String xml) {
		try {
			Document document = DocumentBuilderFactory.newInstance()
				.newDocumentBuilder()
				.parse(new ByteArrayInputStream(xml.getBytes(StandardCharsets.UTF_8)));
			Map<String, String> coordinates = new TreeMap<>();
			collect(document.getElementsByTagName("parent").item(0), coordinates);
			collect(document.getDocumentElement(), coordinates);
			return coordinates;
		}
		catch (Exception ex) {
			throw new IllegalArgumentException(xml, ex);
		}
	}

	private static void collect(@Nullable Node parent, Map<String, String> coordinates) {
		for (Node node = (parent != null) ? parent.getFirstChild() : null; node != null; node = node.getNextSibling()) {
			if (node instanceof Element element && COORDINATES.contains(element.getTagName())) {
				coordinates.put(element.getTagName(), element.getTextContent().strip());
			}
		}
	}

}
