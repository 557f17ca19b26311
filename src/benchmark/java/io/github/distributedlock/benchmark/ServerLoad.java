package io.github.distributedlock.benchmark;

import java.util.Map;
import java.util.stream.Collectors;

import redis.clients.jedis.Jedis;

/**
 * What a server has done so far, by its own count.
 *
 * @param commands all commands that it has executed, those inside scripts too
 * @param requests how often it has read from a client: once for each request, or for
 * several that were sent together
 * @param cpuSeconds the processor time it has used
 */
record ServerLoad(long commands, long requests, double cpuSeconds) {

	static ServerLoad of(Jedis server) {
		Map<String, String> info = server.info()
			.lines()
			.filter((line) -> line.contains(":"))
			.collect(Collectors.toMap((line) -> line.substring(0, line.indexOf(':')),
					(line) -> line.substring(line.indexOf(':') + 1).strip(), (first, second) -> first));
		return new ServerLoad(Long.parseLong(info.get("total_commands_processed")),
				Long.parseLong(info.get("total_reads_processed")),
				Double.parseDouble(info.get("used_cpu_user")) + Double.parseDouble(info.get("used_cpu_sys")));
	}

	/**
	 * What it has done since, without the question itself.
	 */
	ServerLoad since(ServerLoad before) {
		return new ServerLoad(this.commands - before.commands - 1, this.requests - before.requests - 1,
				this.cpuSeconds - before.cpuSeconds);
	}

}
