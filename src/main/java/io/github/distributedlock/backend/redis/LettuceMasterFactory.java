package io.github.distributedlock.backend.redis;

import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;

import io.lettuce.core.AbstractRedisClient;
import io.lettuce.core.RedisClient;
import io.lettuce.core.RedisConnectionException;
import io.lettuce.core.RedisException;
import io.lettuce.core.RedisURI;
import io.lettuce.core.api.StatefulConnection;
import io.lettuce.core.api.StatefulRedisConnection;
import io.lettuce.core.codec.RedisCodec;
import io.lettuce.core.pubsub.StatefulRedisPubSubConnection;

import org.springframework.data.redis.connection.RedisStandaloneConfiguration;
import org.springframework.data.redis.connection.RedisStaticMasterReplicaConfiguration;
import org.springframework.data.redis.connection.lettuce.LettuceClientConfiguration;
import org.springframework.data.redis.connection.lettuce.LettuceConnectionFactory;
import org.springframework.data.redis.connection.lettuce.LettuceConnectionProvider;

/**
 * Connects to that one of a list of servers which is the master at that moment.
 * <p>
 * Lettuce's own connection to such a list cannot subscribe, asks for the roles but once,
 * and looks open when that to the master is closed, so that nobody would open another.
 */
final class LettuceMasterFactory extends LettuceConnectionFactory {

	private final RedisStaticMasterReplicaConfiguration servers;

	LettuceMasterFactory(RedisStaticMasterReplicaConfiguration servers, LettuceClientConfiguration settings) {
		super(servers, settings);
		this.servers = servers;
	}

	@Override
	protected LettuceConnectionProvider doCreateConnectionProvider(AbstractRedisClient client, RedisCodec<?, ?> codec) {
		return new Provider((RedisClient) client, codec, this.servers.getNodes().stream().map(this::address).toList());
	}

	private RedisURI address(RedisStandaloneConfiguration server) {
		LettuceClientConfiguration settings = getClientConfiguration();
		RedisURI.Builder address = RedisURI.Builder.redis(server.getHostName(), server.getPort())
			.withDatabase(this.servers.getDatabase())
			.withTimeout(settings.getCommandTimeout())
			.withSsl(settings.isUseSsl())
			.withVerifyPeer(settings.getVerifyMode())
			.withStartTls(settings.isStartTls());
		settings.getClientName().ifPresent(address::withClientName);
		this.servers.getPassword().toOptional().ifPresent((password) -> {
			String user = this.servers.getUsername();
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

	private record Provider(RedisClient client, RedisCodec<?, ?> codec,
			List<RedisURI> servers) implements LettuceConnectionProvider {

		@Override
		public <T extends StatefulConnection<?, ?>> T getConnection(Class<T> type) {
			RedisException failure = new RedisConnectionException("None of " + this.servers + " is a master");
			RedisException refusal = null;
			for (RedisURI server : this.servers) {
				try {
					StatefulRedisConnection<?, ?> connection = connect(type, server);
					if (isToMaster(connection)) {
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

		private static boolean isToMaster(StatefulRedisConnection<?, ?> connection) {
			boolean master = false;
			try {
				master = connection.sync().role().get(0) instanceof byte[] role && KeyNames.text(role).equals("master");
				return master;
			}
			finally {
				if (!master) {
					connection.closeAsync();
				}
			}
		}

		private StatefulRedisConnection<?, ?> connect(Class<?> type, RedisURI server) {
			return (type == StatefulRedisPubSubConnection.class) ? this.client.connectPubSub(this.codec, server)
					: this.client.connect(this.codec, server);
		}

		@Override
		public <T extends StatefulConnection<?, ?>> CompletionStage<T> getConnectionAsync(Class<T> type) {
			return CompletableFuture.supplyAsync(() -> getConnection(type));
		}

	}

}
