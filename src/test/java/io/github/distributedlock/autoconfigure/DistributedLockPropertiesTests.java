package io.github.distributedlock.autoconfigure;

import java.time.Duration;
import java.util.Map;
import java.util.Set;

import io.github.distributedlock.DistributedLock;
import io.github.distributedlock.LockHandle;
import io.github.distributedlock.LockNotAcquiredException;
import io.github.distributedlock.LockRequest;
import io.github.distributedlock.aop.DistributedLockAdvisor;
import io.github.distributedlock.autoconfigure.DistributedLockProperties.InitializeSchema;
import io.github.distributedlock.autoconfigure.DistributedLockProperties.PollInterval;
import io.github.distributedlock.backend.LockBackend;
import io.github.distributedlock.backend.jdbc.JdbcLockSettings;
import io.github.distributedlock.backend.redis.Atomicity;
import io.github.distributedlock.backend.redis.RedisLockSettings;
import io.github.distributedlock.backend.redis.Signals;
import io.github.distributedlock.engine.LockEngine;
import io.github.distributedlock.fixtures.NoDatabase;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

import org.springframework.boot.context.properties.bind.Binder;
import org.springframework.boot.context.properties.bind.UnboundConfigurationPropertiesException;
import org.springframework.boot.test.system.CapturedOutput;
import org.springframework.boot.test.system.OutputCaptureExtension;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;
import static org.awaitility.Awaitility.await;

/**
 * Tests for {@link DistributedLockProperties}, and for what comes of them.
 */
@ExtendWith(OutputCaptureExtension.class)
class DistributedLockPropertiesTests {

	@Test
	void haveDefaults() {
		Contexts.withRedis().run((context) -> {
			DistributedLockProperties properties = context.getBean(DistributedLockProperties.class);
			assertThat(properties).isEqualTo(new DistributedLockProperties(true, null, Duration.ofSeconds(5),
					Duration.ofSeconds(30), new PollInterval(Duration.ofMillis(50), Duration.ofMillis(500)),
					Duration.ofMillis(10), Duration.ZERO, 1024, null, Integer.MAX_VALUE - 1000,
					new DistributedLockProperties.Redis("lock", Duration.ofSeconds(1), 0, Duration.ofMillis(500),
							Atomicity.AUTO, Signals.AUTO, null),
					new DistributedLockProperties.Jdbc(null, "distributed_lock", InitializeSchema.EMBEDDED,
							Duration.ofSeconds(2), 6, true),
					Map.of(), new DistributedLockProperties.Adapters(false, false, false)));
			assertThat(context.getBean(DistributedLockAdvisor.class).getOrder()).isEqualTo(Integer.MAX_VALUE - 1000);
		});
	}

	@Test
	void defaultsOfRedisAreThoseOfItsSettings() {
		DistributedLockProperties.Redis redis = new Binder()
			.bindOrCreate("distributed-lock", DistributedLockProperties.class)
			.redis();
		RedisLockSettings settings = RedisLockSettings.defaults();
		assertThat(redis).isEqualTo(new DistributedLockProperties.Redis(settings.prefix(), settings.commandTimeout(),
				settings.replicasToAck(), settings.replicaAckTimeout(), settings.atomicity(), settings.signals(),
				null));
	}

	@Test
	void defaultsOfADatabaseAreThoseOfItsSettings() {
		DistributedLockProperties.Jdbc jdbc = new Binder()
			.bindOrCreate("distributed-lock", DistributedLockProperties.class)
			.jdbc();
		assertThat(JdbcLockSettings.defaults()
			.table(jdbc.table())
			.commandTimeout(jdbc.commandTimeout())
			.notifications(jdbc.notifications())).isEqualTo(JdbcLockSettings.defaults());
	}

	@Test
	void areBound() {
		Contexts.withRedis()
			.withPropertyValues("distributed-lock.backend=redis", "distributed-lock.wait-time=1m",
					"distributed-lock.watchdog-timeout=20s", "distributed-lock.poll-interval.min=20ms",
					"distributed-lock.poll-interval.max=2s", "distributed-lock.local-slice=3ms",
					"distributed-lock.keep-time=4ms", "distributed-lock.max-key-bytes=10",
					"distributed-lock.warn-held-after=1h", "distributed-lock.order=7",
					"distributed-lock.redis.prefix=shop", "distributed-lock.redis.command-timeout=300",
					"distributed-lock.redis.replicas-to-ack=2", "distributed-lock.redis.replica-ack-timeout=200ms",
					"distributed-lock.redis.atomicity=best-effort", "distributed-lock.redis.signals=none",
					"distributed-lock.redis.connection-factory=redisConnectionFactory",
					"distributed-lock.jdbc.data-source=locks", "distributed-lock.jdbc.table=shop.locks",
					"distributed-lock.jdbc.initialize-schema=never", "distributed-lock.jdbc.command-timeout=1s",
					"distributed-lock.jdbc.pool-size=0", "distributed-lock.jdbc.notifications=false",
					"distributed-lock.stores.files.folder=/shared", "distributed-lock.adapters.jdk=yes",
					"distributed-lock.adapters.shedlock=on", "distributed-lock.adapters.spring-integration=true")
			.run((context) -> assertThat(context.getBean(DistributedLockProperties.class))
				.isEqualTo(new DistributedLockProperties(true, Set.of("redis"), Duration.ofMinutes(1),
						Duration.ofSeconds(20), new PollInterval(Duration.ofMillis(20), Duration.ofSeconds(2)),
						Duration.ofMillis(3), Duration.ofMillis(4), 10, Duration.ofHours(1), 7,
						new DistributedLockProperties.Redis("shop", Duration.ofMillis(300), 2, Duration.ofMillis(200),
								Atomicity.BEST_EFFORT, Signals.NONE, "redisConnectionFactory"),
						new DistributedLockProperties.Jdbc("locks", "shop.locks", InitializeSchema.NEVER,
								Duration.ofSeconds(1), 0, false),
						Map.of("files", Map.of("folder", "/shared")),
						new DistributedLockProperties.Adapters(true, true, true))));
	}

	@Test
	void waitTimeIsHowLongARequestWaits() {
		Contexts.inMemory().withPropertyValues("distributed-lock.wait-time=30ms").run((context) -> {
			DistributedLock lock = context.getBean(DistributedLock.class);
			try (LockEngine other = LockEngine.builder(context.getBean(LockBackend.class)).build();
					LockHandle handle = other.acquire("key")) {
				assertThatExceptionOfType(LockNotAcquiredException.class).isThrownBy(() -> lock.acquire("key"))
					.withMessageContaining("(waitTime 30 ms)");
			}
		});
	}

	@ParameterizedTest
	@ValueSource(strings = { "distributed-lock.wait-timeout=1s", "distributed-lock.prefix=shop",
			"distributed-lock.redis.prefx=shop" })
	void propertyThatDoesNotExistStopsTheStart(String property) {
		Contexts.refuses(Contexts.inMemory().withPropertyValues(property),
				UnboundConfigurationPropertiesException.class, property.split("=")[0]);
	}

	@Test
	void watchdogTimeoutIsHowLongALockIsHeldWithoutRenewal() {
		Contexts.inMemory().withPropertyValues("distributed-lock.watchdog-timeout=7s").run((context) -> {
			try (LockHandle handle = context.getBean(DistributedLock.class).acquire("key")) {
				assertThat(handle.remaining()).isPositive().isLessThanOrEqualTo(Duration.ofSeconds(7));
			}
		});
	}

	@Test
	void maxKeyBytesIsTheLongestKey() {
		Contexts.inMemory().withPropertyValues("distributed-lock.max-key-bytes=50").run((context) -> {
			DistributedLock lock = context.getBean(DistributedLock.class);
			lock.acquire("k".repeat(50)).close();
			assertThatIllegalArgumentException().isThrownBy(() -> lock.acquire("k".repeat(51)))
				.withMessageContaining("has 51 bytes, but at most 50 are allowed");
		});
	}

	@Test
	void warnHeldAfterWarnsWithTheStack(CapturedOutput output) {
		Contexts.inMemory().withPropertyValues("distributed-lock.warn-held-after=20ms").run((context) -> {
			try (LockHandle handle = context.getBean(DistributedLock.class).acquire(LockRequest.of("slow"))) {
				await().untilAsserted(() -> assertThat(output).contains("Lock [slow] has been held for",
						"warnHeldAfterWarnsWithTheStack"));
			}
		});
	}

	@Test
	void orderIsThatOfTheAdvisor() {
		Contexts.inMemory()
			.withPropertyValues("distributed-lock.order=42")
			.run((context) -> assertThat(context.getBean(DistributedLockAdvisor.class).getOrder()).isEqualTo(42));
	}

	@ParameterizedTest
	@CsvSource(delimiter = '|',
			textBlock = """
					wait-time       | -1s       | PT-1S      | waitTime
					wait-time       | 400d      | PT9600H    | 365 days
					wait-time       | -1        | PT-0.001S  | at most 365 days, which is as good as for ever
					watchdog-timeout      | 0         | PT0S       | watchdogTimeout
					watchdog-timeout      | 30        | PT0.03S    | watchdogTimeout 30 ms is out of range: at least 1 s, at most 365 days; write 30s if
					watchdog-timeout      | 999ms     | PT0.999S   | at least 1 s
					watchdog-timeout      | PT9223372036854775807S | PT2562047788015215H30M7S | 365 days
					poll-interval.min | 0       | PT0S       | at least 1 ms
					poll-interval.min | 2m      | PT2M       | at most 1 minute
					poll-interval.max | 40ms    | PT0.04S    | the shortest, which is 50 ms: make it at least as long
					poll-interval.max | 2m      | PT2M       | at most 1 minute
					local-slice     | -1ms      | PT-0.001S  | at least 0 ms
					local-slice     | 400d      | PT9600H    | 365 days
					keep-time       | 2m        | PT2M       | at most 1 minute
					max-key-bytes   | 0         | 0          | must be at least 1
					warn-held-after | 0         | PT0S       | at least 1 ms
					warn-held-after | -1s       | PT-1S      | at least 1 ms
					redis.prefix    | a{b       | a{b        | use a prefix without '{' and '}'
					redis.prefix    | ''        | ''         | use a name such as 'lock'
					redis.command-timeout | 0   | PT0S       | at least 1 ms, at most 1 minute
					redis.command-timeout | -1s | PT-1S      | at least 1 ms, at most 1 minute
					redis.command-timeout | 2m  | PT2M       | at least 1 ms, at most 1 minute
					redis.command-timeout | 31s | PT31S      | longer than distributed-lock.watchdog-timeout (30 s)
					redis.replicas-to-ack | -1  | -1         | at least 0, which waits for no replica
					""")
	void areRefusedWithNameValueAndRemedy(String name, String value, String bound, String remedy,
			CapturedOutput output) {
		assertThat(FailedStart.report(output, NoDatabase.class, "distributed-lock." + name + "=" + value))
			.contains("'distributed-lock." + name + "'")
			.contains("Invalid value '" + value + "'")
			.contains(remedy);
	}

	@ParameterizedTest
	@CsvSource({ "0", "-1s", "1s", "2s" })
	void anAckTimeoutIsShorterThanTheCommandTimeout(String timeout, CapturedOutput output) {
		assertThat(FailedStart.report(output, NoDatabase.class, "distributed-lock.redis.replicas-to-ack=1",
				"distributed-lock.redis.replica-ack-timeout=" + timeout))
			.contains("'distributed-lock.redis.replica-ack-timeout'", "Invalid value '" + timeout + "'",
					"at least 1 ms and shorter than the command timeout, which is 1 s");
	}

	@Test
	void anAckTimeoutThatNobodyNeedsIsNotChecked() {
		Contexts.withRedis()
			.withPropertyValues("distributed-lock.redis.command-timeout=300ms")
			.run((context) -> assertThat(context).hasNotFailed());
	}

	@ParameterizedTest
	@CsvSource({ "2s, 1s, true", "5s, 1s, true", "5001ms, 1s, false", "30s, 8s, true" })
	void aLeaseOfAFewCommandTimeoutsIsWarnedOf(String lease, String timeout, boolean warned, CapturedOutput output) {
		Contexts.withRedis()
			.withPropertyValues("distributed-lock.watchdog-timeout=" + lease,
					"distributed-lock.redis.command-timeout=" + timeout)
			.run((context) -> assertThat(context).hasNotFailed());
		String warning = "distributed-lock.watchdog-timeout (" + lease.replace("s", " s")
				+ ") is not more than five times distributed-lock.redis.command-timeout (" + timeout.replace("s", " s")
				+ "), so that a few commands without an answer cost a lock: choose more than ";
		assertThat(output.getAll().contains("not more than five times")).isEqualTo(warned);
		assertThat(output.getAll().contains(warning)).isEqualTo(warned);
	}

	@Test
	void replicasOfAClusterCannotBeAsked(CapturedOutput output) {
		assertThat(FailedStart.report(output, NoDatabase.class, "distributed-lock.redis.replicas-to-ack=1",
				"spring.data.redis.cluster.nodes=localhost:1"))
			.contains("'distributed-lock.redis.replicas-to-ack'", "Invalid value '1'", "in a cluster", "use 0");
	}

	@ParameterizedTest
	@ValueSource(strings = { "transaction", "best-effort" })
	void atomicityThatAClusterCannotHaveIsRefused(String atomicity, CapturedOutput output) {
		assertThat(FailedStart.report(output, NoDatabase.class, "distributed-lock.redis.atomicity=" + atomicity,
				"spring.data.redis.cluster.nodes=localhost:1"))
			.contains("'distributed-lock.redis.atomicity'", "Invalid value '" + atomicity + "'",
					"In a cluster distributed-lock.redis.atomicity=" + atomicity
							+ " is not possible: use auto, lua, native");
	}

	@ParameterizedTest
	@CsvSource({ "backend, mongo, name redis", "redis.atomicity, magic, Atomicity",
			"watchdog-timeout, soon, java.time.Duration", "order, first, Integer", "redis.signals, telegraph, PUBSUB",
			"wait-time, 9999999999999999d, java.time.Duration" })
	void areRefusedIfTheyCannotBeRead(String name, String value, String expected, CapturedOutput output) {
		assertThat(FailedStart.report(output, NoDatabase.class, "distributed-lock." + name + "=" + value))
			.contains("distributed-lock." + name)
			.contains(value)
			.contains(expected);
	}

}
