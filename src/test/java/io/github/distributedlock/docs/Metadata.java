package io.github.distributedlock.docs;

import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.net.URL;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.stream.Stream;

import org.springframework.boot.json.JsonParserFactory;

/**
 * The properties that the library, and Spring Boot, say they have.
 */
final class Metadata {

	private Metadata() {
	}

	/**
	 * Returns the defaults of all properties by name, as text, {@code none} where there
	 * is none.
	 */
	static Map<String, String> defaults() {
		Map<String, String> defaults = new TreeMap<>();
		properties().forEach((property) -> {
			Object value = property.get("defaultValue");
			defaults.put(String.valueOf(property.get("name")), (value != null) ? text(value) : "none");
		});
		return defaults;
	}

	/**
	 * Returns all properties that are not deprecated.
	 */
	@SuppressWarnings("unchecked")
	static Stream<Map<String, Object>> properties() {
		Stream<URL> files = Metadata.class.getClassLoader().resources("META-INF/spring-configuration-metadata.json");
		return files.flatMap((file) -> {
			try (InputStream stream = file.openStream()) {
				String json = new String(stream.readAllBytes(), StandardCharsets.UTF_8);
				return ((List<Map<String, Object>>) JsonParserFactory.getJsonParser().parseMap(json).get("properties"))
					.stream();
			}
			catch (IOException ex) {
				throw new UncheckedIOException(ex);
			}
		}).filter((property) -> !property.containsKey("deprecation"));
	}

	private static String text(Object value) {
		// Some of the parsers that Spring Boot may find make a double of each number.
		return (value instanceof Number number) ? String.valueOf(number.longValue()) : value.toString();
	}

}
