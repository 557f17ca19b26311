package io.github.distributedlock.docs;

import java.lang.reflect.Method;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.regex.MatchResult;
import java.util.regex.Pattern;

import io.github.distributedlock.annotation.DistributedLock;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * The Chinese README says what the English one says: the same sections, commands and
 * figures, all attributes, and as many promises. Further sections are the Chinese
 * README's own.
 */
class ChineseReadmeTests {

	private static final Map<String, String> SECTIONS = sections("Install", "安装", "See it", "先跑起来看看", "The annotation",
			"注解怎么写", "What it promises", "它保证什么", "What no lock can promise", "锁不能保证什么", "In code", "编程方式",
			"Reactive and Kotlin", "响应式和 Kotlin", "When to take another library", "什么时候该用别的库", "Performance", "性能",
			"More", "更多");

	private static final Set<String> FURTHER = Set.of("容易踩的坑", "看门狗续期", "缓存击穿", "从其他锁迁移",
			"代理和云上的 Redis：没有 Lua 或 Pub/Sub 怎么办", "词汇表");

	private static final Pattern NUMBER = Pattern.compile("\\d+([.,]\\d+)*");

	private final Map<String, List<String>> english = split(Documents.lines(Documents.README));

	private final Map<String, List<String>> chinese = split(Documents.lines(Documents.CHINESE_README));

	@Test
	void sectionsAreTheSame() {
		assertThat(this.english.keySet()).isEqualTo(SECTIONS.keySet());
		Set<String> ours = new TreeSet<>(this.chinese.keySet());
		ours.removeAll(FURTHER);
		assertThat(ours).containsExactlyInAnyOrderElementsOf(SECTIONS.values());
	}

	@ParameterizedTest
	@ValueSource(strings = { "sh", "xml" })
	void blocksAreTheSame(String language) {
		assertThat(Documents.blocks(language, Documents.lines(Documents.CHINESE_README))).isNotEmpty()
			.isEqualTo(Documents.blocks(language, Documents.lines(Documents.README)));
	}

	@Test
	void commandsInTheTextAreTheSame() {
		assertThat(Documents.code(Documents.CHINESE_README).filter((code) -> code.startsWith("./mvnw"))).isNotEmpty()
			.containsExactlyInAnyOrderElementsOf(
					Documents.code(Documents.README).filter((code) -> code.startsWith("./mvnw")).toList());
	}

	@Test
	void eachAttributeIsExplained() {
		String attributes = String.join("\n", this.chinese.get(SECTIONS.get("The annotation")));
		assertThat(Arrays.stream(DistributedLock.class.getDeclaredMethods())
			.map(Method::getName)
			// The same as text, and what reference.md alone explains.
			.filter((name) -> !name.endsWith("String"))).isNotEmpty()
			.allSatisfy((name) -> assertThat(attributes).contains("`" + name + "`"));
	}

	@Test
	void figuresAreTheSame() {
		for (Map.Entry<String, List<String>> section : this.english.entrySet()) {
			if (!section.getKey().equals("More")) {
				assertThat(numbers(this.chinese.values().stream().flatMap(List::stream).toList())).as(section.getKey())
					.containsAll(numbers(section.getValue()));
			}
		}
	}

	@Test
	void pointsAndRowsAreAsMany() {
		SECTIONS.forEach((theirs, ours) -> {
			if (!theirs.equals("More")) {
				for (String mark : List.of("- ", "| ")) {
					assertThat(count(this.chinese.get(ours), mark)).as("%s: %s", ours, mark)
						.isGreaterThanOrEqualTo(count(this.english.get(theirs), mark));
				}
			}
		});
		assertThat(count(this.chinese.get("容易踩的坑"), "- "))
			.isGreaterThanOrEqualTo(count(this.english.get("The annotation"), "> - "));
	}

	/** Without code, which other tests compare, and targets of links. */
	private static Set<String> numbers(List<String> lines) {
		Set<String> numbers = new TreeSet<>();
		boolean code = false;
		for (String line : lines) {
			boolean fence = line.startsWith("```");
			code ^= fence;
			if (!code && !fence && !line.startsWith("![")) {
				NUMBER.matcher(line.replaceAll("]\\([^)]*\\)", "").replaceAll("`[^`]*`", ""))
					.results()
					.map(MatchResult::group)
					.forEach(numbers::add);
			}
		}
		return numbers;
	}

	private static long count(List<String> lines, String mark) {
		return lines.stream().filter((line) -> line.startsWith(mark)).count();
	}

	private static Map<String, List<String>> split(List<String> lines) {
		Map<String, List<String>> sections = new TreeMap<>();
		int begin = -1;
		for (int i = 0; i <= lines.size(); i++) {
			if (i == lines.size() || lines.get(i).startsWith("## ")) {
				if (begin >= 0) {
					sections.put(lines.get(begin).substring(3), lines.subList(begin + 1, i));
				}
				begin = i;
			}
		}
		return sections;
	}

	private static Map<String, String> sections(String... names) {
		Map<String, String> sections = new LinkedHashMap<>();
		for (int i = 0; i < names.length; i += 2) {
			sections.put(names[i], names[i + 1]);
		}
		return sections;
	}

}
