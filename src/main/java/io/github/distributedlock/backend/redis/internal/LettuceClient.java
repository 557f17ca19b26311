package io.github.distributedlock.backend.redis.internal;

import java.time.Duration;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.locks.LockSupport;
import java.util.function.Function;
import java.util.function.Supplier;
import java.util.function.UnaryOperator;
import java.util.stream.Stream;

import io.github.distributedlock.backend.redis.internal.Command.Verb;
import io.lettuce.core.ClientOptions;
import io.lettuce.core.RedisChannelHandler;
import io.lettuce.core.RedisClient;
import io.lettuce.core.RedisConnectionStateListener;
import io.lettuce.core.RedisCredentialsProvider;
import io.lettuce.core.SocketOptions;
import io.lettuce.core.TimeoutOptions;
import io.lettuce.core.api.StatefulConnection;
import io.lettuce.core.api.StatefulRedisConnection;
import io.lettuce.core.codec.ByteArrayCodec;
import io.lettuce.core.pubsub.RedisPubSubAdapter;
import io.lettuce.core.pubsub.StatefulRedisPubSubConnection;
import io.lettuce.core.resource.ClientResources;
import org.jspecify.annotations.Nullable;

import org.springframework.beans.DirectFieldAccessor;
import org.springframework.data.redis.connection.RedisClusterConfiguration;
import org.springframework.data.redis.connection.RedisConfiguration;
import org.springframework.data.redis.connection.RedisNode;
import org.springframework.data.redis.connection.RedisPassword;
import org.springframework.data.redis.connection.RedisSentinelConfiguration;
import org.springframework.data.redis.connection.RedisStandaloneConfiguration;
import org.springframework.data.redis.connection.RedisStaticMasterReplicaConfiguration;
import org.springframework.data.redis.connection.lettuce.LettuceClientConfiguration;
import org.springframework.data.redis.connection.lettuce.LettuceConnectionFactory;
import org.springframework.data.redis.connection.lettuce.RedisCredentialsProviderFactory;

/**
 * Derives connections from the application's Lettuce factory. The connections share the
 * client resources, and so the threads, that the application gave to the factory, if any.
 * <p>
 * Spring Data turns the settings into a client of Lettuce. Each server that is, or was,
 * the master has a client. The connections are Lettuce's own.
 */
final class LettuceClient implements SignalConnector {

	/** How many steps may have a connection of their own at once. */
	private static final int EXCLUSIVE = 8;

	/**
	 * How often an opening without an explained failure is tried. A connection that the
	 * server refuses may be closed before Lettuce has seen the reason: about one in 10 on
	 * a busy machine. Lettuce may hand out a connection before the connection takes
	 * commands: about one in 20,000.
	 */
	private static final int OPENINGS = 5;

	private static final long PAUSE_NANOS = TimeUnit.MILLISECONDS.toNanos(1);

	private final LettuceConnectionFactory application;

	private final RedisConfiguration server;

	private final Duration timeout;

	private final @Nullable SentinelMaster sentinels;

	private final BoundedOpener opener;

	/** The factories, each with a client, by server. */
	private final Map<RedisConfiguration, LettuceConnectionFactory> clients = new HashMap<>();

	/**
	 * How many lanes lead to each node of the cluster. The client of a node ends with the
	 * last lane.
	 */
	private final Map<String, Integer> lanes = new HashMap<>();

	/** The threads of all clients, if the application has given none. */
	private @Nullable ClientResources resources;

	private boolean closed;

	private LettuceClient(LettuceConnectionFactory application, Duration timeout) {
		this.application = application;
		this.server = serverOf(application);
		this.timeout = timeout;
		this.sentinels = (this.server instanceof RedisSentinelConfiguration servers)
				? new SentinelMaster(servers, this::sentinel, timeout) : null;
		this.opener = new BoundedOpener(BoundedOpener.time(timeout));
	}

	static OwnConnections derive(Object application, Duration timeout) {
		LettuceClient client = new LettuceClient((LettuceConnectionFactory) application, timeout);
		boolean tls = client.application.getClientConfiguration().isUseSsl();
		if (client.server instanceof RedisClusterConfiguration cluster) {
			ClusterLane commands = client.lane(cluster);
			return new OwnConnections(new Lanes(commands, client.lane(cluster)), null, client.signals(commands),
					commands::master, null, tls, "+cluster +asking", client::close);
		}
		Lanes shared = new Lanes(new LettuceLane(client::connect, timeout), new LettuceLane(client::connect, timeout));
		Lanes exclusive = new Lanes(new PooledLane<>(client::connect, EXCLUSIVE, timeout),
				new PooledLane<>(client::connect, EXCLUSIVE, timeout));
		return new OwnConnections(shared, exclusive, client,
				(client.sentinels != null) ? client.sentinels::master : (slot) -> client, client.sentinels, tls,
				(client.application.getDatabase() != 0) ? "+select" : "", client::close);
	}

	// Reads a private field: the getter for a single server answers localhost:6379 for
	// every other kind of configuration.
	private static RedisConfiguration serverOf(LettuceConnectionFactory application) {
		RedisConfiguration server = (RedisConfiguration) Objects
			.requireNonNull(new DirectFieldAccessor(application).getPropertyValue("configuration"));
		if (server instanceof RedisStaticMasterReplicaConfiguration) {
			throw OwnConnections.refusal("a list of a master and its replicas does not say where the master is",
					"set spring.data.redis.host and spring.data.redis.port to the master,"
							+ " or spring.data.redis.sentinel.nodes and spring.data.redis.sentinel.master to Sentinels;"
							+ " or define a bean of " + application.getClass().getName()
							+ " that does, and name it with distributed-lock.redis.connection-factory");
		}
		return server;
	}

	private ClusterLane lane(RedisClusterConfiguration cluster) {
		return new ClusterLane(ClusterLane.seeds(cluster), this::lane, this::left, this.timeout);
	}

	private LettuceLane lane(String node) {
		synchronized (this) {
			this.lanes.merge(node, 1, Integer::sum);
		}
		BoundedOpener opener = new BoundedOpener(BoundedOpener.time(this.timeout));
		return new LettuceLane(() -> new LettuceLink(
				connected(opener, server(node), settings(), (client) -> client.connect(ByteArrayCodec.INSTANCE)),
				this.timeout, () -> true), this.timeout);
	}

	// A subscription to the node ends with the client, and begins anew at another node.
	private void left(String node) {
		LettuceConnectionFactory unused;
		synchronized (this) {
			boolean last = this.lanes.merge(node, -1, (lanes, one) -> (lanes + one > 0) ? lanes + one : null) == null;
			unused = last ? this.clients.remove(server(node)) : null;
		}
		if (unused != null) {
			BoundedOpener.end(unused::destroy);
		}
	}

	private SignalConnector signals(ClusterLane cluster) {
		return () -> cluster.atAnyMaster((node) -> new Connected(
				connected(server(node), settings(), (client) -> client.connectPubSub(ByteArrayCodec.INSTANCE)), cluster,
				new AtomicBoolean()));
	}

	private RedisConfiguration server(String node) {
		return server(SentinelMaster.standalone(RedisNode.fromString(node)));
	}

	private LettuceLink connect() {
		RedisNode master = namedMaster();
		return new LettuceLink(
				connected(serverNow(master), settings(), (client) -> client.connect(ByteArrayCodec.INSTANCE)),
				this.timeout, () -> master == namedMaster());
	}

	private @Nullable RedisNode namedMaster() {
		return (this.sentinels != null) ? this.sentinels.get() : null;
	}

	private RedisConfiguration serverNow(@Nullable RedisNode master) {
		return (master != null) ? server(SentinelMaster.standalone(master)) : this.server;
	}

	// Takes all settings but the address from the application.
	private RedisStandaloneConfiguration server(RedisStandaloneConfiguration server) {
		server.setDatabase(RedisConfiguration.getDatabaseOrElse(this.server, () -> 0));
		server.setUsername(RedisConfiguration.getUsernameOrElse(this.server, () -> null));
		server.setPassword(RedisConfiguration.getPasswordOrElse(this.server, RedisPassword::none));
		return server;
	}

	@Override
	public SignalConnection open() {
		return open(serverNow(namedMaster()), settings(), (client) -> client.connectPubSub(ByteArrayCodec.INSTANCE));
	}

	// The connection is of the same kind as the connections of the lanes: Lettuce needs
	// 70 ms to load the other kind.
	@Override
	public SignalConnection openForCommands() {
		return openForCommands(serverNow(namedMaster()), settings());
	}

	private Connected openForCommands(RedisConfiguration server, LettuceClientConfiguration settings) {
		return open(server, settings, (client) -> client.connect(ByteArrayCodec.INSTANCE));
	}

	private Connected open(RedisConfiguration server, LettuceClientConfiguration settings,
			Function<RedisClient, StatefulRedisConnection<byte[], byte[]>> kind) {
		StatefulRedisConnection<byte[], byte[]> connection = connected(server, settings, kind);
		return new Connected(connection, new LettuceLink(connection, this.timeout, () -> true), new AtomicBoolean());
	}

	private SignalConnector sentinel(RedisStandaloneConfiguration sentinel) {
		LettuceClientConfiguration settings = settings((application) -> application
			.createSentinelCredentialsProvider((RedisSentinelConfiguration) this.server));
		return () -> openForCommands(sentinel, settings);
	}

	private static RedisCredentialsProviderFactory credentials(
			Function<RedisCredentialsProviderFactory, @Nullable RedisCredentialsProvider> credentials,
			RedisCredentialsProviderFactory application) {
		return new RedisCredentialsProviderFactory() {

			@Override
			public @Nullable RedisCredentialsProvider createCredentialsProvider(RedisConfiguration node) {
				return credentials.apply(application);
			}

		};
	}

	private synchronized RedisClient client(RedisConfiguration server, LettuceClientConfiguration settings) {
		Lane.requireOpen(this.closed);
		return (RedisClient) this.clients.computeIfAbsent(server, (first) -> {
			LettuceConnectionFactory factory = new LettuceConnectionFactory(first, settings);
			factory.afterPropertiesSet();
			factory.start();
			return factory;
		}).getRequiredNativeClient();
	}

	private <C extends StatefulRedisConnection<byte[], byte[]>> C connected(RedisConfiguration server,
			LettuceClientConfiguration settings, Function<RedisClient, C> kind) {
		return connected(this.opener, server, settings, kind);
	}

	// A connection counts as open once the server has answered a PING. Any answer will
	// do, even a refusal of PING.
	private <C extends StatefulRedisConnection<byte[], byte[]>> C connected(BoundedOpener opener,
			RedisConfiguration server, LettuceClientConfiguration settings, Function<RedisClient, C> kind) {
		RedisClient client = client(server, settings);
		return untilReady(() -> opener.open(() -> {
			C connection = kind.apply(client);
			try {
				new LettuceLink(connection, BoundedOpener.time(this.timeout), () -> true)
					.exchange(Command.at(new byte[0], Verb.PING));
				return connection;
			}
			catch (RuntimeException ex) {
				connection.closeAsync();
				throw ex;
			}
		}, StatefulConnection::closeAsync));
	}

	static <T> T untilReady(Supplier<T> opener) {
		for (int opening = 1;; opening++) {
			try {
				return opener.get();
			}
			catch (RuntimeException ex) {
				if (opening == OPENINGS || !isUnexplained(ex)) {
					throw LettuceLink.translated(ex);
				}
			}
			LockSupport.parkNanos(PAUSE_NANOS);
		}
	}

	private static boolean isUnexplained(RuntimeException failure) {
		return Stream
			.of("Connection closed prematurely", "RedisHandshakeHandler not registered", "Currently not connected")
			.anyMatch((word) -> RedisRefusal.saysIn(failure, word));
	}

	// The application's factory of credentials is asked for the server that the
	// application has configured, and not for a node or for the present master.
	private LettuceClientConfiguration settings() {
		return settings((application) -> application.createCredentialsProvider(this.server));
	}

	private LettuceClientConfiguration settings(
			Function<RedisCredentialsProviderFactory, @Nullable RedisCredentialsProvider> credentials) {
		UnaryOperator<Object> provider = (application) -> ((Optional<?>) application)
			.map((given) -> credentials(credentials, (RedisCredentialsProviderFactory) given));
		UnaryOperator<Object> options = (application) -> Optional
			.of(((Optional<?>) application).map((given) -> options((ClientOptions) given))
				.orElseGet(() -> options(ClientOptions.create())));
		UnaryOperator<Object> resources = (application) -> Optional
			.of(((Optional<?>) application).map(ClientResources.class::cast).orElseGet(this::resources));
		return OwnConnections.override(LettuceClientConfiguration.class, this.application.getClientConfiguration(),
				Map.of("getCommandTimeout", (ignored) -> BoundedOpener.time(this.timeout), "getClientOptions", options,
						"getClientResources", resources, "getRedisCredentialsProviderFactory", provider, "getReadFrom",
						(ignored) -> Optional.empty(), "getShutdownQuietPeriod", (ignored) -> Duration.ZERO));
	}

	private synchronized ClientResources resources() {
		ClientResources resources = (this.resources != null) ? this.resources : ClientResources.create();
		this.resources = resources;
		return resources;
	}

	// A connection that reconnects sends pending commands again, and a SET NX that had
	// succeeded would answer that the lock is busy. Lettuce also waits for up to 30 s
	// before a reconnect. So these connections do not reconnect; lanes open new
	// connections. Each thread watches the time of its own command, while Lettuce would
	// set a timer for each command.
	private ClientOptions options(ClientOptions application) {
		SocketOptions socket = application.getSocketOptions()
			.mutate()
			.connectTimeout(BoundedOpener.time(this.timeout))
			.build();
		return application.mutate()
			.autoReconnect(false)
			.timeoutOptions(TimeoutOptions.create())
			.socketOptions(socket)
			.build();
	}

	// Lettuce waits without bound for the event loops when a client ends.
	private synchronized void close() {
		this.closed = true;
		List<LettuceConnectionFactory> clients = List.copyOf(this.clients.values());
		ClientResources own = this.resources;
		BoundedOpener.end(() -> {
			clients.forEach(LettuceConnectionFactory::destroy);
			if (own != null) {
				own.shutdown(0, 2, TimeUnit.SECONDS).syncUninterruptibly();
			}
		});
	}

	/**
	 * A connection for subscriptions. Lettuce subscribes, and returns at once, so the
	 * listening thread has to watch whether the connection still stands.
	 */
	private record Connected(StatefulRedisConnection<byte[], byte[]> connection, Link link,
			AtomicBoolean closed) implements SignalConnection {

		private static final long LOOK_NANOS = TimeUnit.SECONDS.toNanos(1);

		@Override
		public void listen(byte[] channel, Listener listener) {
			Thread listening = Thread.currentThread();
			subscriber().addListener(new RedisPubSubAdapter<>() {

				@Override
				public void subscribed(byte[] channel, long count) {
					listener.onSubscribed();
				}

				@Override
				public void message(byte[] channel, byte[] message) {
					listener.onMessage(message);
				}

			});
			this.connection.addListener(new RedisConnectionStateListener() {

				@Override
				public void onRedisDisconnected(RedisChannelHandler<?, ?> disconnected) {
					LockSupport.unpark(listening);
				}

			});
			try {
				subscriber().sync().subscribe(channel);
			}
			catch (RuntimeException ex) {
				throw LettuceLink.translated(ex);
			}
			while (this.connection.isOpen()) {
				// The event of the disconnection ends the wait at once; a look each
				// second ends the wait for certain.
				LockSupport.parkNanos(LOOK_NANOS);
			}
		}

		private StatefulRedisPubSubConnection<byte[], byte[]> subscriber() {
			return (StatefulRedisPubSubConnection<byte[], byte[]>) this.connection;
		}

		@Override
		public void close() {
			if (this.closed.compareAndSet(false, true)) {
				this.connection.closeAsync();
			}
		}

	}

}
