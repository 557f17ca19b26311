package io.github.distributedlock.test;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;

import io.github.distributedlock.test.RedisServers.Server;
import org.awaitility.Awaitility;
import redis.clients.jedis.Jedis;

/**
 * A master with its replicas under three Sentinels, of which two have to agree that it is
 * down. They think so after one second without an answer.
 */
public final class RedisSentinels implements AutoCloseable {

	/** The name that the Sentinels know the master by. */
	public static final String MASTER = "locks";

	private static final Duration PATIENCE = Duration.ofSeconds(60);

	private static final int SENTINELS = 3;

	private final RedisReplicas servers;

	private final List<Server> sentinels = new ArrayList<>();

	private RedisSentinels(RedisReplicas servers) {
		this.servers = servers;
	}

	/**
	 * Starts them, and waits until all know each other.
	 * @param name one of {@link RedisServers#names()}
	 * @param replicas how many replicas
	 * @param settings more lines for the configuration of the master and each replica
	 * @return the servers, to be closed
	 */
	public static RedisSentinels start(String name, int replicas, String... settings) {
		return start(name, Access.OPEN, Access.OPEN, replicas, settings);
	}

	/**
	 * Starts servers that are not open to everybody, and waits until all know each other.
	 * @param name one of {@link RedisServers#names()}
	 * @param data who may talk to the master and the replicas
	 * @param sentinels who may talk to the Sentinels; with TLS if the others have it
	 * @param replicas how many replicas
	 * @param settings more lines for the configuration of the master and each replica
	 * @return the servers, to be closed
	 */
	public static RedisSentinels start(String name, Access data, Access sentinels, int replicas, String... settings) {
		RedisSentinels started = new RedisSentinels(RedisReplicas.start(name, data, replicas, settings));
		try {
			List<String> watched = new ArrayList<>(
					List.of("sentinel monitor " + MASTER + " 127.0.0.1 " + started.servers.master().port() + " 2",
							"sentinel down-after-milliseconds " + MASTER + " 1000",
							"sentinel failover-timeout " + MASTER + " 5000"));
			watched.addAll(data.watching(MASTER));
			for (int i = 0; i < SENTINELS; i++) {
				started.sentinels.add(RedisServers.sentinel(name, sentinels, watched));
			}
			started.sentinels.forEach((sentinel) -> awaitAll(sentinel, replicas));
			return started;
		}
		catch (RuntimeException | Error ex) {
			started.close();
			throw ex;
		}
	}

	private static void awaitAll(Server sentinel, int replicas) {
		Map<String, String> expected = Map.of("num-other-sentinels", String.valueOf(SENTINELS - 1), "num-slaves",
				String.valueOf(replicas), "flags", "master");
		try (Jedis admin = sentinel.admin()) {
			Awaitility.await()
				.pollInSameThread()
				.pollInterval(Duration.ofMillis(100))
				.atMost(PATIENCE)
				.until(() -> admin.sentinelMaster(MASTER).entrySet().containsAll(expected.entrySet()));
		}
	}

	/**
	 * The master and its replicas, in the roles in which they began.
	 * @return the servers
	 */
	public RedisReplicas servers() {
		return this.servers;
	}

	public List<Server> sentinels() {
		return List.copyOf(this.sentinels);
	}

	/**
	 * The server that is the master now, as the first Sentinel says.
	 * @return the server
	 */
	public Server master() {
		try (Jedis sentinel = this.sentinels.get(0).admin()) {
			int port = Integer.parseInt(sentinel.sentinelGetMasterAddrByName(MASTER).get(1));
			return Stream.concat(Stream.of(this.servers.master()), this.servers.replicas().stream())
				.filter((server) -> server.port() == port)
				.findFirst()
				.orElseThrow();
		}
	}

	@Override
	public void close() {
		this.sentinels.forEach(Server::close);
		this.servers.close();
	}

}
