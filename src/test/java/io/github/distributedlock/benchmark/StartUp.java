package io.github.distributedlock.benchmark;

import java.lang.management.ManagementFactory;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;

import io.github.distributedlock.annotation.DistributedLock;
import io.github.distributedlock.autoconfigure.DistributedLockAutoConfiguration;
import io.github.distributedlock.test.JvmProcess;
import io.github.distributedlock.test.NoDatabase;

import org.springframework.boot.autoconfigure.EnableAutoConfiguration;
import org.springframework.boot.builder.SpringApplicationBuilder;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.Import;

/**
 * What the starter adds to the start of an application that has data-redis already, and
 * one annotated bean: time and threads, each start in a JVM of its own, turn by turn.
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
		List<long[]> without = new ArrayList<>();
		List<long[]> with = new ArrayList<>();
		for (int i = 0; i < STARTS; i++) {
			without
				.add(start(Map.of("spring.autoconfigure.exclude", DistributedLockAutoConfiguration.class.getName())));
			with.add(start(Map.of()));
		}
		System.out.printf(
				"start-up: without %d ms and %d threads, with %d ms and %d threads, added %d ms (medians of %d)%n",
				median(without, 0), median(without, 1), median(with, 0), median(with, 1),
				median(with, 0) - median(without, 0), STARTS);
		System.exit(0);
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
	 * The application; it says how long it took since its JVM was started.
	 */
	@Configuration(proxyBeanMethods = false)
	@EnableAutoConfiguration
	@Import(NoDatabase.class)
	public static class App {

		public static void main(String[] args) {
			new SpringApplicationBuilder(App.class).properties("spring.main.banner-mode=off", "logging.level.root=warn")
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
