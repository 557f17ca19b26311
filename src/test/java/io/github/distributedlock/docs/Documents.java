package io.github.distributedlock.docs;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import java.util.regex.MatchResult;
import java.util.regex.Pattern;
import java.util.stream.Stream;

import org.springframework.boot.env.YamlPropertySourceLoader;
import org.springframework.core.env.EnumerablePropertySource;
import org.springframework.core.io.ByteArrayResource;

/**
 * The README, in both languages, and all pages of {@code src/docs}, taken apart.
 */
final class Documents {

	static final Path README = Path.of("README.md");

	static final Path CHINESE_README = Path.of("README.zh-CN.md");

	private static final Path PAGES = Path.of("src/docs");

	private static final Pattern CODE = Pattern.compile("`([^`]+)`");

	private Documents() {
	}

	/**
	 * Returns all pages in all languages, the README first.
	 */
	static Stream<Path> files() {
		return Stream.concat(Stream.of(README, CHINESE_README),
				under(PAGES).filter((file) -> file.toString().endsWith(".md")));
	}

	/**
	 * Returns the files in a folder and in the folders of that folder, sorted.
	 */
	static Stream<Path> under(Path root) {
		try (Stream<Path> files = Files.walk(root)) {
			return files.filter(Files::isRegularFile).sorted().toList().stream();
		}
		catch (IOException ex) {
			throw new UncheckedIOException(ex);
		}
	}

	static String text(Path file) {
		try {
			return Files.readString(file);
		}
		catch (IOException ex) {
			throw new UncheckedIOException(ex);
		}
	}

	/**
	 * Returns the pages that no program writes, the README first.
	 */
	static Stream<Path> pages() {
		return files().filter((file) -> !file.startsWith(PAGES.resolve("performance")));
	}

	/**
	 * All, and what else has links.
	 */
	static Stream<Path> linked() {
		return Stream.concat(files(), Stream.of(Path.of(".github/CONTRIBUTING.md")));
	}

	static Path page(String name) {
		return PAGES.resolve(name);
	}

	/**
	 * The properties in the blocks of YAML that have a word.
	 * @return them, each as {@code name=value}
	 */
	static String[] properties(String word) throws IOException {
		List<String> properties = new ArrayList<>();
		for (String block : blocks("yaml").stream().filter((each) -> each.contains(word)).toList()) {
			EnumerablePropertySource<?> source = (EnumerablePropertySource<?>) new YamlPropertySourceLoader()
				.load("documents", new ByteArrayResource(block.getBytes(StandardCharsets.UTF_8)))
				.get(0);
			for (String name : source.getPropertyNames()) {
				properties.add(name + "=" + source.getProperty(name));
			}
		}
		return properties.toArray(String[]::new);
	}

	/**
	 * The lines of all, without the marks of the boxes that some stand in.
	 */
	static List<String> lines() {
		return files().flatMap((file) -> lines(file).stream()).map((line) -> line.replaceFirst("^> ?", "")).toList();
	}

	static List<String> lines(Path file) {
		return text(file).lines().toList();
	}

	/**
	 * The lines of one that are neither code nor part of a table.
	 */
	static List<String> prose(Path file) {
		List<String> prose = new ArrayList<>();
		boolean code = false;
		for (String line : lines(file)) {
			boolean fence = line.startsWith("```");
			code ^= fence;
			if (!code && !fence && !line.startsWith("|")) {
				prose.add(line);
			}
		}
		return prose;
	}

	/**
	 * Returns the anchors of a page: the headings, as GitHub names them.
	 */
	static List<String> anchors(Path file) {
		return prose(file).stream()
			.filter((line) -> line.matches("#+ .*"))
			.map((line) -> line.replaceFirst("#+ ", "")
				.toLowerCase(Locale.ROOT)
				.replaceAll("[^\\p{L}\\p{N} -]", "")
				.replace(' ', '-'))
			.toList();
	}

	/**
	 * All fenced blocks of some language.
	 */
	static List<String> blocks(String language) {
		return blocks(language, lines());
	}

	static List<String> blocks(String language, List<String> lines) {
		List<String> blocks = new ArrayList<>();
		StringBuilder block = null;
		for (String line : lines) {
			if (block == null && line.startsWith("```")) {
				block = new StringBuilder();
				block.append(line.substring(3)).append('\n');
			}
			else if (block != null && line.equals("```")) {
				blocks.add(block.toString());
				block = null;
			}
			else if (block != null) {
				block.append(line).append('\n');
			}
		}
		return blocks.stream()
			.filter((each) -> each.startsWith(language + "\n"))
			.map((each) -> each.substring(language.length() + 1))
			.toList();
	}

	/**
	 * The languages of all fenced blocks.
	 */
	static List<String> languages() {
		return lines().stream().filter((line) -> line.matches("```\\w+")).map((line) -> line.substring(3)).toList();
	}

	/**
	 * All pieces of code outside of blocks.
	 */
	static Stream<String> code() {
		return files().flatMap(Documents::code);
	}

	static Stream<String> code(Path file) {
		return lines(file).stream()
			.flatMap((line) -> CODE.matcher(line).results())
			.map((MatchResult result) -> result.group(1));
	}

	/**
	 * The rows of the table whose heading begins with some cells.
	 */
	static List<List<String>> table(String... heading) {
		List<List<String>> rows = new ArrayList<>();
		boolean inside = false;
		for (String line : lines()) {
			List<String> cells = cells(line);
			if (inside && cells.isEmpty()) {
				return rows;
			}
			if (inside && !cells.get(0).matches("-+")) {
				rows.add(cells);
			}
			inside |= cells.size() >= heading.length && cells.subList(0, heading.length).equals(Arrays.asList(heading));
		}
		throw new IllegalStateException("No table " + List.of(heading) + " ends in the documents");
	}

	private static List<String> cells(String line) {
		if (!line.startsWith("|")) {
			return List.of();
		}
		return Arrays.stream(line.substring(1, line.lastIndexOf('|')).split("\\|")).map(String::strip).toList();
	}

}
