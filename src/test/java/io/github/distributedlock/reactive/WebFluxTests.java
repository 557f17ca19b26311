package io.github.distributedlock.reactive;

import java.time.Duration;
import java.util.List;

import io.github.distributedlock.annotation.DistributedLock;
import io.github.distributedlock.autoconfigure.Contexts;
import io.github.distributedlock.fixtures.JvmProcess;
import io.github.distributedlock.fixtures.NoDatabase;
import io.github.distributedlock.fixtures.TestRedis;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;
import reactor.core.scheduler.Schedulers;
import reactor.test.StepVerifier;

import org.springframework.boot.WebApplicationType;
import org.springframework.boot.autoconfigure.EnableAutoConfiguration;
import org.springframework.boot.builder.SpringApplicationBuilder;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.Import;
import org.springframework.data.redis.core.StringRedisTemplate;
import org.springframework.web.bind.annotation.PathVariable;
import org.springframework.web.bind.annotation.PostMapping;
import org.springframework.web.bind.annotation.RestController;
import org.springframework.web.reactive.function.client.WebClient;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Two JVMs with a reactive web server, whose controller takes the lock, sell what is in
 * one real Redis.
 */
@Tag("thorough")
public class WebFluxTests {

	private static final int REQUESTS = 60;

	@RegisterExtension
	static final TestRedis redis = new TestRedis();

	@Test
	void noUnitIsSoldTwice() {
		sell(redis, Shop.class);
	}

	/**
	 * Lets two JVMs sell, and asserts that no unit is sold twice.
	 * @param shop has a main method that {@linkplain #serve serves}
	 */
	public static void sell(TestRedis redis, Class<?> shop) {
		redis.admin().set("left:a", "100");
		try (JvmProcess one = JvmProcess.start(shop, String.valueOf(redis.port()));
				JvmProcess two = JvmProcess.start(shop, String.valueOf(redis.port()))) {
			List<WebClient> shops = List.of(client(one), client(two));
			StepVerifier
				.create(Flux.range(0, REQUESTS)
					.flatMap((i) -> shops.get(i % 2).post().uri("/buy/a").retrieve().bodyToMono(String.class), REQUESTS)
					.distinct())
				.expectNextCount(REQUESTS)
				.verifyComplete();
			assertThat(redis.admin().get("left:a")).isEqualTo("40");
		}
	}

	public static void serve(Class<?> shop, String port) {
		System.out.println("port: " + new SpringApplicationBuilder(shop).web(WebApplicationType.REACTIVE)
			.properties(Contexts.patient(Integer.parseInt(port)))
			.properties("server.port=0", "spring.main.banner-mode=off")
			.run()
			.getEnvironment()
			.getRequiredProperty("local.server.port"));
	}

	private static WebClient client(JvmProcess shop) {
		return WebClient.create("http://localhost:" + shop.awaitLineAfter("port: "));
	}

	@Configuration(proxyBeanMethods = false)
	@EnableAutoConfiguration
	@Import({ NoDatabase.class, Controller.class })
	static class Shop {

		public static void main(String[] arguments) {
			serve(Shop.class, arguments[0]);
		}

	}

	@RestController
	static class Controller {

		private final StringRedisTemplate redis;

		Controller(StringRedisTemplate redis) {
			this.redis = redis;
		}

		@PostMapping("/buy/{sku}")
		@DistributedLock(key = "stock:#{#sku}", waitTime = "60s")
		public Mono<Integer> buy(@PathVariable("sku") String sku) {
			return Mono.fromCallable(() -> Integer.parseInt(this.redis.opsForValue().get("left:" + sku)))
				.subscribeOn(Schedulers.boundedElastic())
				.delayElement(Duration.ofMillis(1))
				.publishOn(Schedulers.boundedElastic())
				.doOnNext((left) -> this.redis.opsForValue().set("left:" + sku, String.valueOf(left - 1)));
		}

	}

}
