package io.github.distributedlock.docs;

import java.io.File;
import java.io.IOException;
import java.io.OutputStream;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.net.URI;
import java.net.URLEncoder;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.regex.Pattern;
import java.util.stream.Stream;

import com.sun.net.httpserver.HttpServer;
import io.github.distributedlock.DistributedLock;
import io.github.distributedlock.LockBackendException;
import io.github.distributedlock.LockRequest;
import io.github.distributedlock.fixtures.Patience;
import io.github.distributedlock.fixtures.RedisServers;
import io.micrometer.prometheusmetrics.PrometheusMeterRegistry;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.yaml.snakeyaml.Yaml;
import redis.clients.jedis.Jedis;

import org.springframework.boot.json.JsonParserFactory;
import org.springframework.context.ConfigurableApplicationContext;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assumptions.assumeThat;

/**
 * The alert rules and the dashboard read meters that an application with Actuator really
 * has. Tests of Prometheus itself are skipped if the programs are not on the path.
 */
class AlertsTests {

	private static final Path FOLDER = Path.of("src/docs/operations");

	/**
	 * A meter, and the labels in braces.
	 */
	private static final Pattern SELECTOR = Pattern.compile("\\b(distributed_lock_\\w+)(?:\\{([^}]*)})?");

	private static final Pattern LABEL = Pattern.compile("(\\w+)(?:=~|!~|!=|=)\"([^\"]*)\"");

	private static final Pattern GROUPING = Pattern.compile("\\b(?:by|without) \\(([^)]*)\\)");

	private static final Pattern SAMPLE = Pattern.compile("(?m)^(distributed_lock_\\w+)(?:\\{(.*)})? \\S+$");

	/** Prometheus' own. */
	private static final Set<String> OF_PROMETHEUS = Set.of("job", "instance");

	private static RedisServers.Server redis;

	private static ConfigurableApplicationContext application;

	@TempDir
	private Path directory;

	@BeforeAll
	static void start() {
		redis = RedisServers.start(RedisServers.EMBEDDED);
		application = DocsApplication.start(redis);
		work();
		try (Jedis admin = redis.admin()) {
			admin.lpush("lock:{broken}", "no lock");
		}
		assertThatExceptionOfType(LockBackendException.class)
			.isThrownBy(() -> application.getBean(DistributedLock.class).tryAcquire(LockRequest.of("broken")));
	}

	@AfterAll
	static void stop() {
		application.close();
		redis.close();
	}

	@Test
	void metersAndLabelsExist() {
		Map<String, Map<String, Set<String>>> scraped = scraped();
		List<String> expressions = Stream.concat(rules().stream(), panels().stream()).toList();
		assertThat(expressions).hasSizeGreaterThan(15).allSatisfy((expression) -> {
			Set<String> known = new HashSet<>(OF_PROMETHEUS);
			assertThat(SELECTOR.matcher(expression).results()).isNotEmpty().allSatisfy((selector) -> {
				assertThat(scraped).containsKey(selector.group(1));
				Map<String, Set<String>> labels = scraped.get(selector.group(1));
				known.addAll(labels.keySet());
				LABEL.matcher(Optional.ofNullable(selector.group(2)).orElse(""))
					.results()
					.filter((label) -> !OF_PROMETHEUS.contains(label.group(1)))
					.forEach((label) -> assertThat(labels.get(label.group(1))).as("%s of %s", label.group(), selector)
						.contains(label.group(2)));
			});
			assertThat(GROUPING.matcher(expression).results())
				.flatExtracting((grouping) -> List.of(grouping.group(1).split(", ")))
				.isSubsetOf(known);
		});
	}

	@Test
	void theRunbookHasEachAlert() {
		assertThat(
				Documents.table("alert", "it means").stream().map((row) -> row.get(0).replaceAll("`([^`]*)`.*", "$1")))
			.containsExactlyElementsOf(alerts("alert"));
	}

	@Test
	void rulesDoWhatTheirTestsSay() throws Exception {
		Process promtool = program("promtool", "test", "rules", FOLDER.resolve("alerts-tests.yml").toString());
		assertThat(Patience.waitFor(promtool)).as(output()).isZero();
	}

	/** In every panel there is something to see, and the rules load. */
	@Test
	@Tag("thorough")
	void prometheusFillsEachPanel() throws Exception {
		HttpServer metrics = HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0);
		metrics.createContext("/metrics", (exchange) -> {
			byte[] text = scrape().getBytes(StandardCharsets.UTF_8);
			exchange.getResponseHeaders().add("Content-Type", "text/plain; version=0.0.4");
			exchange.sendResponseHeaders(200, text.length);
			try (OutputStream body = exchange.getResponseBody()) {
				body.write(text);
			}
		});
		metrics.start();
		Path settings = Files.writeString(this.directory.resolve("prometheus.yml"), """
				global: { scrape_interval: 1s, evaluation_interval: 1s }
				rule_files: [ '%s' ]
				scrape_configs: [ { job_name: shop, static_configs: [ { targets: [ '127.0.0.1:%d' ] } ] } ]
				""".formatted(FOLDER.resolve("alerts.yml").toAbsolutePath(), metrics.getAddress().getPort()));
		int port = free();
		Process prometheus = null;
		try {
			prometheus = program("prometheus", "--config.file=" + settings,
					"--storage.tsdb.path=" + this.directory.resolve("data"), "--web.listen-address=127.0.0.1:" + port);
			for (String panel : panels()) {
				String expression = panel.replace("$__rate_interval", "1m").replace("$job", ".*");
				Awaitility.await(expression).atMost(Patience.PATIENCE).until(() -> {
					work();
					return query(port, expression).contains("\"metric\"");
				});
			}
			assertThat(ask(port, "rules")).contains(alerts("alert"));
		}
		finally {
			metrics.stop(0);
			if (prometheus != null) {
				prometheus.destroy();
				Patience.waitFor(prometheus);
			}
		}
	}

	private static void work() {
		application.getBean(Orders.class).pay(new Orders.Order("7"));
	}

	private static String scrape() {
		return application.getBean(PrometheusMeterRegistry.class).scrape();
	}

	/**
	 * Returns the values of each label of each meter of the application.
	 */
	private static Map<String, Map<String, Set<String>>> scraped() {
		Map<String, Map<String, Set<String>>> scraped = new HashMap<>();
		SAMPLE.matcher(scrape()).results().forEach((sample) -> {
			Map<String, Set<String>> labels = scraped.computeIfAbsent(sample.group(1), (name) -> new HashMap<>());
			LABEL.matcher(Optional.ofNullable(sample.group(2)).orElse(""))
				.results()
				.forEach((label) -> labels.computeIfAbsent(label.group(1), (name) -> new HashSet<>())
					.add(label.group(2)));
		});
		return scraped;
	}

	private static List<String> rules() {
		return alerts("expr");
	}

	private static List<String> alerts(String field) {
		Map<String, List<Map<String, List<Map<String, Object>>>>> file = new Yaml()
			.load(Documents.text(FOLDER.resolve("alerts.yml")));
		return file.get("groups").get(0).get("rules").stream().map((rule) -> String.valueOf(rule.get(field))).toList();
	}

	private static List<String> panels() {
		List<String> expressions = new ArrayList<>();
		Map<String, Object> dashboard = JsonParserFactory.getJsonParser()
			.parseMap(Documents.text(FOLDER.resolve("dashboard.json")));
		for (Object panel : (List<?>) dashboard.get("panels")) {
			for (Object target : (List<?>) ((Map<?, ?>) panel).get("targets")) {
				expressions.add(String.valueOf(((Map<?, ?>) target).get("expr")));
			}
		}
		return expressions;
	}

	private Process program(String name, String... arguments) throws IOException {
		Optional<Path> program = Stream.of(System.getenv("PATH").split(File.pathSeparator))
			.map((folder) -> Path.of(folder, name))
			.filter(Files::isExecutable)
			.findFirst();
		assumeThat(program).as(name).isPresent();
		List<String> command = new ArrayList<>(List.of(program.orElseThrow().toString()));
		command.addAll(List.of(arguments));
		return new ProcessBuilder(command).redirectErrorStream(true)
			.redirectOutput(this.directory.resolve("output").toFile())
			.start();
	}

	private String output() {
		return Documents.text(this.directory.resolve("output"));
	}

	private static String query(int port, String expression) throws InterruptedException {
		return ask(port, "query?query=" + URLEncoder.encode(expression, StandardCharsets.UTF_8));
	}

	/** Empty as long as Prometheus does not answer. */
	private static String ask(int port, String what) throws InterruptedException {
		try {
			return HttpClient.newHttpClient()
				.send(HttpRequest.newBuilder(URI.create("http://127.0.0.1:" + port + "/api/v1/" + what)).build(),
						HttpResponse.BodyHandlers.ofString())
				.body();
		}
		catch (IOException ex) {
			return "";
		}
	}

	private static int free() throws IOException {
		try (ServerSocket socket = new ServerSocket(0)) {
			return socket.getLocalPort();
		}
	}

}
