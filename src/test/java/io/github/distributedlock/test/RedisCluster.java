package io.github.distributedlock.test;

import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Predicate;
import java.util.stream.IntStream;
import java.util.stream.Stream;

import io.github.distributedlock.test.RedisServers.Server;
import org.awaitility.Awaitility;
import redis.clients.jedis.Jedis;
import redis.clients.jedis.util.JedisClusterCRC16;

/**
 * A cluster of masters, each with the same share of the slots in order, and with as many
 * replicas as one likes. The slots of a master that is down are not served until a
 * replica has taken its place, all others are.
 */
public final class RedisCluster implements AutoCloseable {

	private static final Duration PATIENCE = Duration.ofSeconds(60);

	private static final int SLOTS = 16_384;

	private static final String NODE_TIMEOUT = "cluster-node-timeout";

	/** Nodes tell each other the sooner what they know, the shorter it is. */
	private static final String QUICK = "2000";

	private static final String USUAL = "15000";

	private final List<Server> masters = new ArrayList<>();

	private final List<Server> replicas = new ArrayList<>();

	private RedisCluster() {
	}

	/**
	 * Starts a cluster of masters without replicas.
	 * @param name one of {@link RedisServers#names()}
	 * @param masters how many masters
	 * @param settings more lines for the configuration of each
	 * @return the cluster, to be closed
	 */
	public static RedisCluster start(String name, int masters, String... settings) {
		return start(name, Access.OPEN, masters, 0, settings);
	}

	/**
	 * Starts a cluster, and waits until each replica follows its master.
	 * @param name one of {@link RedisServers#names()}
	 * @param access who may talk to it
	 * @param masters how many masters
	 * @param replicas how many replicas each of them has
	 * @param settings more lines for the configuration of each
	 * @return the cluster, to be closed
	 */
	public static RedisCluster start(String name, Access access, int masters, int replicas, String... settings) {
		List<String> all = Stream.concat(Stream.of("cluster-enabled yes", "cluster-require-full-coverage no",
				"repl-diskless-sync-delay 0", NODE_TIMEOUT + " " + QUICK), Stream.of(settings))
			.toList();
		RedisCluster cluster = new RedisCluster();
		try {
			for (int i = 0; i < masters; i++) {
				cluster.masters.add(RedisServers.start(name, access, all));
			}
			for (int i = 0; i < masters * replicas; i++) {
				cluster.replicas.add(RedisServers.start(name, access, all));
			}
			cluster.join();
			return cluster;
		}
		catch (RuntimeException | Error ex) {
			cluster.close();
			throw ex;
		}
	}

	private void join() {
		List<Server> nodes = nodes();
		for (int i = 0; i < nodes.size(); i++) {
			try (Jedis node = nodes.get(i).admin()) {
				if (i < this.masters.size()) {
					node.clusterSetConfigEpoch(i + 1);
					node.clusterAddSlots(IntStream.range(firstSlot(i), firstSlot(i + 1)).toArray());
				}
				node.clusterMeet("127.0.0.1", nodes.get(0).port());
			}
		}
		awaitEach(nodes, (node) -> isComplete(node.clusterInfo(), nodes.size()));
		for (int i = 0; i < this.replicas.size(); i++) {
			try (Jedis replica = this.replicas.get(i).admin();
					Jedis master = this.masters.get(i % this.masters.size()).admin()) {
				replica.clusterReplicate(master.clusterMyId());
			}
		}
		awaitEach(this.replicas, (node) -> node.info("replication").contains("master_link_status:up"));
		awaitEach(nodes, (node) -> count(node.clusterNodes(), "slave") == this.replicas.size());
		for (Server server : nodes) {
			try (Jedis node = server.admin()) {
				if (node.configGet(NODE_TIMEOUT).get(NODE_TIMEOUT).equals(QUICK)) {
					node.configSet(NODE_TIMEOUT, USUAL);
				}
			}
		}
	}

	private static void awaitEach(List<Server> servers, Predicate<Jedis> condition) {
		for (Server server : servers) {
			try (Jedis admin = server.admin()) {
				Awaitility.await()
					.pollInSameThread()
					.pollInterval(Duration.ofMillis(50))
					.atMost(PATIENCE)
					.until(() -> condition.test(admin));
			}
		}
	}

	private int firstSlot(int master) {
		return SLOTS * master / this.masters.size();
	}

	private boolean isComplete(String info, int nodes) {
		return info.contains("cluster_state:ok") && info.contains("cluster_slots_ok:" + SLOTS)
				&& info.contains("cluster_size:" + this.masters.size())
				&& info.contains("cluster_known_nodes:" + nodes);
	}

	private static long count(String nodes, String flag) {
		return nodes.lines().filter((node) -> node.contains(flag)).count();
	}

	/**
	 * The servers that began as masters.
	 * @return the servers
	 */
	public List<Server> masters() {
		return List.copyOf(this.masters);
	}

	/**
	 * The server that began as the first replica of a master.
	 * @param master a server that began as a master
	 * @return the replica
	 */
	public Server replicaOf(Server master) {
		return this.replicas.get(this.masters.indexOf(master));
	}

	/**
	 * All servers, those that began as masters first.
	 * @return the servers
	 */
	public List<Server> nodes() {
		return Stream.concat(this.masters.stream(), this.replicas.stream()).toList();
	}

	/**
	 * The master that began with a key.
	 * @param redisKey the name of the key in Redis
	 * @return the master
	 */
	public Server masterOf(String redisKey) {
		int slot = slotOf(redisKey);
		int master = 0;
		while (firstSlot(master + 1) <= slot) {
			master++;
		}
		return this.masters.get(master);
	}

	/**
	 * The slot of a key.
	 * @param redisKey the name of the key in Redis
	 * @return the slot
	 */
	public static int slotOf(String redisKey) {
		return JedisClusterCRC16.getSlot(redisKey.getBytes(StandardCharsets.UTF_8));
	}

	@Override
	public void close() {
		nodes().forEach(Server::close);
	}

}
