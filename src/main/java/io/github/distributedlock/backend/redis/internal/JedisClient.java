package io.github.distributedlock.backend.redis.internal;

import java.net.Socket;
import java.time.Duration;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.BooleanSupplier;
import java.util.function.Function;
import java.util.function.Supplier;
import java.util.function.UnaryOperator;

import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import redis.clients.jedis.BinaryJedisPubSub;
import redis.clients.jedis.Connection;
import redis.clients.jedis.DefaultJedisClientConfig;
import redis.clients.jedis.DefaultJedisSocketFactory;
import redis.clients.jedis.HostAndPort;
import redis.clients.jedis.JedisClientConfig;
import redis.clients.jedis.exceptions.JedisConnectionException;
import redis.clients.jedis.exceptions.JedisException;
import redis.clients.jedis.util.IOUtils;

import org.springframework.data.redis.connection.RedisClusterConfiguration;
import org.springframework.data.redis.connection.RedisNode;
import org.springframework.data.redis.connection.RedisSentinelConfiguration;
import org.springframework.data.redis.connection.RedisStandaloneConfiguration;
import org.springframework.data.redis.connection.jedis.JedisClientConfigBuilderCustomizer;
import org.springframework.data.redis.connection.jedis.JedisClientConfiguration;
import org.springframework.data.redis.connection.jedis.JedisConnectionFactory;

/**
 * Derives connections from the application's Jedis factory.
 */
final class JedisClient implements SignalConnector {

	private static final Logger logger = LoggerFactory.getLogger(JedisClient.class);

	/**
	 * How many steps may have a connection of their own at once. Further steps wait for
	 * their turn. Each command in a cluster is such a step, at one node.
	 */
	private static final int COMMANDS = 64;

	private static final int RENEWALS = 8;

	private final JedisConnectionFactory application;

	private final Duration timeout;

	private final BoundedOpener opener;

	private final Supplier<RedisNode> server;

	private final @Nullable SentinelMaster sentinels;

	private JedisClient(JedisConnectionFactory application, Duration timeout) {
		this.application = application;
		this.timeout = timeout;
		this.opener = new BoundedOpener(BoundedOpener.time(timeout));
		RedisSentinelConfiguration servers = application.getSentinelConfiguration();
		RedisStandaloneConfiguration standalone = Objects.requireNonNull(application.getStandaloneConfiguration());
		this.sentinels = (servers != null) ? new SentinelMaster(servers, this::sentinel, timeout) : null;
		RedisNode node = new RedisNode(standalone.getHostName(), standalone.getPort());
		this.server = (this.sentinels != null) ? this.sentinels::get : () -> node;
	}

	/**
	 * Returns the settings of a new connection. The application may have changed its
	 * credentials since the connection before.
	 */
	private JedisClientConfig settings() {
		RedisSentinelConfiguration servers = this.application.getSentinelConfiguration();
		RedisClusterConfiguration cluster = this.application.getClusterConfiguration();
		RedisStandaloneConfiguration one = Objects.requireNonNull(this.application.getStandaloneConfiguration());
		if (servers != null) {
			one = SentinelMaster.standalone(servers.getSentinels().iterator().next());
			one.setDatabase(servers.getDatabase());
			one.setUsername(servers.getUsername());
			one.setPassword(servers.getPassword());
		}
		RedisStandaloneConfiguration server = one;
		return settings((client) -> (cluster != null) ? new JedisConnectionFactory(cluster, client)
				: new JedisConnectionFactory(server, client), (builder) -> {
				});
	}

	static OwnConnections derive(Object application, Duration timeout) {
		JedisClient client = new JedisClient((JedisConnectionFactory) application, timeout);
		boolean tls = client.application.getClientConfiguration().isUseSsl();
		RedisClusterConfiguration cluster = client.application.getClusterConfiguration();
		if (cluster != null) {
			ClusterLane commands = client.lane(cluster, COMMANDS);
			return new OwnConnections(new Lanes(commands, client.lane(cluster, RENEWALS)), null,
					() -> commands.atAnyMaster((node) -> new Connected(client.connect(node).connection(), commands)),
					commands::master, null, tls, "+cluster +asking", () -> {
					});
		}
		PooledLane<JedisLink> commands = new PooledLane<>(client::connect, COMMANDS, timeout);
		PooledLane<JedisLink> renewals = new PooledLane<>(client::connect, RENEWALS, timeout);
		return new OwnConnections(new Lanes(new Combiner<>(commands, timeout), renewals), new Lanes(commands, renewals),
				client, (client.sentinels != null) ? client.sentinels::master : (slot) -> client, client.sentinels, tls,
				(client.settings().getDatabase() != 0) ? "+select" : "", () -> {
				});
	}

	private ClusterLane lane(RedisClusterConfiguration cluster, int connections) {
		return new ClusterLane(ClusterLane.seeds(cluster), (node) -> lane(node, connections), this.timeout);
	}

	private PooledLane<JedisLink> lane(String node, int connections) {
		BoundedOpener opener = new BoundedOpener(BoundedOpener.time(this.timeout));
		return new PooledLane<>(() -> connect(opener, HostAndPort.from(node), settings(), () -> true), connections,
				this.timeout);
	}

	private JedisLink connect(String node) {
		return connect(HostAndPort.from(node), settings(), () -> true);
	}

	private static HostAndPort address(RedisNode node) {
		return new HostAndPort(String.valueOf(node.getHost()), Objects.requireNonNull(node.getPort()));
	}

	private JedisLink connect() {
		RedisNode server = this.server.get();
		return connect(address(server), settings(), () -> this.sentinels == null || this.sentinels.is(server));
	}

	private JedisLink connect(HostAndPort server, JedisClientConfig settings, BooleanSupplier leadsToMaster) {
		return connect(this.opener, server, settings, leadsToMaster);
	}

	private JedisLink connect(BoundedOpener opener, HostAndPort server, JedisClientConfig settings,
			BooleanSupplier leadsToMaster) {
		return opener.open(() -> JedisLink.translating(() -> {
			AtomicReference<@Nullable Socket> socket = new AtomicReference<>();
			DefaultJedisSocketFactory sockets = new DefaultJedisSocketFactory(server, settings);
			Connection connection = new Connection(() -> {
				// Jedis would connect again by itself: without a password, to database 0,
				// and after the guard against a stuck thread.
				if (socket.get() != null) {
					throw new JedisConnectionException("the connection has ended");
				}
				Socket opened = sockets.createSocket();
				socket.set(opened);
				return opened;
			}, settings);
			return new JedisLink(connection, () -> IOUtils.closeQuietly(socket.get()), this.timeout, leadsToMaster);
		}), JedisLink::close);
	}

	@Override
	public Connected open() {
		return new Connected(connect());
	}

	private SignalConnector sentinel(RedisStandaloneConfiguration sentinel) {
		HostAndPort address = new HostAndPort(sentinel.getHostName(), sentinel.getPort());
		return () -> new Connected(connect(address, sentinelSettings(), () -> true));
	}

	// Sentinels are asked in version 2 of the protocol, in which fields are a list,
	// whatever version the application uses with its servers.
	private JedisClientConfig sentinelSettings() {
		RedisSentinelConfiguration servers = Objects.requireNonNull(this.application.getSentinelConfiguration());
		RedisStandaloneConfiguration one = new RedisStandaloneConfiguration();
		one.setUsername(servers.getSentinelUsername());
		one.setPassword(servers.getSentinelPassword());
		return settings((client) -> new JedisConnectionFactory(one, client), (builder) -> builder.protocol(null));
	}

	// Only Spring Data can turn its settings into settings of Jedis, and Spring Data
	// hands these only to a customizer. So a factory that is never started calls a
	// customizer here.
	private JedisClientConfig settings(Function<JedisClientConfiguration, JedisConnectionFactory> factory,
			JedisClientConfigBuilderCustomizer last) {
		AtomicReference<DefaultJedisClientConfig.@Nullable Builder> settings = new AtomicReference<>();
		Duration longest = BoundedOpener.time(this.timeout);
		UnaryOperator<Object> timeout = (ignored) -> longest;
		UnaryOperator<Object> customizer = (given) -> Optional.of((JedisClientConfigBuilderCustomizer) (builder) -> {
			((Optional<?>) given).ifPresent((one) -> ((JedisClientConfigBuilderCustomizer) one).customize(builder));
			int millis = Math.toIntExact(longest.toMillis());
			last.customize(builder.connectionTimeoutMillis(millis).socketTimeoutMillis(millis));
			settings.set(builder);
		});
		JedisConnectionFactory unused = factory.apply(OwnConnections.override(JedisClientConfiguration.class,
				this.application.getClientConfiguration(), Map.of("getConnectTimeout", timeout, "getReadTimeout",
						timeout, "getCustomizer", customizer, "getClientConfigCustomizer", customizer)));
		unused.setEarlyStartup(false);
		unused.afterPropertiesSet();
		return Objects.requireNonNull(settings.get()).build();
	}

	/**
	 * A connection for subscriptions. Listening blocks the calling thread.
	 */
	static final class Connected extends BinaryJedisPubSub implements SignalConnection {

		private final Connection connection;

		private final Link link;

		private final AtomicBoolean closed = new AtomicBoolean();

		private volatile @Nullable Listener listener;

		Connected(JedisLink link) {
			this(link.connection(), link);
		}

		Connected(Connection connection, Link link) {
			this.connection = connection;
			this.link = link;
		}

		@Override
		public Link link() {
			return this.link;
		}

		@Override
		public void listen(byte[] channel, Listener listener) {
			this.listener = listener;
			try {
				if (!this.closed.get()) {
					proceed(this.connection, channel);
				}
			}
			catch (JedisException ex) {
				throw JedisLink.translated(ex);
			}
		}

		// The answer may have been read before the connection was closed.
		@Override
		public void onSubscribe(byte[] channel, int count) {
			if (this.closed.get()) {
				this.connection.disconnect();
			}
			else {
				Objects.requireNonNull(this.listener).onSubscribed();
			}
		}

		@Override
		public void onMessage(byte[] channel, byte[] message) {
			Objects.requireNonNull(this.listener).onMessage(message);
		}

		@Override
		public void close() {
			if (this.closed.compareAndSet(false, true)) {
				try (Connection connection = this.connection) {
					connection.disconnect();
				}
				catch (JedisException ex) {
					logger.debug("The connection had ended already", ex);
				}
			}
		}

	}

}
