package io.github.distributedlock.backend.redis;

import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.UUID;
import java.util.function.Function;
import java.util.stream.Stream;

import io.github.distributedlock.fixtures.Client;
import io.github.distributedlock.fixtures.Lazy;
import io.github.distributedlock.fixtures.Patience;
import io.github.distributedlock.fixtures.RedisServers.Server;
import io.github.distributedlock.fixtures.SelfSigned;
import io.github.distributedlock.fixtures.Variant;
import redis.clients.jedis.Jedis;

/**
 * One way to reach locks: the servers that the application was told of, and the client
 * that reaches them. The two backends are those of two JVMs.
 */
final class TopologyCase {

	/** On a busy machine no command is to fail that would have been answered. */
	private static final Duration PATIENCE = Patience.COMMAND;

	private final Topology topology;

	private final Client client;

	private final GuardedServers servers;

	private final Lazy<RedisLockBackend> here = new Lazy<>(this::backend, RedisLockBackend::close);

	private final Lazy<RedisLockBackend> there = new Lazy<>(this::backend, RedisLockBackend::close);

	TopologyCase(Topology topology, Client client, GuardedServers servers) {
		this.topology = topology;
		this.client = client;
		this.servers = servers;
	}

	RedisLockBackend here() {
		return this.here.get();
	}

	RedisLockBackend there() {
		return this.there.get();
	}

	Topology topology() {
		return this.topology;
	}

	private RedisLockBackend backend() {
		return backend("locks");
	}

	/**
	 * Makes another backend.
	 * @param name the name that the application gives to its connections
	 * @return the backend, to be closed
	 */
	RedisLockBackend backend(String name) {
		return backend(name, this.servers.access().certificate(), PATIENCE);
	}

	/**
	 * Makes a backend that trusts another certificate than that of the servers.
	 * @param trusted the certificate
	 * @return the backend, to be closed
	 */
	RedisLockBackend mistrusting(SelfSigned trusted) {
		return backend("mistrusting", Optional.of(trusted), RedisLockSettings.defaults().commandTimeout());
	}

	private RedisLockBackend backend(String name, Optional<SelfSigned> trusted, Duration timeout) {
		return new RedisLockBackend(this.client.connectTo(this.topology.of(this.servers), name, trusted),
				Variant.settings().commandTimeout(timeout));
	}

	boolean isEncrypted() {
		return this.servers.access().certificate().isPresent();
	}

	/**
	 * Returns the value of a lock at its master.
	 * @param key the key of the lock
	 * @return the value
	 */
	String value(String key) {
		return atMaster(key, (master) -> master.get(redisKey(key)));
	}

	/**
	 * Returns for how long the master of a lock will keep the lock.
	 * @param key the key of the lock
	 * @return the milliseconds
	 */
	long millisLeft(String key) {
		return atMaster(key, (master) -> master.pttl(redisKey(key)));
	}

	private <T> T atMaster(String key, Function<Jedis, T> question) {
		try (Jedis admin = this.topology.masterOf(this.servers, redisKey(key)).admin()) {
			admin.select(this.topology.database());
			return question.apply(admin);
		}
	}

	private static String redisKey(String key) {
		return KeyNames.text(new KeyNames(RedisLockSettings.defaults().prefix()).lock(key));
	}

	/**
	 * The lines that the servers have of the connections of some name.
	 * @param name the name
	 * @return the lines
	 */
	List<String> connections(String name) {
		return this.topology.nodes(this.servers).stream().flatMap((server) -> {
			try (Jedis admin = server.admin()) {
				return admin.clientList().lines().filter((line) -> line.contains("name=" + name + " "));
			}
		}).toList();
	}

	/**
	 * The servers that are no masters.
	 * @return the servers
	 */
	List<Server> replicas() {
		return this.topology.nodes(this.servers).stream().filter((server) -> {
			try (Jedis admin = server.admin()) {
				return admin.info("replication").contains("role:slave");
			}
		}).toList();
	}

	static Stream<String> keys() {
		String some = UUID.randomUUID().toString();
		return Stream
			.of("plain", "a{tag}", "{tag}b", "{", "}", "}{", "{}", "{}c", "a}b{c", "{{d}}", "100%", "два слова")
			.map((key) -> key + some);
	}

	void end() {
		this.here.end();
		this.there.end();
	}

	@Override
	public String toString() {
		return this.topology + " by " + this.client + (isEncrypted() ? ", TLS" : "");
	}

}
