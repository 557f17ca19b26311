package io.github.distributedlock.backend.redis.internal;

import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Collections;
import java.util.HashSet;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.Function;

import io.github.distributedlock.backend.redis.internal.Command.Verb;
import io.github.distributedlock.internal.DaemonThreads;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

import org.springframework.core.task.SimpleAsyncTaskExecutor;
import org.springframework.dao.DataAccessException;
import org.springframework.data.redis.RedisConnectionFailureException;
import org.springframework.data.redis.connection.ClusterSlotHashUtil;
import org.springframework.data.redis.connection.RedisConfiguration.ClusterConfiguration;

/**
 * Sends commands to the nodes of a cluster. Each node has a lane of its own, so that a
 * node that stalls costs no command for another node, and a connection that does not
 * answer is replaced as with one server. The clients' own support for clusters is not
 * used: both clients reopen connections by rules of their own, or not at all.
 * <p>
 * A node says where the slots are ({@code CLUSTER SLOTS}). A command that a node
 * redirects goes to the node that the redirection names, and is sent again for no other
 * reason. After a failure or a redirection, the nodes are asked again: in the background,
 * since each node may cost a command timeout, and at most once in a command timeout.
 * <p>
 * States: not open; open, once a node has said where the slots are; closed. A node is
 * written as host, colon, port.
 */
final class ClusterLane implements Lane, Link {

	private static final Logger logger = LoggerFactory.getLogger(ClusterLane.class);

	private static final int REDIRECTIONS = 5;

	private static final int SLOTS = 16_384;

	/** The text that a node without a name reports in place of the name. */
	private static final String UNKNOWN = "?";

	private static final byte[] NO_KEY = new byte[0];

	private static final Command ASKING = Command.at(NO_KEY, Verb.ASKING);

	private static final Command WHERE = Command.at(NO_KEY, Verb.CLUSTER, "SLOTS");

	private final SimpleAsyncTaskExecutor background = DaemonThreads.each("distributed-lock-cluster");

	private final Map<String, Lane> lanes = new ConcurrentHashMap<>();

	private final Collection<String> seeds;

	private final Function<String, Lane> opener;

	private final Duration timeout;

	private final Opening<Topology> opening;

	private final AtomicLong refreshedAt;

	private volatile @Nullable Topology topology;

	private volatile boolean closed;

	/**
	 * Creates a lane that is not open.
	 * @param seeds the nodes that the application was told of
	 * @param opener creates the lane to a node
	 */
	ClusterLane(Collection<String> seeds, Function<String, Lane> opener, Duration timeout) {
		this.seeds = seeds;
		this.opener = opener;
		this.timeout = timeout;
		this.opening = new Opening<>(() -> refresh(null), timeout);
		this.refreshedAt = new AtomicLong(System.nanoTime() - timeout.toNanos());
	}

	/**
	 * Returns the nodes that an application was told of.
	 */
	static List<String> seeds(ClusterConfiguration cluster) {
		return cluster.getClusterNodes().stream().map((node) -> node.getHost() + ":" + node.getPort()).toList();
	}

	@Override
	public <T> @Nullable T run(Function<Link, @Nullable T> step) {
		if (this.topology == null) {
			Lane.withoutInterrupt(this.opening::await);
		}
		return step.apply(this);
	}

	@Override
	public @Nullable Object exchange(Command command) {
		long begin = System.nanoTime();
		String node = node(ClusterSlotHashUtil.calculateSlot(command.key()));
		try {
			Object reply = followed(command, node, on(node, command), begin);
			if (reply instanceof RuntimeException) { // For example CLUSTERDOWN.
				refreshLater(node);
			}
			return reply;
		}
		catch (DataAccessException ex) {
			refreshLater(node);
			throw ex;
		}
	}

	/**
	 * Returns the master of a slot, as far as the slots are known. Does no I/O.
	 */
	@Nullable String master(int slot) {
		Topology topology = this.topology;
		return (topology != null) ? topology.masters[slot] : null;
	}

	// If no node serves the slot, any node refuses the command, and gives the reason.
	private String node(int slot) {
		String master = master(slot);
		if (master != null) {
			return master;
		}
		refreshLater(null);
		return candidates(null).iterator().next();
	}

	private @Nullable Object on(String node, Command command) {
		Lane lane = this.lanes.computeIfAbsent(node, this::lane);
		if (this.closed) {
			lane.close(); // The lane may have come too late to be closed with the others.
		}
		try {
			return lane.run((link) -> link.exchange(command));
		}
		catch (IllegalStateException ex) { // Thrown before there was a connection.
			Lane.requireOpen(this.closed);
			if (this.lanes.get(node) == lane) {
				throw ex; // The lane was not closed, so the reason is another one.
			}
			throw new UnsentException("there is no connection to " + node
					+ " any more, which the cluster does not name as one of its nodes", ex);
		}
	}

	private Lane lane(String node) {
		Lane.requireOpen(this.closed);
		return this.opener.apply(node);
	}

	// Follows redirections as long as there is time for one more command.
	private @Nullable Object followed(Command command, String asked, @Nullable Object reply, long begin) {
		Object last = reply;
		String node = asked;
		for (int i = 0; i < REDIRECTIONS && System.nanoTime() - begin < this.timeout.toNanos() / 2; i++) {
			if (!(last instanceof RuntimeException error)) {
				return last;
			}
			String moved = RedisRefusal.MOVED.wordsIn(error);
			String asks = (moved == null) ? RedisRefusal.ASK.wordsIn(error) : null;
			if (moved == null && asks == null) {
				return last;
			}
			node = target((moved != null) ? moved : asks, node);
			// A node that gets its first slot may not be named yet, so ASK causes no
			// refresh.
			if (moved != null) {
				refreshLater(null);
			}
			try {
				last = on(node, (moved != null) ? command : asking(command));
			}
			catch (UnsentException ex) { // An earlier command may have been carried out.
				throw new RedisConnectionFailureException("the command was redirected to " + node, ex);
			}
		}
		return last;
	}

	// ASKING holds for one command only.
	private static Command asking(Command command) {
		Command next = command.next();
		return ASKING.with((next != null) ? command.with(asking(next)) : command);
	}

	private static String target(@Nullable String words, String asked) {
		String[] parts = String.valueOf(words).strip().split(" ");
		String target = parts[parts.length - 1];
		String host = host(target);
		// A redirection without a host means the host of the node that was asked.
		return (host.isEmpty() || host.equals(UNKNOWN)) ? host(asked) + target.substring(host.length()) : target;
	}

	private static String host(String node) {
		return node.substring(0, node.lastIndexOf(':'));
	}

	/**
	 * Asks the nodes in the background where the slots are now.
	 * @param suspect the node that is asked last
	 */
	private void refreshLater(@Nullable String suspect) {
		long last = this.refreshedAt.get();
		long now = System.nanoTime();
		if (now - last >= this.timeout.toNanos() && this.refreshedAt.compareAndSet(last, now)) {
			try {
				this.background.execute(() -> refreshQuietly(suspect));
			}
			catch (OutOfMemoryError noThread) {
				this.refreshedAt.set(last); // The next command that fails tries again.
			}
		}
	}

	private void refreshQuietly(@Nullable String suspect) {
		try {
			refresh(suspect);
		}
		catch (DataAccessException | IllegalStateException ex) {
			logger.debug("Not known where the slots are now, asking again after the next failure", ex);
		}
	}

	private Topology refresh(@Nullable String suspect) {
		Topology topology = askPatiently(suspect);
		Lane.requireOpen(this.closed);
		this.topology = topology;
		this.lanes.forEach((node, lane) -> {
			if (!topology.nodes.contains(node) && this.lanes.remove(node, lane)) {
				lane.close();
			}
		});
		return topology;
	}

	// The first time, timeouts are followed by further attempts while connections are
	// being opened.
	private Topology askPatiently(@Nullable String suspect) {
		long begin = System.nanoTime();
		while (true) {
			try {
				return ask(suspect);
			}
			catch (DataAccessException ex) {
				boolean first = this.topology == null && System.nanoTime() - begin < Opening.FIRST.toNanos();
				if (!first || !RedisFailures.isTimeout(ex)) {
					throw ex;
				}
			}
		}
	}

	// A refusal counts only if all nodes refused, so another failure is thrown before a
	// refusal.
	private Topology ask(@Nullable String suspect) {
		List<DataAccessException> failures = new ArrayList<>();
		for (String node : candidates(suspect)) {
			Lane.requireOpen(this.closed);
			try {
				Object reply = on(node, WHERE);
				if (reply instanceof List<?> ranges && !ranges.isEmpty()) {
					return Topology.of(ranges, host(node));
				}
				failures.add((reply instanceof DataAccessException refusal) ? refusal
						: new RedisConnectionFailureException(node + " knows of no node that serves slots"));
			}
			catch (DataAccessException ex) {
				failures.add(ex);
			}
		}
		DataAccessException first = failures.stream()
			.filter((failure) -> RedisRefusal.of(failure) == null)
			.findFirst()
			.orElse(failures.get(0));
		throw new RedisConnectionFailureException(
				"none of the nodes of the cluster says where the slots are: " + RedisFailures.deepestMessage(first),
				first);
	}

	// Returns the masters, in random order, and then the nodes that the application
	// named, which may have left the cluster since. The suspect comes last.
	private Set<String> candidates(@Nullable String suspect) {
		Topology topology = this.topology;
		List<String> masters = new ArrayList<>((topology != null) ? topology.distinctMasters() : List.of());
		Collections.shuffle(masters);
		masters.addAll(this.seeds);
		Set<String> candidates = new LinkedHashSet<>(masters);
		if (suspect != null && candidates.remove(suspect)) {
			candidates.add(suspect);
		}
		return candidates;
	}

	/**
	 * Opens a connection to a master of the cluster. Masters are tried one after another,
	 * in random order, until one succeeds.
	 * @param opener opens a connection to a node
	 */
	<C> C atAnyMaster(Function<String, C> opener) {
		RuntimeException failure = null;
		List<String> masters = new ArrayList<>(refresh(null).distinctMasters());
		Collections.shuffle(masters);
		for (String master : masters) {
			try {
				return opener.apply(master);
			}
			catch (DataAccessException ex) {
				failure = ex;
			}
		}
		throw (failure != null) ? failure : new UnsentException("no master of the cluster is known", null);
	}

	@Override
	public void close() {
		this.closed = true;
		this.lanes.values().forEach(Lane::close);
	}

	/**
	 * The distribution of the slots.
	 *
	 * @param masters the master of each slot, {@code null} where none is known
	 * @param nodes all masters and replicas
	 */
	private record Topology(@Nullable String[] masters, Set<String> nodes) {

		private static Topology of(List<?> ranges, String host) {
			Topology topology = new Topology(new String[SLOTS], new HashSet<>());
			for (Object range : ranges) {
				List<?> parts = (List<?>) range;
				for (Object node : parts.subList(2, parts.size())) {
					topology.nodes.add(address((List<?>) node, host));
				}
				String master = address((List<?>) parts.get(2), host);
				for (int slot = number(parts.get(0)); slot <= number(parts.get(1)); slot++) {
					topology.masters[slot] = master;
				}
			}
			return topology;
		}

		// A node that does not know its own address leaves the address out.
		private static String address(List<?> node, String asked) {
			String host = (node.get(0) instanceof byte[] bytes) ? new String(bytes, StandardCharsets.UTF_8) : "";
			host = host.equals(UNKNOWN) ? ip(node) : host;
			return (host.isEmpty() ? asked : host) + ":" + number(node.get(1));
		}

		// Returns the IP address of a node that has no name. The fourth part of the node
		// is a list of names and values.
		private static String ip(List<?> node) {
			List<?> more = (node.size() > 3 && node.get(3) instanceof List<?> list) ? list : List.of();
			for (int i = 0; i + 1 < more.size(); i += 2) {
				if (more.get(i) instanceof byte[] name && new String(name, StandardCharsets.UTF_8).equals("ip")
						&& more.get(i + 1) instanceof byte[] ip) {
					return new String(ip, StandardCharsets.UTF_8);
				}
			}
			return "";
		}

		private static int number(Object number) {
			return ((Long) number).intValue();
		}

		private Set<String> distinctMasters() {
			Set<String> distinct = new HashSet<>();
			for (String master : this.masters) {
				if (master != null) {
					distinct.add(master);
				}
			}
			return distinct;
		}

	}

}
