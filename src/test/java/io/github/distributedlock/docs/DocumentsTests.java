package io.github.distributedlock.docs;

import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.lang.reflect.Method;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.regex.MatchResult;
import java.util.regex.Pattern;
import java.util.stream.Collectors;

import javax.xml.parsers.DocumentBuilderFactory;

import io.github.distributedlock.LockBackendException;
import io.github.distributedlock.LockEvent;
import io.github.distributedlock.annotation.DistributedLock;
import io.github.distributedlock.autoconfigure.DistributedLockProperties;
import io.github.distributedlock.observability.LockMeters;
import io.micrometer.core.instrument.Meter;
import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.Tag;
import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
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
 * The README says what is so.
 */
class DocumentsTests {

	private static final List<String> COORDINATES = List.of("groupId", "artifactId", "version");

	private static final Pattern PROPERTY = Pattern.compile("(distributed-lock|spring|management)(\\.[a-z-]+)+");

	private static final Pattern LINK = Pattern.compile("]\\(([^)#]+)[^)]*\\)");

	@Test
	void eachKindOfBlockIsChecked() {
		assertThat(Documents.languages()).isSubsetOf("java", "yaml", "xml", "kotlin", "sh").contains("java", "yaml");
	}

	@Test
	void javaIsWhatTheTestsRun() {
		assertThat(Documents.blocks("java").stream().map(Regions::normal))
			.containsExactlyInAnyOrderElementsOf(Regions.all().values().stream().map(Regions::normal).toList());
	}

	@Test
	void annotationsInTheTextAreWhatTheTestsRun() {
		String sources = Regions.normal(String.join("\n", Regions.sources()));
		List<String> annotations = Documents.code().filter((code) -> code.startsWith("@DistributedLock(")).toList();
		assertThat(annotations).isNotEmpty().allSatisfy((code) -> assertThat(sources).contains(Regions.normal(code)));
	}

	@Test
	void yamlBinds() throws IOException {
		Map<String, String> known = Metadata.defaults();
		for (String block : Documents.blocks("yaml")) {
			for (PropertySource<?> source : new YamlPropertySourceLoader().load("README",
					new ByteArrayResource(block.getBytes(StandardCharsets.UTF_8)))) {
				assertThat(known).containsKeys(((EnumerablePropertySource<?>) source).getPropertyNames());
				new Binder(ConfigurationPropertySources.from(source)).bindOrCreate("distributed-lock",
						Bindable.of(DistributedLockProperties.class));
			}
		}
	}

	@Test
	void propertiesInTheTextExist() {
		assertThat(Documents.code()
			.map((code) -> code.replaceFirst("=.*", ""))
			.filter((code) -> PROPERTY.matcher(code).matches())).isNotEmpty()
			.allSatisfy((name) -> assertThat(Metadata.defaults()).containsKey(name));
	}

	@Test
	void dependenciesAreThisProject() throws Exception {
		Map<String, String> pom = coordinates(Files.readString(Path.of("pom.xml")));
		List<String> xml = Documents.blocks("xml");
		assertThat(xml).isNotEmpty().allSatisfy((block) -> assertThat(coordinates(block)).isEqualTo(pom));
		String gradle = COORDINATES.stream().map(pom::get).collect(Collectors.joining(":", "\"", "\""));
		assertThat(Documents.blocks("kotlin")).isNotEmpty().allSatisfy((block) -> assertThat(block).contains(gradle));
	}

	@Test
	void tableOfPropertiesIsTheMetadata() {
		Map<String, String> told = new TreeMap<>();
		for (List<String> row : Documents.table("property", "default")) {
			told.put("distributed-lock." + plain(row.get(0)), plain(row.get(1)));
		}
		Map<String, String> ours = Metadata.defaults();
		ours.keySet().removeIf((name) -> !name.startsWith("distributed-lock."));
		assertThat(told).isEqualTo(ours);
	}

	@Test
	void tableOfAttributesIsTheAnnotation() {
		Map<String, String> told = new TreeMap<>();
		for (List<String> row : Documents.table("attribute", "default")) {
			for (String name : row.get(0).split(", ")) {
				told.put(plain(name), plain(row.get(1)));
			}
		}
		Map<String, String> ours = Arrays.stream(DistributedLock.class.getDeclaredMethods())
			.collect(Collectors.toMap(Method::getName, DocumentsTests::defaultOf));
		assertThat(told).isEqualTo(new TreeMap<>(ours));
	}

	@Test
	void tableOfMetersIsWhatIsMetered() {
		Map<String, String> told = new TreeMap<>();
		for (List<String> row : Documents.table("meter", "tags")) {
			told.put(plain(row.get(0)), plain(row.get(1)));
		}
		MeterRegistry registry = new SimpleMeterRegistry();
		LockMeters meters = new LockMeters(registry);
		meters.observe(() -> 0, () -> 0);
		Duration time = Duration.ofSeconds(1);
		meters.onEvent(new LockEvent.Acquired("n", List.of("k"), "o", time));
		meters.onEvent(new LockEvent.Released("n", "k", "o", time));
		meters.onEvent(new LockEvent.RenewedLate("n", "k", "o", time));
		meters.onEvent(new LockEvent.Lost("n", "k", "o", LockEvent.Lost.Reason.TAKEN, time));
		meters.onEvent(new LockEvent.ReleaseDeferred("n", "k", "o", new LockBackendException("down", true, null)));
		Map<String, String> ours = registry.getMeters()
			.stream()
			.collect(Collectors.toMap((meter) -> meter.getId().getName(), DocumentsTests::tagsOf));
		assertThat(told).isEqualTo(new TreeMap<>(ours));
	}

	@ParameterizedTest
	@MethodSource("io.github.distributedlock.docs.Documents#files")
	void linksLeadSomewhere(Path file) {
		assertThat(Documents.lines(file).stream().flatMap((line) -> LINK.matcher(line).results()))
			.extracting((MatchResult link) -> link.group(1))
			.isNotEmpty()
			.filteredOn((link) -> !link.startsWith("https://"))
			.allSatisfy((link) -> assertThat(file.resolveSibling(link)).exists());
	}

	private static String plain(String cell) {
		return cell.replace("`", "");
	}

	private static String tagsOf(Meter meter) {
		return meter.getId()
			.getTags()
			.stream()
			.map(Tag::getKey)
			.filter((tag) -> !tag.equals("name"))
			.collect(Collectors.joining(", "));
	}

	private static String defaultOf(Method attribute) {
		Object value = attribute.getDefaultValue();
		boolean empty = value.equals("") || (value instanceof Object[] array && array.length == 0);
		return empty ? "empty" : value.toString();
	}

	/**
	 * The coordinates at the top of a document.
	 */
	private static Map<String, String> coordinates(String xml) throws Exception {
		Document document = DocumentBuilderFactory.newInstance()
			.newDocumentBuilder()
			.parse(new ByteArrayInputStream(xml.getBytes(StandardCharsets.UTF_8)));
		Map<String, String> coordinates = new TreeMap<>();
		for (Node node = document.getDocumentElement().getFirstChild(); node != null; node = node.getNextSibling()) {
			if (node instanceof Element element && COORDINATES.contains(element.getTagName())) {
				coordinates.put(element.getTagName(), element.getTextContent().strip());
			}
		}
		return coordinates;
	}

}
