package io.github.distributedlock.test;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Stream;

import io.github.distributedlock.test.RedisServers.Server;
import org.awaitility.Awaitility;
import redis.clients.jedis.Jedis;

/**
 * A master with its replicas.
 */
public final class RedisReplicas implements AutoCloseable {

	private static final Duration PATIENCE = Duration.ofSeconds(60);

	private final Server master;

	private final List<Server> replicas = new ArrayList<>();

	private RedisReplicas(Server master) {
		this.master = master;
	}

	/**
	 * Starts them, and waits until each replica has what the master has.
	 * @param name one of {@link RedisServers#names()}
	 * @param replicas how many replicas
	 * @param settings more lines for the configuration of each
	 * @return the servers, to be closed
	 */
	public static RedisReplicas start(String name, int replicas, String... settings) {
		return start(name, Access.OPEN, replicas, settings);
	}

	/**
	 * Starts servers that are not open to everybody, and waits until each replica has
	 * what the master has.
	 * @param name one of {@link RedisServers#names()}
	 * @param access who may talk to them
	 * @param replicas how many replicas
	 * @param settings more lines for the configuration of each
	 * @return the servers, to be closed
	 */
	public static RedisReplicas start(String name, Access access, int replicas, String... settings) {
		List<String> all = with(List.of(settings), "repl-diskless-sync-delay 0", "repl-ping-replica-period 1");
		RedisReplicas servers = new RedisReplicas(RedisServers.start(name, access, all));
		try {
			for (int i = 0; i < replicas; i++) {
				servers.replicas
					.add(RedisServers.start(name, access, with(all, "replicaof 127.0.0.1 " + servers.master.port())));
			}
			servers.awaitReplicas();
			return servers;
		}
		catch (RuntimeException | Error ex) {
			servers.close();
			throw ex;
		}
	}

	/**
	 * Waits until all replicas follow the master, for example after one was down.
	 */
	public void awaitReplicas() {
		try (Jedis admin = this.master.admin()) {
			Awaitility.await()
				.pollInSameThread()
				.pollInterval(Duration.ofMillis(50))
				.atMost(PATIENCE)
				.until(() -> acknowledge(admin) == this.replicas.size());
		}
	}

	// One that is online may still be loading what it was sent first.
	private long acknowledge(Jedis admin) {
		admin.set("replicas", "follow");
		admin.del("replicas");
		return admin.waitReplicas(this.replicas.size(), 100);
	}

	private static List<String> with(List<String> settings, String... more) {
		return Stream.concat(settings.stream(), Stream.of(more)).toList();
	}

	/**
	 * The server that began as the master.
	 * @return the server
	 */
	public Server master() {
		return this.master;
	}

	/**
	 * The servers that began as replicas.
	 * @return the servers
	 */
	public List<Server> replicas() {
		return List.copyOf(this.replicas);
	}

	@Override
	public void close() {
		this.replicas.forEach(Server::close);
		this.master.close();
	}

}
