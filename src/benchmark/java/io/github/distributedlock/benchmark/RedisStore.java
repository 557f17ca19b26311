package io.github.distributedlock.benchmark;

import java.util.Map;
import java.util.stream.Collectors;

import io.github.distributedlock.fixtures.RedisServers;
import redis.clients.jedis.Jedis;

/**
 * A server of Redis: the last one that is named, else the one that comes along.
 */
final class RedisStore implements Store {

	private final RedisServers.Server server = RedisServers
		.start(RedisServers.names().reduce((first, second) -> second).orElseThrow());

	private final Jedis admin = this.server.admin();

	@Override
	public int port() {
		return this.server.port();
	}

	@Override
	public void flush() {
		this.admin.flushAll();
	}

	@Override
	public ServerLoad load() {
		Map<String, String> info = this.admin.info()
			.lines()
			.filter((line) -> line.contains(":"))
			.collect(Collectors.toMap((line) -> line.substring(0, line.indexOf(':')),
					(line) -> line.substring(line.indexOf(':') + 1).strip(), (first, second) -> first));
		return new ServerLoad(Long.parseLong(info.get("total_commands_processed")),
				Long.parseLong(info.get("total_reads_processed")),
				Double.parseDouble(info.get("used_cpu_user")) + Double.parseDouble(info.get("used_cpu_sys")));
	}

	@Override
	public String version() {
		return this.admin.info("server")
			.lines()
			.filter((line) -> line.matches("(redis|valkey)_version:.*"))
			.reduce((first, second) -> second)
			.orElse("")
			.replace(':', ' ')
			.replace("_version", "");
	}

	@Override
	public void close() {
		this.admin.close();
		this.server.close();
	}

}
