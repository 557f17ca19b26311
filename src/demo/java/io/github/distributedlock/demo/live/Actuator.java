package io.github.distributedlock.demo.live;

import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandlers;
import java.time.Duration;
import java.time.Instant;
import java.util.Map;
import java.util.Optional;

import org.springframework.boot.json.JsonParserFactory;

/**
 * The Actuator endpoints of one JVM, over HTTP. What does not answer in time says
 * nothing.
 */
final class Actuator {

	private static final Duration PATIENCE = Duration.ofSeconds(1);

	private static final HttpClient CLIENT = HttpClient.newBuilder().connectTimeout(PATIENCE).build();

	private final String root;

	Actuator(int port) {
		this.root = "http://127.0.0.1:" + port + "/actuator/";
	}

	Optional<Locks> locks() {
		return get("distributedlocks").map((json) -> Locks.of(json, Instant.now()));
	}

	/**
	 * Returns the holder of a key in the store.
	 */
	Optional<Holder> holder(String key) {
		return get("distributedlocks?key=" + key).flatMap(Holder::of);
	}

	/**
	 * How many locks were acquired since the JVM was started.
	 */
	long acquired() {
		return get("metrics/distributed.lock.acquire?tag=outcome:acquired")
			.map((json) -> Locks.list(json, "measurements"))
			.flatMap((all) -> all.stream().filter((one) -> "COUNT".equals(one.get("statistic"))).findFirst())
			.map((count) -> Locks.number(count.get("value")))
			.orElse(0L);
	}

	private Optional<Map<String, Object>> get(String path) {
		HttpRequest request = HttpRequest.newBuilder(URI.create(this.root + path)).timeout(PATIENCE).build();
		try {
			HttpResponse<String> response = CLIENT.send(request, BodyHandlers.ofString());
			return (response.statusCode() == 200)
					? Optional.of(JsonParserFactory.getJsonParser().parseMap(response.body())) : Optional.empty();
		}
		catch (IOException ex) {
			return Optional.empty();
		}
		catch (InterruptedException ex) {
			Thread.currentThread().interrupt();
			return Optional.empty();
		}
	}

}
