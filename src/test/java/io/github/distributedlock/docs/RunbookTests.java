package io.github.distributedlock.docs;

import java.nio.file.Path;
import java.util.List;
import java.util.regex.MatchResult;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;

import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * The runbook has a row for each line that the library logs as a warning or an error.
 */
class RunbookTests {

	private static final Path LIBRARY = Path.of("src/main/java");

	private static final String LITERAL = "\"(?:[^\"\\\\\n]|\\\\.)*\"";

	private static final Pattern CALL = Pattern.compile("logger\\s*\\.(warn|error|atLevel|atWarn|atError)\\(");

	/**
	 * A call, and the logged text: literals that are joined.
	 */
	private static final Pattern MESSAGE = Pattern
		.compile("logger\\s*\\.(?:(?:warn|error)\\(|at(?:Level|Warn|Error)\\([^;]*?\\.log\\()\\s*(" + LITERAL
				+ "(?:\\s*\\+\\s*" + LITERAL + ")*)");

	/**
	 * The length of a beginning that tells a text from all others.
	 */
	private static final int ENOUGH = 25;

	@Test
	void eachWarningAndErrorHasOneRow() {
		List<String> messages = Documents.under(LIBRARY).flatMap(RunbookTests::messages).toList();
		assertThat(messages).hasSizeGreaterThan(30);
		List<String> rows = Documents.table("line", "means", "do")
			.stream()
			.map((row) -> row.get(0).replaceAll("^`|`$", ""))
			.toList();
		assertThat(rows).doesNotHaveDuplicates();
		assertThat(messages)
			.allSatisfy((message) -> assertThat(rows).as(message).filteredOn((row) -> isOf(row, message)).hasSize(1));
		assertThat(rows)
			.allSatisfy((row) -> assertThat(messages).as(row).filteredOn((message) -> isOf(row, message)).hasSize(1));
	}

	private static boolean isOf(String row, String message) {
		return message.startsWith(row) && (row.length() >= ENOUGH || row.equals(message));
	}

	private static Stream<String> messages(Path file) {
		String source = Documents.text(file);
		List<String> messages = MESSAGE.matcher(source)
			.results()
			.map((MatchResult message) -> Pattern.compile(LITERAL)
				.matcher(message.group(1))
				.results()
				.map((literal) -> literal.group().substring(1, literal.group().length() - 1))
				.collect(Collectors.joining())
				.replace("{}", "…")
				.replace("\\\"", "\""))
			.toList();
		assertThat(messages).as("texts in %s", file).hasSize((int) CALL.matcher(source).results().count());
		return messages.stream();
	}

}
