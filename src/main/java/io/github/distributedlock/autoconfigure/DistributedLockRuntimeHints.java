package io.github.distributedlock.autoconfigure;

import io.github.distributedlock.annotation.DistributedLock;
import org.jspecify.annotations.Nullable;

import org.springframework.aot.hint.MemberCategory;
import org.springframework.aot.hint.RuntimeHints;
import org.springframework.aot.hint.RuntimeHintsRegistrar;
import org.springframework.aot.hint.TypeReference;

/**
 * Registers what a native image cannot find by itself: the scripts, the merging of
 * annotations that are found on other annotations, the proxy that overrides Jedis'
 * configuration, and the field in which Lettuce's factory keeps its servers.
 */
class DistributedLockRuntimeHints implements RuntimeHintsRegistrar {

	private static final String CONNECTION = "org.springframework.data.redis.connection.";

	private static final String JEDIS_CONFIGURATION = CONNECTION + "jedis.JedisClientConfiguration";

	@Override
	public void registerHints(RuntimeHints hints, @Nullable ClassLoader classLoader) {
		hints.resources()
			.registerPattern("io/github/distributedlock/backend/redis/*.lua")
			.registerPattern("io/github/distributedlock/backend/jdbc/*.sql")
			.registerPattern(Stores.JDBC_STARTER);
		hints.reflection().registerType(DistributedLock.class, MemberCategory.INVOKE_PUBLIC_METHODS);
		hints.proxies().registerJdkProxy(DistributedLock.class);
		hints.reflection()
			.registerTypeIfPresent(classLoader, "org.springframework.http.HttpEntity",
					MemberCategory.INVOKE_PUBLIC_METHODS);
		hints.proxies().registerJdkProxy(TypeReference.of(JEDIS_CONFIGURATION));
		hints.reflection()
			.registerTypeIfPresent(classLoader, JEDIS_CONFIGURATION, MemberCategory.INVOKE_PUBLIC_METHODS)
			.registerTypeIfPresent(classLoader, CONNECTION + "lettuce.LettuceConnectionFactory",
					(hint) -> hint.withField("configuration"));
	}

}
