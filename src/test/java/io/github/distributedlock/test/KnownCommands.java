package io.github.distributedlock.test;

import java.util.List;

import redis.clients.jedis.Jedis;
import redis.clients.jedis.Protocol.Command;
import redis.clients.jedis.exceptions.JedisDataException;

/**
 * What a server knows, whoever may use it.
 */
public final class KnownCommands {

	private final Jedis admin;

	public KnownCommands(Jedis admin) {
		this.admin = admin;
	}

	boolean has(String command) {
		List<?> known = (List<?>) this.admin.sendCommand(Command.COMMAND, "INFO", command);
		return known.get(0) != null;
	}

	/**
	 * Whether {@code SET} can compare, which only an attempt tells.
	 */
	boolean hasConditionalSet() {
		try {
			this.admin.sendCommand(Command.SET, "no-such-key", "", "IFEQ", "another value");
			return true;
		}
		catch (JedisDataException ex) {
			return false;
		}
	}

	/**
	 * The server's name and version.
	 */
	public String version() {
		String info = this.admin.info("server");
		String valkey = valueOf("valkey_version", info);
		return (valkey != null) ? "Valkey " + valkey : "Redis " + valueOf("redis_version", info);
	}

	private static String valueOf(String name, String info) {
		return info.lines()
			.filter((line) -> line.startsWith(name + ":"))
			.map((line) -> line.substring(name.length() + 1).strip())
			.findFirst()
			.orElse(null);
	}

}
