package io.github.distributedlock.backend.redis;

import java.time.Duration;
import java.util.Map;
import java.util.Optional;
import java.util.function.UnaryOperator;

import io.lettuce.core.ClientOptions;
import io.lettuce.core.SocketOptions;

import org.springframework.beans.DirectFieldAccessor;
import org.springframework.data.redis.connection.RedisConfiguration;
import org.springframework.data.redis.connection.RedisConnectionFactory;
import org.springframework.data.redis.connection.RedisStaticMasterReplicaConfiguration;
import org.springframework.data.redis.connection.lettuce.LettuceClientConfiguration;
import org.springframework.data.redis.connection.lettuce.LettuceConnectionFactory;

/**
 * Derives connections from the application's Lettuce factory. They share its threads, if
 * it was given any.
 */
final class LettuceClient {

	private final LettuceConnectionFactory application;

	private final Duration timeout;

	private LettuceClient(LettuceConnectionFactory application, Duration timeout) {
		this.application = application;
		this.timeout = timeout;
	}

	static boolean isOf(RedisConnectionFactory application) {
		return application instanceof LettuceConnectionFactory;
	}

	static OwnConnections derive(RedisConnectionFactory application, Duration timeout) {
		LettuceClient client = new LettuceClient((LettuceConnectionFactory) application, timeout);
		LettuceSignalLine signals = new LettuceSignalLine(client.connections(false));
		if (client.application.isClusterAware()) {
			LettuceClusterLane commands = client.clusterLane();
			return new OwnConnections(new Lanes(commands, client.clusterLane()), null, signals,
					new LettuceRawCommands(), true, commands, "+cluster");
		}
		Lanes exclusive = new Lanes(client.exclusiveLane(), client.exclusiveLane());
		return new OwnConnections(new Lanes(client.lane(), client.lane()), exclusive, signals, new LettuceRawCommands(),
				false, Masters.ONE, client.rights());
	}

	private String rights() {
		String select = (this.application.getDatabase() != 0) ? "+select" : "";
		return (server() instanceof RedisStaticMasterReplicaConfiguration) ? ("+role " + select).strip() : select;
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
		RedisConfiguration server = server();
		LettuceConnectionFactory factory = (server instanceof RedisStaticMasterReplicaConfiguration servers)
				? new LettuceMasterFactory(servers, settings()) : new LettuceConnectionFactory(server, settings());
		factory.setShareNativeConnection(shared);
		factory.afterPropertiesSet();
		factory.start();
		return factory;
	}

	// The standalone configuration answers localhost:6379 for every other kind.
	private RedisConfiguration server() {
		if (this.application.getClusterConfiguration() != null) {
			return this.application.getClusterConfiguration();
		}
		if (this.application.getSentinelConfiguration() != null) {
			return this.application.getSentinelConfiguration();
		}
		if (this.application.getSocketConfiguration() != null) {
			return this.application.getSocketConfiguration();
		}
		// A list of a master and its replicas has no getter at all.
		DirectFieldAccessor fields = new DirectFieldAccessor(this.application);
		if (fields.isReadableProperty("configuration")
				&& fields.getPropertyValue("configuration") instanceof RedisConfiguration configuration) {
			return configuration;
		}
		return this.application.getStandaloneConfiguration();
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
	// In a cluster nobody could: see LettuceClusterLane.
	private ClientOptions options(ClientOptions application) {
		SocketOptions socket = application.getSocketOptions().mutate().connectTimeout(this.timeout).build();
		return application.mutate().autoReconnect(this.application.isClusterAware()).socketOptions(socket).build();
	}

}
