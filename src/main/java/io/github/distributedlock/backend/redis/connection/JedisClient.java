package io.github.distributedlock.backend.redis.connection;

import java.time.Duration;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.UnaryOperator;
import java.util.stream.Collectors;

import org.apache.commons.pool2.impl.GenericObjectPoolConfig;
import org.jspecify.annotations.Nullable;
import redis.clients.jedis.DefaultJedisClientConfig;
import redis.clients.jedis.HostAndPort;

import org.springframework.beans.BeanWrapper;
import org.springframework.beans.PropertyAccessorFactory;
import org.springframework.data.redis.connection.RedisClusterConfiguration;
import org.springframework.data.redis.connection.RedisConnectionFactory;
import org.springframework.data.redis.connection.RedisNode;
import org.springframework.data.redis.connection.RedisSentinelConfiguration;
import org.springframework.data.redis.connection.RedisStandaloneConfiguration;
import org.springframework.data.redis.connection.jedis.JedisClientConfigBuilderCustomizer;
import org.springframework.data.redis.connection.jedis.JedisClientConfiguration;
import org.springframework.data.redis.connection.jedis.JedisConnectionFactory;

/**
 * Derives connections from the application's Jedis factory.
 */
final class JedisClient {

	/**
	 * As many steps as may have a connection of their own at once; more of them wait
	 * their turn. Each command in a cluster is such a step.
	 */
	private static final int COMMANDS = 64;

	private static final int RENEWALS = 8;

	/** None of them idle, so that none is dead when it is needed. */
	private static final int SUBSCRIPTIONS = 8;

	/** One to ask a Sentinel, and one to listen to it. */
	private static final int SENTINEL = 2;

	/** For so long a connection may be idle. */
	static final Duration IDLE = Duration.ofMinutes(1);

	private final JedisConnectionFactory application;

	private final Duration timeout;

	private final @Nullable SentinelMaster sentinels;

	private JedisClient(JedisConnectionFactory application, Duration timeout) {
		this.application = application;
		this.timeout = timeout;
		RedisSentinelConfiguration servers = application.getSentinelConfiguration();
		this.sentinels = (servers != null) ? new SentinelMaster(servers, this::sentinel, timeout) : null;
	}

	static boolean isOf(RedisConnectionFactory application) {
		return FactoryProxies.isGenuine(application, JedisConnectionFactory.class);
	}

	static OwnConnections derive(RedisConnectionFactory application, Duration timeout) {
		JedisClient client = new JedisClient((JedisConnectionFactory) application, timeout);
		JedisSignalLine signals = new JedisSignalLine(
				new Lazy<>(() -> client.factory(SUBSCRIPTIONS, 0), JedisConnectionFactory::destroy));
		RedisClusterConfiguration cluster = client.application.getClusterConfiguration();
		if (cluster != null) {
			JedisClusterLane commands = client.lane(cluster, COMMANDS);
			return new OwnConnections(new Lanes(commands, client.lane(cluster, RENEWALS)), null, signals, true,
					commands, client.isTls(), "+cluster");
		}
		JedisLane commands = client.lane(COMMANDS);
		JedisLane renewals = client.lane(RENEWALS);
		SentinelMaster sentinels = client.sentinels;
		if (sentinels != null) {
			sentinels.beforeSwitch(signals::leave);
		}
		return new OwnConnections(new Lanes(new CombiningLane(commands, timeout), renewals),
				new Lanes(commands, renewals), signals, false, (sentinels != null) ? sentinels : Masters.ONE,
				client.isTls(), (client.application.getDatabase() != 0) ? "+select" : "");
	}

	private boolean isTls() {
		return this.application.getClientConfiguration().isUseSsl();
	}

	private JedisClusterLane lane(RedisClusterConfiguration cluster, int connections) {
		return new JedisClusterLane(() -> nodes(cluster, connections), this.timeout);
	}

	// Only Spring Data can turn its settings into those of Jedis, and it does not hand
	// them out, but to a customizer. So a factory is asked that is never started.
	private JedisNodes nodes(RedisClusterConfiguration cluster, int connections) {
		AtomicReference<DefaultJedisClientConfig.@Nullable Builder> client = new AtomicReference<>();
		JedisConnectionFactory unused = new JedisConnectionFactory(cluster, settings(connections, 0, client::set));
		unused.setEarlyStartup(false);
		unused.afterPropertiesSet();
		Set<HostAndPort> seeds = cluster.getClusterNodes()
			.stream()
			.map((node) -> new HostAndPort(String.valueOf(node.getHost()), Objects.requireNonNull(node.getPort())))
			.collect(Collectors.toSet());
		return new JedisNodes(seeds, Objects.requireNonNull(client.get()).build(), pool(connections, connections),
				this.timeout);
	}

	private JedisLane lane(int connections) {
		return new JedisLane(() -> factory(connections, connections), this.timeout);
	}

	private JedisSignalLine sentinel(RedisSentinelConfiguration sentinels, RedisStandaloneConfiguration server) {
		// Fields are a list there, whatever the application speaks with its servers.
		JedisClientConfiguration settings = settings(SENTINEL, 0, (builder) -> builder.protocol(null));
		return new JedisSignalLine(
				new Lazy<>(() -> started(new JedisPooledFactory(server, settings)), JedisConnectionFactory::destroy));
	}

	// The standalone configuration answers localhost:6379 for every other kind.
	private JedisPooledFactory factory(int connections, int idle) {
		JedisClientConfiguration settings = settings(connections, idle, (builder) -> {
		});
		var cluster = this.application.getClusterConfiguration();
		var sentinels = this.application.getSentinelConfiguration();
		var standalone = this.application.getStandaloneConfiguration();
		JedisPooledFactory factory;
		if (cluster != null) {
			factory = new JedisPooledFactory(cluster, settings);
		}
		else if (sentinels != null && this.sentinels != null) {
			factory = toMaster(this.sentinels, sentinels, settings);
		}
		else if (standalone != null) {
			factory = new JedisPooledFactory(standalone, settings);
		}
		else {
			throw new IllegalStateException("The Jedis factory has no configuration");
		}
		return started(factory);
	}

	private static JedisPooledFactory toMaster(SentinelMaster sentinels, RedisSentinelConfiguration servers,
			JedisClientConfiguration settings) {
		RedisNode master = sentinels.get();
		RedisStandaloneConfiguration server = SentinelMaster.standalone(master);
		server.setDatabase(servers.getDatabase());
		server.setUsername(servers.getUsername());
		server.setPassword(servers.getPassword());
		return new JedisPooledFactory(server, settings, () -> sentinels.of(0) == master);
	}

	private static JedisPooledFactory started(JedisPooledFactory factory) {
		if (factory.getClusterConfiguration() == null) {
			keepOneConnectionForAStep(factory);
		}
		factory.afterPropertiesSet();
		factory.start();
		return factory;
	}

	// Spring Data 4.1 borrows a connection for each command, unless it is told otherwise;
	// before, there was nothing to tell.
	static void keepOneConnectionForAStep(JedisConnectionFactory factory) {
		BeanWrapper properties = PropertyAccessorFactory.forBeanPropertyAccess(factory);
		if (properties.isWritableProperty("useUnifiedJedis")) {
			properties.setPropertyValue("useUnifiedJedis", false);
		}
	}

	private <T> GenericObjectPoolConfig<T> pool(int connections, int idle) {
		GenericObjectPoolConfig<T> pool = new GenericObjectPoolConfig<>();
		pool.setMaxTotal(connections);
		pool.setMaxIdle(idle);
		// The rest is for the command.
		pool.setMaxWait(this.timeout.multipliedBy(3).dividedBy(4));
		pool.setTimeBetweenEvictionRuns(IDLE.dividedBy(2));
		pool.setMinEvictableIdleDuration(IDLE);
		pool.setJmxEnabled(false);
		return pool;
	}

	private JedisClientConfiguration settings(int connections, int idle, JedisClientConfigBuilderCustomizer last) {
		UnaryOperator<Object> timeout = (ignored) -> this.timeout;
		UnaryOperator<Object> customizer = (application) -> Optional.of(keepTimeouts((Optional<?>) application, last));
		return ClientSettings.override(JedisClientConfiguration.class, this.application.getClientConfiguration(),
				Map.of("isUsePooling", (ignored) -> true, "getPoolConfig",
						(ignored) -> Optional.of(pool(connections, idle)), "getConnectTimeout", timeout,
						"getReadTimeout", timeout, "getCustomizer", customizer, "getClientConfigCustomizer",
						customizer));
	}

	private JedisClientConfigBuilderCustomizer keepTimeouts(Optional<?> application,
			JedisClientConfigBuilderCustomizer last) {
		int millis = Math.toIntExact(this.timeout.toMillis());
		return (builder) -> {
			application.ifPresent((given) -> ((JedisClientConfigBuilderCustomizer) given).customize(builder));
			builder.connectionTimeoutMillis(millis).socketTimeoutMillis(millis);
			last.customize(builder);
		};
	}

}
