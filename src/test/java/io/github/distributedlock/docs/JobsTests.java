package io.github.distributedlock.docs;

import java.time.Duration;

import io.github.distributedlock.fixtures.RedisServers;
import org.junit.jupiter.api.Test;
import redis.clients.jedis.Jedis;

import org.springframework.context.ConfigurableApplicationContext;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * The README's scheduled job runs once, also if one machine's clock is late.
 */
class JobsTests {

	@Test
	void runsOnceAlsoForALateClock() {
		try (RedisServers.Server redis = RedisServers.start(RedisServers.EMBEDDED);
				ConfigurableApplicationContext one = DocsApplication.start(redis);
				ConfigurableApplicationContext late = DocsApplication.start(redis);
				Jedis admin = redis.admin()) {
			one.getBean(Jobs.class).sendStatements();
			assertThat(one.getBean(Archive.class).published()).containsExactly("statements");
			late.getBean(Jobs.class).sendStatements();
			assertThat(late.getBean(Archive.class).published()).isEmpty();
			String name = "lock:{" + Jobs.class.getName() + ".sendStatements}";
			assertThat(admin.pttl(name)).isBetween(1L, Duration.ofSeconds(30).toMillis());
			// The next night.
			admin.del(name);
			late.getBean(Jobs.class).sendStatements();
			assertThat(late.getBean(Archive.class).published()).containsExactly("statements");
		}
	}

}
