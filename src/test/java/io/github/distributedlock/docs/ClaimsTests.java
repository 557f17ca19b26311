package io.github.distributedlock.docs;

import java.nio.file.Path;
import java.util.Comparator;
import java.util.List;
import java.util.regex.MatchResult;
import java.util.regex.Pattern;
import java.util.stream.Stream;

import io.github.distributedlock.internal.DurationRange;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * The numbers of the documents are the constants of the code, their promises have tests,
 * and the lines of the log that they show are those that the code writes.
 */
class ClaimsTests {

	private static final Path MAIN = Path.of("src/main");

	private static final Path LIBRARY = MAIN.resolve("java/io/github/distributedlock");

	private static final Pattern LITERAL = Pattern.compile("\"((?:[^\"\\\\\n]|\\\\.)*)\"");

	private static final Pattern THREE_WORDS = Pattern.compile("\\b[a-z]+ [a-z]+ [a-z]+\\b");

	/**
	 * A change of a constant fails the test, and shows the words to change.
	 */
	@ParameterizedTest
	@CsvSource(delimiter = '|', quoteCharacter = '§',
			textBlock = """
					README.md | Waits 5 s, then throws LockNotAcquiredException | engine/LockEngine | waitTime = Duration.ofSeconds(5)
					README.md | expire with their lease, 30 s by default | engine/LockEngine | watchdogTimeout = Duration.ofSeconds(30)
					README.md | A lost notification costs half a second | engine/LockEngine | longestPoll = Duration.ofMillis(500)
					waiting.md | kept for that instance, for 500 ms | backend/redis/WaitingList | RESERVATION_MILLIS = 500
					waiting.md | polls every 480 to 500 ms | backend/LockBackend | return Duration.ofMillis(500)
					waiting.md | every 576 to 600 ms | engine/Polls | LONGEST_IF_GRANTED = TimeUnit.MILLISECONDS.toNanos(600)
					waiting.md | skipped after 0.9 s of silence | lib-grant.lua | SILENCE = 900
					waiting.md | five of them in general, at least 3 s | backend/LockBackend | return Duration.ofSeconds(3)
					waiting.md | may take up to 5 s more | backend/redis/internal/Opening | FIRST = Duration.ofSeconds(5)
					waiting.md | `distributed-lock.local-slice` (10 ms) | engine/LockEngine | localSlice = Duration.ofMillis(10)
					waiting.md | up to 16 times | engine/LocalKey | MOST_LOANS = 16
					jdbc.md | Renewals of up to 200 locks | backend/LockBackend | return 200;
					jdbc.md | the first waiter for 850 ms | backend/jdbc/Rows | LONGEST_POLL = Duration.ofMillis(750)
					jdbc.md | not polled for 2 s is left out | backend/jdbc/Rows | SILENCE = Duration.ofSeconds(2)
					waiting.md | at most 10,000 keys | LockRequest | MOST_KEYS = 10_000
					waiting.md | The first pause is some 50 ms | engine/LockEngine | shortestPoll = Duration.ofMillis(50)
					waiting.md | pauses for a quarter of the time | engine/Polls | unchanged / 4
					waiting.md | from 1 ms up to 500 ms | engine/Polls | LEAST = TimeUnit.MILLISECONDS.toNanos(1)
					waiting.md | with jitter, up to 500 ms | engine/LockEngine | longestPoll = Duration.ofMillis(500)
					loss.md | by 1 % of the lease | engine/Lease | Math.max(LEAST_MARGIN, this.nanos / 100)
					loss.md | and by 10 ms at least | engine/Lease | LEAST_MARGIN = Duration.ofMillis(10)
					loss.md | renewed after a third of it at the latest | engine/Lease | this.nanos / 3
					loss.md | batches of up to 200 locks | backend/LockBackend | return 200;
					loss.md | The least `leaseTime`, and the least time of `extend`, is 100 ms | internal/DurationRange | LEASE(100,
					redis.md | idle for more than a second is sent a `PING` | backend/redis/internal/JedisLink | CHECK_IDLE_NANOS = TimeUnit.SECONDS.toNanos(1)
					redis.md | idle for a minute is not used again | backend/redis/internal/PooledLane | LONGEST_IDLE_NANOS = TimeUnit.MINUTES.toNanos(1)
					redis.md | from all named Sentinels every 500 ms | backend/redis/internal/SentinelMaster | PAUSE = Duration.ofMillis(500)
					redis.md | kept for 24 h | backend/redis/FencingCounter | TTL_MILLIS = Duration.ofDays(1)
					redis.md | while the key has more than 250 ms to live | backend/redis/Atomicity | MARGIN_MILLIS = 250
					faq.md | a watchdog renews it after 10 s at the latest | engine/Lease | this.nanos / 3
					faq.md | Commands take four connections on Jedis | backend/redis/internal/Combiner | WIRES = 4
					faq.md | renewals up to eight and one | backend/redis/internal/JedisClient | RENEWALS = 8
					faq.md | up to 64 there for commands | backend/redis/internal/JedisClient | COMMANDS = 64
					faq.md | a fencing counter after 24 hours | backend/redis/FencingCounter | TTL_MILLIS = Duration.ofDays(1)
					failover.md | a lease of 30 s and | engine/LockEngine | watchdogTimeout = Duration.ofSeconds(30)
					failover.md | a command timeout of 1 s | backend/redis/RedisLockSettings | RedisLockSettings("lock", Duration.ofSeconds(1)
					failover.md | none of three numbers | backend/redis/Pulse | UNHEARD = 3
					failover.md | Once a second, while a request waits | backend/redis/Pulse | PERIOD_NANOS = TimeUnit.SECONDS.toNanos(1)
					architecture.md | fails after 5 s in line | engine/AsyncDriver | LEAST_LINE_TIME = TimeUnit.SECONDS.toNanos(5)
					""")
	void numbersAreThoseOfTheCode(String page, String words, String source, String constant) {
		Path document = page.equals("README.md") ? Documents.README : Documents.page(page);
		assertThat(Documents.text(document).replaceAll("\\s+", " ")).contains(words);
		Path file = source.endsWith(".lua")
				? MAIN.resolve("resources/io/github/distributedlock/backend/redis").resolve(source)
				: LIBRARY.resolve(source + ".java");
		assertThat(Regions.normal(Documents.text(file))).contains(constant);
	}

	@Test
	void eachPromiseOfTheReadmeHasItsTests() {
		List<String> readme = Documents.lines(Documents.README);
		String promises = String.join("\n",
				readme.subList(readme.indexOf("## What it promises"), readme.indexOf("## What no lock can promise")));
		List<String> promised = Pattern.compile("\n- \\*\\*([^*.,]+)")
			.matcher(promises)
			.results()
			.map((promise) -> promise.group(1).strip())
			.toList();
		assertThat(Documents.table("promise", "shown by")).extracting((row) -> row.get(0))
			.containsExactlyElementsOf(promised);
	}

	@Test
	void testsInTheTextExist() {
		List<String> tests = Documents.under(Path.of("src")).map((file) -> file.getFileName().toString()).toList();
		assertThat(Documents.code().filter((code) -> code.matches("[A-Z]\\w+Tests"))).isNotEmpty()
			.allSatisfy((name) -> assertThat(tests).contains(name + ".java"));
	}

	@Test
	void comparedVersionsAreThoseOfTheBuild() {
		String pom = Documents.text(Path.of("pom.xml"));
		List<String> heading = Documents.lines(Documents.page("comparison.md"))
			.stream()
			.filter((line) -> line.startsWith("| | this library"))
			.toList();
		assertThat(Pattern.compile("([A-Z][\\w ]+?) (\\d+\\.\\d+) ").matcher(heading.get(0)).results()).hasSize(4)
			.allSatisfy((peer) -> assertThat(pom).containsPattern(
					"<" + peer.group(1).toLowerCase().replace(' ', '-') + "[.]version>" + peer.group(2) + "[.]"));
	}

	@Test
	void theListOfTheApiIsComplete() {
		String architecture = Documents.text(Path.of("src/test/java/io/github/distributedlock/ArchitectureTests.java"));
		String api = architecture.substring(architecture.indexOf("API = Set.of("),
				architecture.indexOf("SliceAssignment PACKAGES"));
		assertThat(LITERAL.matcher(api).results().map((name) -> name.group(1)))
			// Listed by their packages, and by "the adapters' registries and provider".
			.filteredOn(
					(name) -> name.contains(".") && !name.matches("(annotation|backend|integration|shedlock)[.]\\w+"))
			.hasSizeGreaterThan(5)
			.allSatisfy((name) -> assertThat(Documents.code(Documents.page("support.md")))
				.contains(name.substring(name.lastIndexOf('.') + 1)));
	}

	/**
	 * A line without the texts of the code consists of values: keys, owners, times,
	 * addresses, and never words in a row.
	 */
	@Test
	void linesOfTheLogAreThoseOfTheCode() {
		List<String> texts = texts();
		assertThat(logged()).hasSizeGreaterThan(15).allSatisfy((line) -> {
			String rest = line;
			for (String text : texts) {
				rest = rest.replace(text, "|");
			}
			assertThat(rest).as(line).doesNotContainPattern(THREE_WORDS);
		});
	}

	private static Stream<String> logged() {
		return Stream.concat(Documents.blocks("text").stream().flatMap(String::lines),
				Documents.table("the log says", "it means").stream().map((row) -> row.get(0).replace("*", "")));
	}

	/**
	 * Returns the texts that the code may write between values, the longest first.
	 */
	private static List<String> texts() {
		String code = String.join("\n", Documents.under(LIBRARY).map(Documents::text).toList())
			// Literals that are joined are one.
			.replaceAll("\"\\s*\\+\\s*\"", "");
		return LITERAL.matcher(code)
			.results()
			.map((MatchResult literal) -> literal.group(1))
			.flatMap((literal) -> Stream.of(literal.split("\\{}")))
			.filter((text) -> text.strip().contains(" ") || text.length() > 8)
			.distinct()
			.sorted(Comparator.comparingInt(String::length).reversed())
			.toList();
	}

}
