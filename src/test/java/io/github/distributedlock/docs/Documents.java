package io.github.distributedlock.docs;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.regex.MatchResult;
import java.util.regex.Pattern;
import java.util.stream.Stream;

/**
 * The README and the page that goes on with it, taken apart.
 */
final class Documents {

	static final Path FILE = Path.of("README.md");

	private static final Path APPLICATION = Path.of("src/docs/application.md");

	private static final Pattern CODE = Pattern.compile("`([^`]+)`");

	private Documents() {
	}

	static Stream<Path> files() {
		return Stream.of(FILE, APPLICATION);
	}

	/**
	 * Their lines, without the marks of the boxes that some stand in.
	 */
	static List<String> lines() {
		return files().flatMap((file) -> lines(file).stream()).map((line) -> line.replaceFirst("^> ?", "")).toList();
	}

	/**
	 * The lines of one of them.
	 */
	static List<String> lines(Path file) {
		try {
			return Files.readAllLines(file);
		}
		catch (IOException ex) {
			throw new UncheckedIOException(ex);
		}
	}

	/**
	 * All fenced blocks of some language.
	 */
	static List<String> blocks(String language) {
		List<String> blocks = new ArrayList<>();
		StringBuilder block = null;
		for (String line : lines()) {
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
		return lines().stream()
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
		throw new IllegalStateException("No table " + List.of(heading) + " ends in " + FILE);
	}

	private static List<String> cells(String line) {
		if (!line.startsWith("|")) {
			return List.of();
		}
		return Arrays.stream(line.substring(1, line.lastIndexOf('|')).split("\\|")).map(String::strip).toList();
	}

}
