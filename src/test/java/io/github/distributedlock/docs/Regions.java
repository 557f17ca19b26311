package io.github.distributedlock.docs;

import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * The lines of the classes of this package between {@code tag::name[]} and {@code
 * end::name[]}.
 */
final class Regions {

	private static final List<String> LANGUAGES = List.of("java", "kotlin");

	private static final Pattern MARK = Pattern.compile("\\s*// (tag|end)::([\\w-]+)\\[]");

	private Regions() {
	}

	/**
	 * All regions of a language by name. One that begins again goes on.
	 */
	static Map<String, String> all(String language) {
		Map<String, String> regions = new TreeMap<>();
		for (String source : sources(language)) {
			String open = null;
			for (String line : source.split("\n")) {
				Matcher mark = MARK.matcher(line);
				if (mark.matches()) {
					open = mark.group(1).equals("tag") ? mark.group(2) : null;
				}
				else if (open != null) {
					regions.merge(open, line + "\n", String::concat);
				}
			}
		}
		return regions;
	}

	static List<String> sources() {
		return LANGUAGES.stream().flatMap((language) -> sources(language).stream()).toList();
	}

	private static List<String> sources(String language) {
		Path directory = Path.of("src/test", language, Regions.class.getPackageName().replace('.', '/'));
		return Documents.under(directory).map(Documents::text).toList();
	}

	/**
	 * Returns code without lay-out and comments, which differ between languages.
	 */
	static String normal(String text) {
		return text.replaceAll("// .*", "").strip().replaceAll("\\s+", " ").replaceAll(" (?=[.])", "");
	}

}
