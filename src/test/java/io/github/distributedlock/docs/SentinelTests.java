package io.github.distributedlock.docs;

import java.util.stream.Collectors;

import io.github.distributedlock.DistributedLock;
import io.github.distributedlock.LockHandle;
import io.github.distributedlock.LockRequest;
import io.github.distributedlock.fixtures.Access;
import io.github.distributedlock.fixtures.Client;
import io.github.distributedlock.fixtures.NoDatabase;
import io.github.distributedlock.fixtures.Patience;
import io.github.distributedlock.fixtures.RedisSentinels;
import io.github.distributedlock.fixtures.Variant;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import redis.clients.jedis.Jedis;

import org.springframework.boot.WebApplicationType;
import org.springframework.boot.autoconfigure.EnableAutoConfiguration;
import org.springframework.boot.builder.SpringApplicationBuilder;
import org.springframework.context.ConfigurableApplicationContext;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.Import;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * The configuration that the documents show for Sentinels, but for their addresses.
 */
@Tag("failover")
class SentinelTests {

	private static RedisSentinels sentinels;

	@BeforeAll
	static void startServers() {
		sentinels = RedisSentinels.start(Variant.SERVER, Access.of("shop", "s3cret"), Access.of("watcher", "0ther"), 1);
	}

	@AfterAll
	static void stopServers() {
		sentinels.close();
	}

	@ParameterizedTest
	@EnumSource
	void itLeadsToTheMaster(Client client) throws Exception {
		String nodes = sentinels.sentinels().stream().map(Object::toString).collect(Collectors.joining(","));
		try (ConfigurableApplicationContext context = new SpringApplicationBuilder(Application.class)
			.web(WebApplicationType.NONE)
			.properties(Documents.properties("sentinel:"))
			.run("--spring.data.redis.sentinel.nodes=" + nodes, "--spring.data.redis.client-type=" + client,
					"--REDIS_PASSWORD=s3cret", "--SENTINEL_PASSWORD=0ther", "--spring.main.banner-mode=off",
					"--distributed-lock.redis.command-timeout=" + Patience.COMMAND);
				LockHandle handle = context.getBean(DistributedLock.class)
					.acquire(LockRequest.of("k").waitTime(Patience.PATIENCE));
				Jedis master = sentinels.master().admin()) {
			assertThat(master.get("lock:{k}")).isEqualTo(handle.owner());
		}
	}

	@Configuration(proxyBeanMethods = false)
	@EnableAutoConfiguration
	@Import(NoDatabase.class)
	static class Application {

	}

}
