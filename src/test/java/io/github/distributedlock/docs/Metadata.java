package io.github.distributedlock.docs;

import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.net.URL;
import java.nio.charset.StandardCharsets;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;

import org.springframework.boot.json.JsonParserFactory;

/**
 * The properties that the library, and Spring Boot, say they have.
 */
final class Metadata {

	private Metadata() {
	}

	/**
	 * The defaults of all properties by name, as text, {@code none} where there is none.
	 */
	static Map<String, String> defaults() {
		Map<String, String> defaults = new TreeMap<>();
		try {
			for (URL url : Collections
				.list(Metadata.class.getClassLoader().getResources("META-INF/spring-configuration-metadata.json"))) {
				addTo(defaults, url);
			}
		}
		catch (IOException ex) {
			throw new UncheckedIOException(ex);
		}
		return defaults;
	}

	private static void addTo(Map<String, String> defaults, URL url) throws IOException {
		try (InputStream stream = url.openStream()) {
			String json = new String(stream.readAllBytes(), StandardCharsets.UTF_8);
			Map<String, Object> root = JsonParserFactory.getJsonParser().parseMap(json);
			for (Object property : (List<?>) root.get("properties")) {
				Map<?, ?> described = (Map<?, ?>) property;
				Object value = described.get("defaultValue");
				if (!described.containsKey("deprecation")) {
					defaults.put(String.valueOf(described.get("name")), (value != null) ? text(value) : "none");
				}
			}
		}
	}

	private static String text(Object value) {
		// Some of the parsers that Spring Boot may find make a double of each number.
		return (value instanceof Number number) ? String.valueOf(number.longValue()) : value.toString();
	}

}
