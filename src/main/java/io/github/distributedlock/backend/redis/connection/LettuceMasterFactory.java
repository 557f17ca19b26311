package io.github.distributedlock.backend.redis.connection;

import java.util.List;
import java.util.Objects;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.ConcurrentHashMap;

import io.github.distributedlock.backend.redis.atomic.Replicas;
import io.github.distributedlock.backend.redis.wire.KeyNames;
import io.github.distributedlock.backend.redis.wire.RedisRefusal;
import io.lettuce.core.AbstractRedisClient;
import io.lettuce.core.RedisClient;
import io.lettuce.core.RedisConnectionException;
import io.lettuce.core.RedisException;
import io.lettuce.core.RedisURI;
import io.lettuce.core.api.StatefulConnection;
import io.lettuce.core.api.StatefulRedisConnection;
import io.lettuce.core.codec.RedisCodec;
import io.lettuce.core.pubsub.StatefulRedisPubSubConnection;
import org.jspecify.annotations.Nullable;

import org.springframework.data.redis.connection.RedisConfiguration;
import org.springframework.data.redis.connection.RedisNode;
import org.springframework.data.redis.connection.RedisPassword;
import org.springframework.data.redis.connection.RedisStandaloneConfiguration;
import org.springframework.data.redis.connection.RedisStaticMasterReplicaConfiguration;
import org.springframework.data.redis.connection.lettuce.LettuceClientConfiguration;
import org.springframework.data.redis.connection.lettuce.LettuceConnectionFactory;
import org.springframework.data.redis.connection.lettuce.LettuceConnectionProvider;

/**
 * Connects to that one of a list of servers which is the master at that moment, to the
 * master of a single one, or to that which Sentinels name.
 * <p>
 * Lettuce's own connection to such a list cannot subscribe, asks for the roles but once,
 * and looks open when the one to the master is closed, so that no other would be opened.
 * Its connection to a master that Sentinels have replaced stays. Ours are closed then, so
 * that others are opened.
 */
final class LettuceMasterFactory extends LettuceConnectionFactory {

	/** Replicas of replicas that are passed on the way to the master. */
	private static final int MOST_HOPS = 4;

	private final RedisConfiguration servers;

	private final @Nullable SentinelMaster sentinels;

	/** Those to the master that Sentinels name. */
	private final Set<StatefulConnection<?, ?>> opened = ConcurrentHashMap.newKeySet();

	/**
	 * Creates the factory.
	 * @param servers Sentinels, a list of servers, or one that is the master or a replica
	 * @param settings the settings
	 * @param sentinels tells the master, if they are Sentinels
	 */
	LettuceMasterFactory(RedisConfiguration servers, LettuceClientConfiguration settings,
			@Nullable SentinelMaster sentinels) {
		super(servers, settings);
		this.servers = servers;
		this.sentinels = sentinels;
	}

	/**
	 * Leaves a master that Sentinels have replaced. Does not block.
	 */
	void leave() {
		// Not one that is added meanwhile, which may lead to the new one.
		this.opened.removeIf((connection) -> {
			LettuceSignalLine.disconnect(connection);
			return true;
		});
	}

	private <T extends StatefulConnection<?, ?>> T connectToNamed(SentinelMaster sentinels, Provider provider,
			Class<T> type) {
		RedisNode master = sentinels.get();
		StatefulRedisConnection<?, ?> connection = provider.connect(type,
				address(String.valueOf(master.getHost()), Objects.requireNonNull(master.getPort())));
		this.opened.removeIf((other) -> !other.isOpen());
		this.opened.add(connection);
		if (sentinels.of(0) != master) {
			connection.closeAsync();
			throw new RedisConnectionException("Sentinels have replaced " + master + " meanwhile");
		}
		return type.cast(connection);
	}

	@Override
	protected LettuceConnectionProvider doCreateConnectionProvider(AbstractRedisClient client, RedisCodec<?, ?> codec) {
		SentinelMaster sentinels = this.sentinels;
		if (sentinels != null) {
			Provider provider = new Provider((RedisClient) client, codec, List.of(), 0);
			return new LettuceConnectionProvider() {

				@Override
				public <T extends StatefulConnection<?, ?>> T getConnection(Class<T> type) {
					return connectToNamed(sentinels, provider, type);
				}

				@Override
				public <T extends StatefulConnection<?, ?>> CompletionStage<T> getConnectionAsync(Class<T> type) {
					return CompletableFuture.supplyAsync(() -> getConnection(type), Runnable::run);
				}

			};
		}
		if (this.servers instanceof RedisStaticMasterReplicaConfiguration list) {
			List<RedisURI> all = list.getNodes()
				.stream()
				.map((node) -> address(node.getHostName(), node.getPort()))
				.toList();
			return new Provider((RedisClient) client, codec, all, 0);
		}
		RedisStandaloneConfiguration one = (RedisStandaloneConfiguration) this.servers;
		return new Provider((RedisClient) client, codec, List.of(address(one.getHostName(), one.getPort())), MOST_HOPS);
	}

	private RedisURI address(String host, int port) {
		LettuceClientConfiguration settings = getClientConfiguration();
		RedisURI.Builder address = RedisURI.Builder.redis(host, port)
			.withDatabase(getDatabase())
			.withTimeout(settings.getCommandTimeout())
			.withSsl(settings.isUseSsl())
			.withVerifyPeer(settings.getVerifyMode())
			.withStartTls(settings.isStartTls());
		settings.getClientName().ifPresent(address::withClientName);
		RedisConfiguration.getPasswordOrElse(this.servers, RedisPassword::none).toOptional().ifPresent((password) -> {
			String user = ((RedisConfiguration.WithAuthentication) this.servers).getUsername();
			if (user != null && !user.isEmpty()) {
				address.withAuthentication(user, password);
			}
			else {
				address.withPassword(password);
			}
		});
		settings.getRedisCredentialsProviderFactory()
			.ifPresent((factory) -> address.withAuthentication(factory.createCredentialsProvider(this.servers)));
		return address.build();
	}

	/**
	 * Opens connections to the master.
	 *
	 * @param client the client
	 * @param codec the codec
	 * @param servers where to begin
	 * @param hops how often a replica is asked for its own master
	 */
	private record Provider(RedisClient client, RedisCodec<?, ?> codec, List<RedisURI> servers,
			int hops) implements LettuceConnectionProvider {

		@Override
		public <T extends StatefulConnection<?, ?>> T getConnection(Class<T> type) {
			RedisException failure = new RedisConnectionException("None of " + this.servers + " is a master");
			RedisException refusal = null;
			for (RedisURI server : this.servers) {
				try {
					StatefulRedisConnection<?, ?> connection = connectToMaster(type, server, this.hops);
					if (connection != null) {
						return type.cast(connection);
					}
				}
				catch (RedisException ex) {
					failure.addSuppressed(ex);
					refusal = (RedisRefusal.of(ex) != null) ? ex : refusal;
				}
			}
			throw (refusal != null) ? refusal : failure;
		}

		private @Nullable StatefulRedisConnection<?, ?> connectToMaster(Class<?> type, RedisURI server, int hops) {
			StatefulRedisConnection<?, ?> connection = connect(type, server);
			boolean kept = false;
			try {
				List<Object> role = roleOf(connection);
				kept = role.isEmpty() || isText("master", role);
				if (hops > 0 && isText("slave", role)) {
					return connectToMaster(type, masterIn(role, server), hops - 1);
				}
			}
			finally {
				if (!kept) {
					connection.closeAsync();
				}
			}
			return kept ? connection : null;
		}

		// Nothing of a single server that does not tell: it is used as it is.
		private List<Object> roleOf(StatefulRedisConnection<?, ?> connection) {
			try {
				return connection.sync().role();
			}
			catch (RedisException ex) {
				if (this.hops > 0 && RedisRefusal.of(ex) != null) {
					return List.of();
				}
				throw ex;
			}
		}

		private static boolean isText(String expected, List<Object> role) {
			return !role.isEmpty() && role.get(0) instanceof byte[] word && KeyNames.text(word).equals(expected);
		}

		private static RedisURI masterIn(List<Object> role, RedisURI replica) {
			return RedisURI.builder(replica)
				.withHost(KeyNames.text((byte[]) role.get(1)))
				.withPort(Math.toIntExact((Long) role.get(2)))
				.build();
		}

		private StatefulRedisConnection<?, ?> connect(Class<?> type, RedisURI server) {
			return (type == StatefulRedisPubSubConnection.class) ? this.client.connectPubSub(this.codec, server)
					: this.client.connect(this.codec, server);
		}

		@Override
		public <T extends StatefulConnection<?, ?>> CompletionStage<T> getConnectionAsync(Class<T> type) {
			// By the thread that asks: the common pool may have but one thread, which may
			// be blocked.
			return CompletableFuture.supplyAsync(() -> getConnection(type), Runnable::run);
		}

	}

}
