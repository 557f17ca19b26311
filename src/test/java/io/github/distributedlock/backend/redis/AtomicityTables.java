package io.github.distributedlock.backend.redis;

import java.io.IOException;
import java.net.URISyntaxException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Locale;
import java.util.Map;
import java.util.TreeMap;

import io.github.distributedlock.backend.redis.ReleaseRace.Outcome;
import io.github.distributedlock.fixtures.Client;
import io.github.distributedlock.fixtures.KnownCommands;
import redis.clients.jedis.HostAndPort;
import redis.clients.jedis.Jedis;

/**
 * The findings of this run on atomicity, in {@code target/atomicity.md}. Written anew
 * with each row.
 */
public final class AtomicityTables {

	static final String SELECTION_HEAD = """
			| server | everything allowed | no scripts | also no `DELEX`, `DELIFEQ`, `CAD`, `CAS` | no scripts, no transactions | none of all these |
			|---|---|---|---|---|---|
			""";

	private static final String RACE_HEAD = """
			| how a lock is released | server | client | releases | met the end of the lease | locks of others deleted |
			|---|---|---|---|---|---|
			""";

	private static final Map<String, String> SELECTIONS = new TreeMap<>();

	private static final Map<String, String> RACES = new TreeMap<>();

	private AtomicityTables() {
	}

	/**
	 * Adds a row about what {@code auto} chooses on a server.
	 * @return the row
	 */
	static synchronized String selection(HostAndPort server, Iterable<String> selected) {
		String row = "| " + label(server) + " | " + String.join(" | ", selected) + " |\n";
		SELECTIONS.put(label(server), row);
		write();
		return row;
	}

	/**
	 * Adds a row about releases at the end of the lease.
	 */
	public static synchronized void race(String way, HostAndPort server, Client client, Outcome outcome) {
		String name = client.name().charAt(0) + client.name().substring(1).toLowerCase(Locale.ROOT);
		RACES.put(way + name, String.format(Locale.ROOT, "| %s | %s | %s | %,d | %,d | %,d |%n", way, label(server),
				name, outcome.releases(), outcome.met(), outcome.deleted()));
		write();
	}

	/**
	 * A server's name and the version of its line.
	 */
	static String label(HostAndPort server) {
		try (Jedis admin = new Jedis(server)) {
			return new KnownCommands(admin).version().replaceFirst("(\\d+\\.\\d+).*", "$1");
		}
	}

	private static void write() {
		try {
			Path classes = Path.of(AtomicityTables.class.getProtectionDomain().getCodeSource().getLocation().toURI());
			Files.writeString(classes.resolveSibling("atomicity.md"), SELECTION_HEAD
					+ String.join("", SELECTIONS.values()) + "\n" + RACE_HEAD + String.join("", RACES.values()));
		}
		catch (IOException | URISyntaxException ex) {
			throw new IllegalStateException(ex);
		}
	}

}
