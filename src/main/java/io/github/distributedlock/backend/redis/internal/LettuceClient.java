package io.github.distributedlock.backend.redis.internal;

import java.time.Duration;
import java.util.Objects;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.locks.LockSupport;
import java.util.function.BooleanSupplier;
import java.util.function.Function;
import java.util.function.Supplier;
import java.util.stream.Stream;

import io.github.distributedlock.backend.redis.internal.Command.Verb;
import io.github.distributedlock.internal.Uninterrupted;
import io.lettuce.core.ClientOptions;
import io.lettuce.core.ConnectionFuture;
import io.lettuce.core.RedisChannelHandler;
import io.lettuce.core.RedisClient;
import io.lettuce.core.RedisConnectionException;
import io.lettuce.core.RedisConnectionStateListener;
import io.lettuce.core.RedisCredentials;
import io.lettuce.core.RedisCredentialsProvider;
import io.lettuce.core.RedisCredentialsProvider.ImmediateRedisCredentialsProvider;
import io.lettuce.core.RedisURI;
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
import org.springframework.data.redis.connection.RedisConfiguration;
import org.springframework.data.redis.connection.RedisConfiguration.ClusterConfiguration;
import org.springframework.data.redis.connection.RedisConfiguration.DomainSocketConfiguration;
import org.springframework.data.redis.connection.RedisConfiguration.WithHostAndPort;
import org.springframework.data.redis.connection.RedisNode;
import org.springframework.data.redis.connection.RedisPassword;
import org.springframework.data.redis.connection.RedisSentinelConfiguration;
import org.springframework.data.redis.connection.RedisStandaloneConfiguration;
import org.springframework.data.redis.connection.lettuce.LettuceClientConfiguration;
import org.springframework.data.redis.connection.lettuce.LettuceConnectionFactory;
import org.springframework.data.redis.connection.lettuce.RedisCredentialsProviderFactory;
import org.springframework.util.StringUtils;
import org.springframework.util.function.SingletonSupplier;

/**
 * Derives connections from the application's Lettuce factory. The connections share the
 * client resources, and so the threads, that the application gave to the factory, if any.
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

	private final Supplier<RedisCredentialsProvider> credentials;

	/** The client of all servers, {@code null} until the first connection. */
	private @Nullable RedisClient client;

	/** The threads of the client, if the application has given none. */
	private @Nullable ClientResources resources;

	private boolean closed;

	private LettuceClient(LettuceConnectionFactory application, Duration timeout) {
		this.application = application;
		this.server = serverOf(application);
		this.timeout = timeout;
		// The application's factory of credentials is asked for the server that the
		// application has configured, and not for a node or for the present master.
		this.credentials = SingletonSupplier
			.of(() -> provider((factory) -> factory.createCredentialsProvider(this.server),
					() -> credentials(RedisConfiguration.getUsernameOrElse(this.server, () -> null),
							RedisConfiguration.getPasswordOrElse(this.server, RedisPassword::none))));
		this.sentinels = (this.server instanceof RedisSentinelConfiguration servers)
				? new SentinelMaster(servers, sentinels(servers), timeout) : null;
		this.opener = new BoundedOpener(BoundedOpener.time(timeout));
	}

	static OwnConnections derive(Object application, Duration timeout) {
		LettuceClient client = new LettuceClient((LettuceConnectionFactory) application, timeout);
		boolean tls = client.application.getClientConfiguration().isUseSsl();
		if (client.server instanceof ClusterConfiguration cluster) {
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
		if (!(server instanceof WithHostAndPort || server instanceof DomainSocketConfiguration
				|| server instanceof RedisSentinelConfiguration || server instanceof ClusterConfiguration)) {
			throw OwnConnections.refusal(server.getClass().getName() + " does not tell them where the master is",
					"set spring.data.redis.host and spring.data.redis.port to the master,"
							+ " or spring.data.redis.sentinel.nodes and spring.data.redis.sentinel.master to Sentinels;"
							+ " or define a bean of " + application.getClass().getName()
							+ " that does, and name it with distributed-lock.redis.connection-factory");
		}
		return server;
	}

	private ClusterLane lane(ClusterConfiguration cluster) {
		return new ClusterLane(ClusterLane.seeds(cluster), this::lane, this.timeout);
	}

	private LettuceLane lane(String node) {
		BoundedOpener opener = new BoundedOpener(BoundedOpener.time(this.timeout));
		return new LettuceLane(() -> link(opened(opener, uri(node), LettuceClient::commands), () -> true),
				this.timeout);
	}

	private SignalConnector signals(ClusterLane cluster) {
		return () -> cluster.atAnyMaster(
				(node) -> new Connected(opened(uri(node), LettuceClient::subscriptions), cluster, new AtomicBoolean()));
	}

	private LettuceLink connect() {
		RedisNode master = namedMaster();
		return link(opened(uriNow(master), LettuceClient::commands), () -> master == namedMaster());
	}

	private LettuceLink link(StatefulRedisConnection<byte[], byte[]> connection, BooleanSupplier leadsToMaster) {
		return new LettuceLink(connection, this.timeout, leadsToMaster);
	}

	private @Nullable RedisNode namedMaster() {
		return (this.sentinels != null) ? this.sentinels.get() : null;
	}

	private RedisURI uriNow(@Nullable RedisNode master) {
		if (this.server instanceof DomainSocketConfiguration socket) {
			return uri(RedisURI.Builder.socket(socket.getSocket()));
		}
		WithHostAndPort one = (master != null) ? SentinelMaster.standalone(master) : (WithHostAndPort) this.server;
		return uri(named(one.getHostName(), one.getPort()));
	}

	private RedisURI uri(String node) {
		int colon = node.lastIndexOf(':'); // An address of IPv6 has more colons.
		return uri(named(node.substring(0, colon), Integer.parseInt(node.substring(colon + 1))));
	}

	private RedisURI uri(RedisURI.Builder server) {
		return server.withAuthentication(this.credentials.get())
			.withDatabase(RedisConfiguration.getDatabaseOrElse(this.server, () -> 0))
			.withTimeout(BoundedOpener.time(this.timeout))
			.build();
	}

	private RedisURI.Builder named(String host, int port) {
		LettuceClientConfiguration settings = this.application.getClientConfiguration();
		RedisURI.Builder server = RedisURI.Builder.redis(host, port)
			.withSsl(settings.isUseSsl())
			.withVerifyPeer(settings.getVerifyMode())
			.withStartTls(settings.isStartTls());
		settings.getClientName().ifPresent(server::withClientName);
		return server;
	}

	@Override
	public SignalConnection open() {
		return connected(opened(uriNow(namedMaster()), LettuceClient::subscriptions));
	}

	// The connection is of the same kind as the connections of the lanes: Lettuce needs
	// 70 ms to load the other kind.
	@Override
	public SignalConnection openForCommands() {
		return connected(opened(uriNow(namedMaster()), LettuceClient::commands));
	}

	private Connected connected(StatefulRedisConnection<byte[], byte[]> connection) {
		return new Connected(connection, link(connection, () -> true), new AtomicBoolean());
	}

	private Function<RedisStandaloneConfiguration, SignalConnector> sentinels(RedisSentinelConfiguration servers) {
		Supplier<RedisCredentialsProvider> credentials = SingletonSupplier
			.of(() -> provider((factory) -> factory.createSentinelCredentialsProvider(servers),
					() -> credentials(servers.getSentinelUsername(), servers.getSentinelPassword())));
		return (sentinel) -> () -> connected(
				opened(named(sentinel.getHostName(), sentinel.getPort()).withAuthentication(credentials.get())
					.withTimeout(BoundedOpener.time(this.timeout))
					.build(), LettuceClient::commands));
	}

	/**
	 * Returns the provider of the application's factory, if there is such a factory.
	 * @param configured gives each connection the credentials that the application's
	 * configuration has by then
	 */
	private RedisCredentialsProvider provider(
			Function<RedisCredentialsProviderFactory, @Nullable RedisCredentialsProvider> given,
			ImmediateRedisCredentialsProvider configured) {
		return this.application.getClientConfiguration()
			.getRedisCredentialsProviderFactory()
			.map(given)
			.orElse(configured);
	}

	// A user without a password logs in with an empty password.
	private static RedisCredentials credentials(@Nullable String user, RedisPassword password) {
		boolean named = StringUtils.hasText(user);
		return RedisCredentials.just(named ? user : null, password.toOptional().orElse(named ? new char[0] : null));
	}

	private synchronized RedisClient client() {
		Lane.requireOpen(this.closed);
		RedisClient client = this.client;
		if (client == null) {
			LettuceClientConfiguration settings = this.application.getClientConfiguration();
			client = RedisClient.create(settings.getClientResources().orElseGet(this::resources));
			client.setOptions(options(settings.getClientOptions().orElseGet(ClientOptions::create)));
			this.client = client;
		}
		return client;
	}

	private ClientResources resources() {
		ClientResources resources = ClientResources.create();
		this.resources = resources;
		return resources;
	}

	private <C extends StatefulRedisConnection<byte[], byte[]>> C opened(RedisURI uri, Kind<C> kind) {
		return opened(this.opener, uri, kind);
	}

	// A connection counts as open once the server has answered a PING. Any answer will
	// do, even a refusal of PING.
	private <C extends StatefulRedisConnection<byte[], byte[]>> C opened(BoundedOpener opener, RedisURI uri,
			Kind<C> kind) {
		RedisClient client = client();
		return untilReady(() -> opener.open(() -> {
			C connection = await(kind.of(client, uri));
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

	// The wait is bounded, since Lettuce may never tell what has become of a connection
	// once its client, or the threads of the client, have ended.
	private <C extends StatefulRedisConnection<byte[], byte[]>> C await(ConnectionFuture<C> opening) {
		try {
			return Uninterrupted.get(opening, BoundedOpener.time(this.timeout).toNanos());
		}
		catch (TimeoutException ex) {
			opening.thenAccept(StatefulConnection::closeAsync);
			throw new UnsentException("the client has not opened a connection in time", ex);
		}
		catch (ExecutionException ex) {
			throw RedisConnectionException.create(ex.getCause());
		}
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

	// A connection that reconnects sends pending commands again, and a SET NX that had
	// succeeded would answer that the lock is busy. Lettuce also waits for up to 30 s
	// before a reconnect. So these connections do not reconnect; lanes open new
	// connections. Each thread watches the time of its own command, while Lettuce would
	// set a timer for each command. Each thread waits for its own commands, so the number
	// of commands needs no bound.
	private ClientOptions options(ClientOptions application) {
		SocketOptions socket = application.getSocketOptions()
			.mutate()
			.connectTimeout(BoundedOpener.time(this.timeout))
			.build();
		return application.mutate()
			.autoReconnect(false)
			.requestQueueSize(Integer.MAX_VALUE)
			.timeoutOptions(TimeoutOptions.create())
			.socketOptions(socket)
			.build();
	}

	// Lettuce waits without bound for the event loops when a client ends.
	private synchronized void close() {
		this.closed = true;
		RedisClient client = this.client;
		ClientResources own = this.resources;
		if (client == null) {
			return;
		}
		BoundedOpener.end(() -> {
			try {
				client.shutdown(Duration.ZERO, this.application.getClientConfiguration().getShutdownTimeout());
			}
			finally {
				if (own != null) {
					own.shutdown(0, 2, TimeUnit.SECONDS).syncUninterruptibly();
				}
			}
		});
	}

	private static ConnectionFuture<StatefulRedisConnection<byte[], byte[]>> commands(RedisClient client,
			RedisURI uri) {
		return client.connectAsync(ByteArrayCodec.INSTANCE, uri);
	}

	private static ConnectionFuture<StatefulRedisPubSubConnection<byte[], byte[]>> subscriptions(RedisClient client,
			RedisURI uri) {
		return client.connectPubSubAsync(ByteArrayCodec.INSTANCE, uri);
	}

	/** Begins to open a connection. */
	private interface Kind<C> {

		ConnectionFuture<C> of(RedisClient client, RedisURI uri);

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
