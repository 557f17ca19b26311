package io.github.distributedlock.benchmark;

import java.lang.management.ManagementFactory;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

import io.github.distributedlock.annotation.DistributedLock;
import io.github.distributedlock.autoconfigure.DistributedLockAutoConfiguration;
import io.github.distributedlock.fixtures.JvmProcess;
import io.github.distributedlock.fixtures.NoDatabase;
import io.github.distributedlock.fixtures.RedisServers;

import org.springframework.boot.WebApplicationType;
import org.springframework.boot.autoconfigure.EnableAutoConfiguration;
import org.springframework.boot.builder.SpringApplicationBuilder;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.Import;

/**
 * Measures what the starter adds to the start of an application that has data-redis
 * already, and one annotated bean: time and threads. Each start has another JVM, turn by
 * turn.
 *
 * <pre>
 * ./mvnw -q spring-boot:test-run -Dspring-boot.run.main-class=io.github.distributedlock.benchmark.StartUp
 * </pre>
 */
public final class StartUp {

	private static final int STARTS = 15;

	private StartUp() {
	}

	public static void main(String[] args) {
		try (RedisServers.Server server = RedisServers.start(RedisServers.EMBEDDED)) {
			for (String client : List.of("jedis", "lettuce")) {
				compare(client, String.valueOf(server.port()));
			}
		}
		System.exit(0);
	}

	private static void compare(String client, String port) {
		List<long[]> without = new ArrayList<>();
		List<long[]> with = new ArrayList<>();
		Map<String, String> properties = Map.of("spring.data.redis.port", port, "spring.data.redis.client-type",
				client);
		Map<String, String> excluding = new HashMap<>(properties);
		excluding.put("spring.autoconfigure.exclude", DistributedLockAutoConfiguration.class.getName());
		for (int i = 0; i < STARTS; i++) {
			without.add(start(excluding));
			with.add(start(properties));
		}
		System.out.printf(
				"start-up on %s: without %d ms and %d threads, with %d ms and %d threads, added %d ms (medians of %d)%n",
				client, median(without, 0), median(without, 1), median(with, 0), median(with, 1),
				median(with, 0) - median(without, 0), STARTS);
	}

	private static long[] start(Map<String, String> properties) {
		try (JvmProcess process = JvmProcess.start(App.class, properties)) {
			String[] figures = process.awaitLineAfter("started ").trim().split(" ");
			return new long[] { Long.parseLong(figures[0]), Long.parseLong(figures[1]) };
		}
	}

	private static long median(List<long[]> starts, int index) {
		long[] sorted = starts.stream().mapToLong((start) -> start[index]).toArray();
		Arrays.sort(sorted);
		return sorted[sorted.length / 2];
	}

	/**
	 * An application that prints the time since the start of its JVM.
	 */
	@Configuration(proxyBeanMethods = false)
	@EnableAutoConfiguration
	@Import(NoDatabase.class)
	public static class App {

		public static void main(String[] args) {
			new SpringApplicationBuilder(App.class).web(WebApplicationType.NONE)
				.properties("spring.main.banner-mode=off", "logging.level.root=warn")
				.run(args);
			long millis = System.currentTimeMillis() - ManagementFactory.getRuntimeMXBean().getStartTime();
			System.out.println("started " + millis + " " + Thread.activeCount());
		}

		@Bean
		Service service() {
			return new Service();
		}

	}

	/**
	 * A service with a lock.
	 */
	public static class Service {

		@DistributedLock(key = "stock:#{#sku}")
		public void buy(String sku) {
		}

	}

}
