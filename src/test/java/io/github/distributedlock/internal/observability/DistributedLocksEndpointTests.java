package io.github.distributedlock.internal.observability;

import java.io.IOException;
import java.net.URI;
import java.net.URLEncoder;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandlers;
import java.nio.charset.StandardCharsets;
import java.security.Principal;
import java.time.Duration;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.stream.Stream;

import io.github.distributedlock.EngineSnapshot;
import io.github.distributedlock.LockAdmin;
import io.github.distributedlock.LockBackendException;
import io.github.distributedlock.LockEvent;
import io.github.distributedlock.LockHandle;
import io.github.distributedlock.LockLostException;
import io.github.distributedlock.LockRequest;
import io.github.distributedlock.LockStatus;
import io.github.distributedlock.autoconfigure.Contexts;
import io.github.distributedlock.engine.LockEngine;
import io.github.distributedlock.fixtures.NoDatabase;
import io.github.distributedlock.fixtures.Patience;
import io.github.distributedlock.fixtures.RedisServers;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;
import redis.clients.jedis.Jedis;

import org.springframework.boot.WebApplicationType;
import org.springframework.boot.actuate.endpoint.InvalidEndpointRequestException;
import org.springframework.boot.actuate.endpoint.Sanitizer;
import org.springframework.boot.actuate.endpoint.SanitizingFunction;
import org.springframework.boot.actuate.endpoint.SecurityContext;
import org.springframework.boot.actuate.endpoint.Show;
import org.springframework.boot.builder.SpringApplicationBuilder;
import org.springframework.boot.json.JsonParserFactory;
import org.springframework.boot.test.context.FilteredClassLoader;
import org.springframework.context.ConfigurableApplicationContext;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.util.ClassUtils;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;
import static org.assertj.core.api.Assertions.entry;

/**
 * Tests for {@link EndpointConfiguration} and its endpoint, over HTTP.
 */
class DistributedLocksEndpointTests {

	private static final String EXPOSED = "management.endpoints.web.exposure.include=health,distributedlocks";

	private static final String SHOWN = "management.endpoint.distributedlocks.show-values=always";

	private static final String UNRESTRICTED = "management.endpoint.distributedlocks.access=unrestricted";

	private static final String KEY = "orders/50%:Ärger & Co?";

	/**
	 * The applications by their sources and properties: tests that want the same share
	 * one. All stay until the last test: the first application that ends also ends
	 * Reactor's threads.
	 */
	private static final Map<List<?>, ConfigurableApplicationContext> APPLICATIONS = new HashMap<>();

	private ConfigurableApplicationContext application;

	@AfterAll
	static void stop() {
		APPLICATIONS.values().forEach(ConfigurableApplicationContext::close);
		APPLICATIONS.clear();
	}

	@Test
	void isNotThereUnlessItIsExposed() throws Exception {
		start();
		assertThat(get("/health").statusCode()).isEqualTo(200);
		assertThat(get("/distributedlocks").statusCode()).isEqualTo(404);
		assertThat(this.application.getBeanNamesForType(DistributedLocksEndpoint.class)).isEmpty();
	}

	@ParameterizedTest
	@CsvSource({ "endpoints.access.default=none, 404", "endpoints.access.max-permitted=none, 404",
			"endpoint.distributedlocks.access=none, 404", "endpoints.access.max-permitted=read-only, 200" })
	void followsTheAccessToEndpoints(String property, int status) throws Exception {
		start(EXPOSED, "management." + property);
		assertThat(get("/distributedlocks").statusCode()).isEqualTo(status);
	}

	@Test
	void onlyReadsByDefault() throws Exception {
		start(EXPOSED);
		assertThat(get("/distributedlocks").statusCode()).isEqualTo(200);
		for (String method : List.of("POST", "DELETE", "PUT")) {
			assertThat(send(method, path("a", "b#1:1")).statusCode()).as(method).isEqualTo(405);
		}
		assertThat(get("/distributedlocks?key=%20").statusCode()).as("a blank key").isEqualTo(400);
	}

	/** Spring Boot takes the properties of its older lines for unrestricted access. */
	@ParameterizedTest
	@ValueSource(strings = { "management.endpoints.enabled-by-default=true",
			"management.endpoint.distributedlocks.enabled=true" })
	void olderPropertiesGrantAReleaseByForceUpToTheLid(String property) throws Exception {
		start(EXPOSED, property);
		assertThat(send("DELETE", path("a", "b#1:1")).statusCode()).isEqualTo(409);
		start(EXPOSED, property, "management.endpoints.access.max-permitted=read-only");
		assertThat(send("DELETE", path("a", "b#1:1")).statusCode()).isEqualTo(405);
	}

	@Test
	void releasesByForceWhatTheNamedOwnerHas() throws Exception {
		start(EXPOSED, UNRESTRICTED, SHOWN);
		LockHandle handle = engine().acquire(KEY);
		String shown = first(status(), "holders").get("owner").toString();
		assertThat(json(send("DELETE", path(KEY, shown)))).containsEntry("released", true);
		assertThatExceptionOfType(LockLostException.class).isThrownBy(handle::checkHeld)
			.satisfies((ex) -> assertThat(ex.reason()).isEqualTo(LockEvent.Lost.Reason.FORCED_RELEASE))
			.withMessageContaining("an operator has released the key by force");
		assertThat(engine().inspect(KEY).isFree()).isTrue();
		handle.close();
	}

	@Test
	void releasesNothingByForceForAnotherOwner() throws Exception {
		start(EXPOSED, UNRESTRICTED, SHOWN);
		try (LockHandle handle = engine().acquire(KEY)) {
			HttpResponse<String> response = send("DELETE", path(KEY, handle.owner() + "1"));
			assertThat(response.statusCode()).isEqualTo(409);
			assertThat(response.body()).contains("\"released\":false", handle.owner());
			assertThat(handle.isHeld()).isTrue();
			assertThat(engine().inspect(KEY).heldHere()).isTrue();
		}
		HttpResponse<String> response = send("DELETE", path(KEY, "nobody#1:1"));
		assertThat(response.statusCode()).isEqualTo(409);
		assertThat(response.body()).contains("\"free\":true");
	}

	@Test
	void refusesAReleaseByForceWithoutKeyOrOwner() throws Exception {
		start(EXPOSED, UNRESTRICTED);
		for (String path : List.of("?key=a", "?owner=a", "?key=%20&owner=a", "?key=a&owner=%20")) {
			assertThat(send("DELETE", "/distributedlocks" + path).statusCode()).as(path).isEqualTo(400);
		}
	}

	@Test
	void saysThatAHiddenOwnerIsNoOwner() throws Exception {
		start(EXPOSED, UNRESTRICTED);
		HttpResponse<String> response = send("DELETE", path(KEY, "******"));
		assertThat(response.statusCode()).isEqualTo(400);
		assertThat(response.body()).contains("management.endpoint.distributedlocks.show-values");
		assertThatExceptionOfType(InvalidEndpointRequestException.class)
			.isThrownBy(() -> endpoint(Show.NEVER).forceRelease("k", "******"))
			.withMessageContaining("show-values");
	}

	@Test
	void saysThatTheOutcomeOfAReleaseByForceIsNotKnown() {
		var response = webExtension(Show.ALWAYS, "ops").forceRelease(SecurityContext.NONE, "k", "o#1:1");
		assertThat(response.getStatus()).isEqualTo(503);
		assertThat(response.getBody()).asString()
			.contains("Whether the key was released is not known", "Redis is down");
		assertThatIllegalStateException().isThrownBy(() -> endpoint(Show.NEVER).forceRelease("k", "o#1:1"))
			.withMessage("Whether the key was released is not known: ask who has it now. The store has failed: ******");
	}

	private static String path(String key, String owner) {
		return "/distributedlocks?key=" + encoded(key) + "&owner=" + encoded(owner);
	}

	@Test
	void hidesWhatMayBePersonal() throws Exception {
		start(EXPOSED);
		try (LockHandle handle = engine().acquire(LockRequest.of(KEY).name("sale"))) {
			HttpResponse<String> response = get("/distributedlocks");
			assertThat(response.body()).doesNotContain("orders", handle.owner(), Thread.currentThread().getName());
			Map<String, Object> hold = first(json(response), "holds");
			assertThat(hold).contains(entry("key", "******"), entry("owner", "******"), entry("thread", "******"),
					entry("name", "sale"), entry("mode", "EXCLUSIVE"));
			response = get("/distributedlocks?key=" + encoded(KEY));
			assertThat(response.body()).doesNotContain(handle.owner());
			assertThat(first(json(response), "holders")).containsEntry("owner", "******")
				.containsEntry("state", "HELD");
			assertThat(json(response)).as("the caller knows it").containsEntry("key", KEY);
		}
	}

	@Test
	void describesTheLocksOfTheJvm() throws Exception {
		start(EXPOSED, SHOWN);
		Instant before = Instant.now().minusSeconds(1);
		try (LockHandle handle = engine().acquire(LockRequest.of(KEY).name("sale").fenced(true))) {
			Map<String, Object> locks = locks();
			Map<String, Object> hold = first(locks, "holds");
			assertThat(hold).contains(entry("key", KEY), entry("owner", handle.owner()),
					entry("thread", Thread.currentThread().getName()));
			assertThat(Duration.parse(hold.get("held").toString())).isBetween(Duration.ZERO, Duration.ofMinutes(1));
			assertThat(number(hold, "renewals")).isZero();
			assertThat(number(hold, "fencingToken")).isEqualTo(handle.fencingToken().getAsLong());
			assertThat(Instant.parse(hold.get("since").toString())).isBetween(before, Instant.now())
				.isEqualTo(engine().snapshot().holds().get(0).since().truncatedTo(ChronoUnit.MILLIS));
			assertThat(Duration.parse(hold.get("remaining").toString())).isBetween(Duration.ZERO,
					Duration.ofSeconds(30));
			assertThat(number(locks, "requestsWaiting")).isZero();
			assertThat(number(locks, "lateRenewals")).isZero();
			assertThat(locks).containsEntry("losses", Map.of())
				.containsEntry("queues", List.of())
				.containsEntry("store", Map.of("details", Map.of("type", "memory"), "notifies", true));
		}
		assertThat(locks()).containsEntry("holds", List.of());
	}

	@Test
	void tellsWhetherNotificationsArriveOnceThatIsKnown() throws Exception {
		RedisServers.Server server = RedisServers.shared(RedisServers.EMBEDDED);
		try (Jedis admin = server.admin()) {
			start(EXPOSED, "distributed-lock.backend=redis", "distributed-lock.redis.prefix=endpoint",
					"spring.data.redis.port=" + server.port());
			assertThat(engine().snapshot().notifies()).isNull();
			assertThat(store()).containsEntry("details", Map.of("type", "redis", "atomicity", "lua"))
				.doesNotContainKey("notifies");
			admin.set("endpoint:{k}", "a:1");
			CompletableFuture<LockHandle> waiting = engine()
				.acquireAsync(LockRequest.of("k").waitTime(Patience.PATIENCE));
			Awaitility.await("known to the engine").until(() -> engine().snapshot().notifies() != null);
			assertThat(store()).containsEntry("notifies", true);
			admin.del("endpoint:{k}");
			assertThat(waiting).succeedsWithin(Patience.PATIENCE).satisfies(LockHandle::close);
		}
	}

	private Map<String, Object> locks() throws Exception {
		return json(get("/distributedlocks"));
	}

	private Map<String, Object> status() throws Exception {
		return json(get("/distributedlocks?key=" + encoded(KEY)));
	}

	@SuppressWarnings("unchecked")
	private Map<String, Object> store() throws Exception {
		return (Map<String, Object>) locks().get("store");
	}

	@Test
	void asksTheStoreAboutAKey() throws Exception {
		start(EXPOSED, SHOWN);
		assertThat(status())
			.isEqualTo(Map.of("key", KEY, "free", true, "heldHere", false, "holders", List.of(), "waiters", List.of()));
		try (LockHandle handle = engine().acquire(KEY)) {
			Map<String, Object> status = status();
			assertThat(status).containsEntry("free", false).containsEntry("heldHere", true);
			assertThat(first(status, "holders")).containsEntry("owner", handle.owner())
				.containsEntry("mode", "EXCLUSIVE");
		}
	}

	@Test
	void hidesWhoWaits() throws Exception {
		start(EXPOSED);
		LockHandle handle = engine().acquire(KEY);
		CompletableFuture<LockHandle> waiting = waiting();
		assertThat(first(locks(), "queues")).containsEntry("key", "******");
		assertThat(first(status(), "waiters")).containsEntry("instance", "******").containsEntry("ticket", "******");
		handle.close();
		assertThat(waiting).succeedsWithin(Patience.PATIENCE).satisfies(LockHandle::close);
	}

	private CompletableFuture<LockHandle> waiting() {
		CompletableFuture<LockHandle> waiting = engine()
			.acquireAsync(LockRequest.of(KEY).fair(true).waitTime(Duration.ofMinutes(1)));
		Awaitility.await("the request waits")
			.atMost(Patience.PATIENCE)
			.until(() -> !engine().inspect(KEY).waiters().isEmpty());
		return waiting;
	}

	@Test
	void saysWhoWaits() throws Exception {
		start(EXPOSED, SHOWN);
		LockHandle handle = engine().acquire(KEY);
		CompletableFuture<LockHandle> waiting = waiting();
		Map<String, Object> locks = locks();
		assertThat(number(locks, "requestsWaiting")).isOne();
		Map<String, Object> queue = first(locks, "queues");
		assertThat(queue).containsEntry("key", KEY);
		assertThat(number(queue, "length")).isOne();
		assertThat(Duration.parse(queue.get("longestWait").toString())).isBetween(Duration.ZERO, Duration.ofMinutes(1));
		Map<String, Object> waiter = first(status(), "waiters");
		assertThat(handle.owner()).startsWith(waiter.get("instance").toString());
		assertThat(waiter.get("ticket").toString()).startsWith(waiter.get("instance").toString());
		assertThat(waiter).containsEntry("mode", "EXCLUSIVE");
		handle.close();
		assertThat(waiting).succeedsWithin(Patience.PATIENCE).satisfies(LockHandle::close);
	}

	@Test
	void saysWhatHasAPermitAndHowManyThereAre() throws Exception {
		start(EXPOSED);
		try (LockHandle handle = engine().acquire(LockRequest.of(KEY).permits(3))) {
			Map<String, Object> hold = first(locks(), "holds");
			assertThat(number(hold, "permits")).isEqualTo(3);
			Map<String, Object> holder = first(status(), "holders");
			assertThat(holder).containsEntry("permit", true);
		}
		try (LockHandle handle = engine().acquire(KEY)) {
			assertThat(number(first(locks(), "holds"), "permits")).isOne();
			assertThat(first(status(), "holders")).containsEntry("permit", false);
		}
	}

	@Test
	void isNoHealthIndicator() {
		start(EXPOSED);
		assertThat(Stream.of(this.application.getBeanDefinitionNames())
			.map(this.application::getType)
			.filter((type) -> type != null && type.getName().startsWith("io.github.distributedlock."))
			.flatMap((type) -> ClassUtils.getAllInterfacesForClassAsSet(type).stream())).isNotEmpty()
			.noneMatch((type) -> type.getName().contains("Health"));
	}

	/**
	 * The usual bean of an application hides what ends in "key", and means credentials.
	 */
	@Test
	void letsTheApplicationHideMoreButTakesNoKeyForACredential() throws Exception {
		start(List.of(Hiding.class), EXPOSED, SHOWN);
		try (LockHandle handle = engine().acquire(KEY)) {
			assertThat(first(locks(), "holds")).containsEntry("key", "******").containsEntry("owner", handle.owner());
		}
		start(List.of(HidingCredentials.class), EXPOSED, SHOWN);
		try (LockHandle handle = engine().acquire(KEY)) {
			assertThat(first(locks(), "holds")).containsEntry("key", KEY);
		}
	}

	@Test
	void knowsWhoMaySeeValues() throws Exception {
		start(EXPOSED, "management.endpoint.distributedlocks.show-values=when-authorized",
				"management.endpoint.distributedlocks.roles=ops");
		try (LockHandle handle = engine().acquire("orders")) {
			assertThat(get("/distributedlocks").body()).doesNotContain("orders");
			DistributedLocksWebExtension extension = this.application.getBean(DistributedLocksWebExtension.class);
			assertThat(extension.locks(asker("guest"), null).getBody()).asString().doesNotContain("orders");
			assertThat(extension.locks(asker("ops"), null).getBody()).asString().contains("orders");
		}
		assertThat(webExtension(Show.NEVER, "ops").locks(asker("ops"), null).getBody()).asString()
			.doesNotContain("orders");
	}

	/**
	 * The message of the store names the key and the server, and maybe a user. JMX tells
	 * the message of an exception.
	 */
	@Test
	void saysThatTheStoreHasFailedAndHidesWhatTheStoreSaid() {
		var response = webExtension(Show.ALWAYS, "ops").locks(SecurityContext.NONE, "k");
		assertThat(response.getStatus()).isEqualTo(503);
		assertThat(response.getBody()).asString().contains("Redis is down");
		response = webExtension(Show.NEVER, "ops").locks(SecurityContext.NONE, "k");
		assertThat(response.getStatus()).isEqualTo(503);
		assertThat(response.getBody()).asString().doesNotContain("Redis is down").contains("******");
		assertThatIllegalStateException().isThrownBy(() -> endpoint(Show.NEVER).locks("k"))
			.withMessage("The store has failed: ******")
			.withNoCause();
	}

	@Test
	void isThereInCode() {
		Contexts.inMemory().run((context) -> {
			LockHandle handle = context.getBean(LockEngine.class).acquire("k");
			assertThat(context.getBean(LockAdmin.class).forceRelease("k", handle.owner())).isTrue();
			handle.close();
		});
	}

	@Test
	void doesWithoutActuator() {
		Contexts.inMemory()
			.withClassLoader(new FilteredClassLoader("org.springframework.boot.actuate"))
			.withPropertyValues(EXPOSED)
			.run((context) -> assertThat(context).hasSingleBean(LockEngine.class)
				.doesNotHaveBean("distributedLocksEndpoint"));
	}

	private static DistributedLocksWebExtension webExtension(Show show, String role) {
		return new DistributedLocksWebExtension(endpoint(show), show, Set.of(role));
	}

	private static DistributedLocksEndpoint endpoint(Show show) {
		EngineSnapshot snapshot = new EngineSnapshot(List.of(),
				Map.of("orders", new EngineSnapshot.Queue(1, Duration.ofSeconds(1))), 1, Map.of(), true, Map.of(), 0);
		return new DistributedLocksEndpoint(DistributedLocksEndpointTests::fail, (key, owner) -> fail(key).isFree(),
				() -> snapshot, new Sanitizer(), show);
	}

	private static LockStatus fail(String key) {
		throw LockBackendException.of("Redis is down").retryable(true).build();
	}

	private static SecurityContext asker(String role) {
		return new SecurityContext() {

			@Override
			public Principal getPrincipal() {
				return () -> "asker";
			}

			@Override
			public boolean isUserInRole(String asked) {
				return asked.equals(role);
			}

		};
	}

	private void start(String... properties) {
		start(List.of(), properties);
	}

	private void start(List<Class<?>> sources, String... properties) {
		this.application = APPLICATIONS.computeIfAbsent(List.of(sources, List.of(properties)),
				(same) -> run(sources, properties));
	}

	private static ConfigurableApplicationContext run(List<Class<?>> sources, String... properties) {
		return new SpringApplicationBuilder(NoDatabase.class).sources(sources.toArray(Class<?>[]::new))
			.web(WebApplicationType.REACTIVE)
			.properties("server.port=0", "distributed-lock.backend=memory", "management.health.defaults.enabled=false")
			.properties(properties)
			.run();
	}

	private LockEngine engine() {
		return this.application.getBean(LockEngine.class);
	}

	private HttpResponse<String> get(String path) throws IOException, InterruptedException {
		return send("GET", path);
	}

	private HttpResponse<String> send(String method, String path) throws IOException, InterruptedException {
		String port = this.application.getEnvironment().getRequiredProperty("local.server.port");
		URI uri = URI.create("http://localhost:" + port + "/actuator" + path);
		// A connection for each request: after a 405, Reactor Netty 1.3.7 leaves the next
		// request of the same connection without an answer about once in a hundred times.
		return HttpClient.newHttpClient()
			.send(HttpRequest.newBuilder(uri)
				.timeout(Patience.PATIENCE)
				.method(method, BodyPublishers.noBody())
				.build(), BodyHandlers.ofString());
	}

	private static String encoded(String key) {
		return URLEncoder.encode(key, StandardCharsets.UTF_8).replace("+", "%20");
	}

	private static Map<String, Object> json(HttpResponse<String> response) {
		assertThat(response.statusCode()).as(response.body()).isEqualTo(200);
		return JsonParserFactory.getJsonParser().parseMap(response.body());
	}

	@SuppressWarnings("unchecked")
	private static Map<String, Object> first(Map<String, Object> json, String name) {
		List<Object> list = (List<Object>) json.get(name);
		assertThat(list).as("%s of %s", name, json).hasSize(1);
		return (Map<String, Object>) list.get(0);
	}

	// Some of the parsers that Spring Boot may find make a double of each number.
	private static long number(Map<String, Object> json, String name) {
		return ((Number) json.get(name)).longValue();
	}

	@Configuration(proxyBeanMethods = false)
	static class Hiding {

		@Bean
		SanitizingFunction hidesKeys() {
			return (data) -> "lock".equals(data.getKey()) ? data.withSanitizedValue() : data;
		}

	}

	@Configuration(proxyBeanMethods = false)
	static class HidingCredentials {

		@Bean
		SanitizingFunction hidesCredentials() {
			return SanitizingFunction.sanitizeValue().ifLikelySensitive();
		}

	}

}
