package io.github.distributedlock.backend.redis.connection;

import java.time.Duration;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.function.UnaryOperator;

import io.lettuce.core.ClientOptions;
import io.lettuce.core.RedisCredentialsProvider;
import io.lettuce.core.SocketOptions;
import io.lettuce.core.TimeoutOptions;
import org.jspecify.annotations.Nullable;

import org.springframework.beans.DirectFieldAccessor;
import org.springframework.data.redis.connection.RedisConfiguration;
import org.springframework.data.redis.connection.RedisConnectionFactory;
import org.springframework.data.redis.connection.RedisSentinelConfiguration;
import org.springframework.data.redis.connection.RedisStandaloneConfiguration;
import org.springframework.data.redis.connection.RedisStaticMasterReplicaConfiguration;
import org.springframework.data.redis.connection.lettuce.LettuceClientConfiguration;
import org.springframework.data.redis.connection.lettuce.LettuceConnectionFactory;
import org.springframework.data.redis.connection.lettuce.RedisCredentialsProviderFactory;

/**
 * Derives connections from the application's Lettuce factory. They share its threads, if
 * it was given any.
 */
final class LettuceClient {

	private final LettuceConnectionFactory application;

	private final RedisConfiguration server;

	private final Duration timeout;

	private final @Nullable SentinelMaster sentinels;

	private LettuceClient(LettuceConnectionFactory application, Duration timeout) {
		this.application = application;
		this.server = Objects.requireNonNull(serverOf(application));
		this.timeout = timeout;
		this.sentinels = (this.server instanceof RedisSentinelConfiguration servers)
				? new SentinelMaster(servers, this::sentinel, timeout) : null;
	}

	static boolean isOf(RedisConnectionFactory application) {
		return FactoryProxies.isGenuine(application, LettuceConnectionFactory.class)
				&& serverOf((LettuceConnectionFactory) application) != null;
	}

	static OwnConnections derive(RedisConnectionFactory application, Duration timeout) {
		LettuceClient client = new LettuceClient((LettuceConnectionFactory) application, timeout);
		LettuceSignalLine signals = new LettuceSignalLine(client.connections(false), timeout);
		if (client.application.isClusterAware()) {
			LettuceClusterLane commands = client.clusterLane();
			return new OwnConnections(new Lanes(commands, client.clusterLane()), null, signals, true, commands,
					client.isTls(), "+cluster");
		}
		Lanes exclusive = new Lanes(client.exclusiveLane(), client.exclusiveLane());
		return new OwnConnections(new Lanes(client.lane(), client.lane()), exclusive, signals, false,
				(client.sentinels != null) ? client.sentinels : Masters.ONE, client.isTls(), client.rights());
	}

	private boolean isTls() {
		return this.application.getClientConfiguration().isUseSsl();
	}

	private String rights() {
		String role = looksForMaster() ? "+role" : "";
		return (this.application.getDatabase() != 0) ? (role + " +select").strip() : role;
	}

	private LettuceLane lane() {
		return new LettuceLane(connections(true), this.timeout);
	}

	private LettuceExclusiveLane exclusiveLane() {
		return new LettuceExclusiveLane(connections(false), this.timeout);
	}

	private LettuceClusterLane clusterLane() {
		return new LettuceClusterLane(connections(true), this.timeout);
	}

	private Lazy<LettuceConnectionFactory> connections(boolean shared) {
		return new Lazy<>(() -> factory(shared), LettuceConnectionFactory::destroy);
	}

	private LettuceConnectionFactory factory(boolean shared) {
		if (this.sentinels != null) {
			LettuceMasterFactory factory = new LettuceMasterFactory(this.server, settings(), this.sentinels);
			this.sentinels.beforeSwitch(factory::leave);
			return started(factory, shared);
		}
		return started(looksForMaster() ? new LettuceMasterFactory(this.server, settings(), null)
				: new LettuceConnectionFactory(this.server, settings()), shared);
	}

	private LettuceSignalLine sentinel(RedisSentinelConfiguration sentinels, RedisStandaloneConfiguration server) {
		UnaryOperator<Object> credentials = (application) -> ((Optional<?>) application)
			.map((given) -> credentials((RedisCredentialsProviderFactory) given, sentinels));
		LettuceClientConfiguration settings = ClientSettings.override(LettuceClientConfiguration.class, settings(),
				Map.of("getRedisCredentialsProviderFactory", credentials));
		return new LettuceSignalLine(new Lazy<>(() -> started(new LettuceConnectionFactory(server, settings), false),
				LettuceConnectionFactory::destroy), this.timeout);
	}

	private static RedisCredentialsProviderFactory credentials(RedisCredentialsProviderFactory application,
			RedisSentinelConfiguration sentinels) {
		return new RedisCredentialsProviderFactory() {

			@Override
			public RedisCredentialsProvider createCredentialsProvider(RedisConfiguration server) {
				return application.createSentinelCredentialsProvider(sentinels);
			}

		};
	}

	private static LettuceConnectionFactory started(LettuceConnectionFactory factory, boolean shared) {
		factory.setShareNativeConnection(shared);
		factory.afterPropertiesSet();
		factory.start();
		return factory;
	}

	// The one getter for a server answers localhost:6379 for every other kind, and a list
	// of a master and its replicas has none at all. Without the field it is not known.
	private static @Nullable RedisConfiguration serverOf(LettuceConnectionFactory application) {
		if (application.getClusterConfiguration() != null) {
			return application.getClusterConfiguration();
		}
		if (application.getSentinelConfiguration() != null) {
			return application.getSentinelConfiguration();
		}
		if (application.getSocketConfiguration() != null) {
			return application.getSocketConfiguration();
		}
		DirectFieldAccessor fields = new DirectFieldAccessor(application);
		return (fields.isReadableProperty("configuration")
				&& fields.getPropertyValue("configuration") instanceof RedisConfiguration configuration) ? configuration
						: null;
	}

	// An application that reads from replicas may name one of them alone; Lettuce finds
	// the others.
	private boolean looksForMaster() {
		return this.server instanceof RedisStaticMasterReplicaConfiguration
				|| (this.server instanceof RedisStandaloneConfiguration
						&& this.application.getClientConfiguration().getReadFrom().isPresent());
	}

	private LettuceClientConfiguration settings() {
		UnaryOperator<Object> options = (application) -> Optional
			.of(((Optional<?>) application).map((given) -> options((ClientOptions) given))
				.orElseGet(() -> options(ClientOptions.create())));
		return ClientSettings.override(LettuceClientConfiguration.class, this.application.getClientConfiguration(),
				Map.of("getCommandTimeout", (ignored) -> this.timeout, "getClientOptions", options, "getReadFrom",
						(ignored) -> Optional.empty(), "getShutdownQuietPeriod", (ignored) -> Duration.ZERO));
	}

	// A connection that reconnects sends again what was under way, and a SET NX that had
	// succeeded would answer that the lock is busy. So ours do not; lanes open new ones.
	// In a cluster that is impossible: see LettuceClusterLane. Each thread watches the
	// time of its command itself; Lettuce would set a timer for each.
	private ClientOptions options(ClientOptions application) {
		SocketOptions socket = application.getSocketOptions().mutate().connectTimeout(this.timeout).build();
		return application.mutate()
			.autoReconnect(this.application.isClusterAware())
			.timeoutOptions(TimeoutOptions.create())
			.socketOptions(socket)
			.build();
	}

}
