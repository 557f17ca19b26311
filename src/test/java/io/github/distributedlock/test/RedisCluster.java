package io.github.distributedlock.test;

import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.IntStream;
import java.util.stream.Stream;

import io.github.distributedlock.test.RedisServers.Server;
import org.awaitility.Awaitility;
import redis.clients.jedis.Jedis;
import redis.clients.jedis.util.JedisClusterCRC16;

/**
 * A cluster of masters without replicas, each with the same share of the slots in order.
 * The slots of a master that is down are not served, all others are.
 */
public final class RedisCluster implements AutoCloseable {

	private static final Duration PATIENCE = Duration.ofSeconds(30);

	private static final int SLOTS = 16_384;

	private final List<Server> masters = new ArrayList<>();

	private RedisCluster() {
	}

	/**
	 * Starts a cluster.
	 * @param name one of {@link RedisServers#names()}
	 * @param masters how many masters
	 * @param settings more lines for the configuration of each
	 * @return the cluster, to be closed
	 */
	public static RedisCluster start(String name, int masters, String... settings) {
		String[] all = Stream
			.concat(Stream.of("cluster-enabled yes", "cluster-require-full-coverage no"), Stream.of(settings))
			.toArray(String[]::new);
		RedisCluster cluster = new RedisCluster();
		try {
			for (int i = 0; i < masters; i++) {
				cluster.masters.add(RedisServers.start(name, all));
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
		for (int i = 0; i < this.masters.size(); i++) {
			try (Jedis master = this.masters.get(i).admin()) {
				master.clusterSetConfigEpoch(i + 1);
				master.clusterAddSlots(IntStream.range(firstSlot(i), firstSlot(i + 1)).toArray());
				master.clusterMeet("127.0.0.1", this.masters.get(0).port());
			}
		}
		for (Server server : this.masters) {
			try (Jedis master = server.admin()) {
				Awaitility.await()
					.pollInSameThread()
					.pollInterval(Duration.ofMillis(50))
					.atMost(PATIENCE)
					.until(() -> isComplete(master.clusterInfo()));
			}
		}
	}

	private int firstSlot(int master) {
		return SLOTS * master / this.masters.size();
	}

	private boolean isComplete(String info) {
		return info.contains("cluster_state:ok") && info.contains("cluster_slots_ok:" + SLOTS)
				&& info.contains("cluster_size:" + this.masters.size());
	}

	public List<Server> masters() {
		return List.copyOf(this.masters);
	}

	/**
	 * The master that serves a key.
	 * @param redisKey the name of the key in Redis
	 * @return the master
	 */
	public Server masterOf(String redisKey) {
		int slot = JedisClusterCRC16.getSlot(redisKey.getBytes(StandardCharsets.UTF_8));
		int master = 0;
		while (firstSlot(master + 1) <= slot) {
			master++;
		}
		return this.masters.get(master);
	}

	@Override
	public void close() {
		this.masters.forEach(Server::close);
	}

}
