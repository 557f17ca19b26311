package io.github.distributedlock.multijvm;

import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Queue;
import java.util.TreeMap;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;

import io.github.distributedlock.fixtures.RedisServers;
import redis.clients.jedis.Jedis;
import redis.clients.jedis.JedisMonitor;
import redis.clients.jedis.exceptions.JedisException;

import static org.awaitility.Awaitility.await;

/**
 * Shows the commands that clients send to a server, by {@code MONITOR}. Unlike
 * {@code INFO commandstats}, {@code MONITOR} tells these commands from those that a
 * script or a module runs inside of the server, which cost no round trip.
 */
final class ClientCommands implements AutoCloseable {

	/**
	 * {@code 1700000000.123456 [0 127.0.0.1:4711] "set" "k" "v"}; in place of the address
	 * there is {@code lua} for a command of a script, and {@code ?:0} for one of a
	 * module.
	 */
	private static final Pattern LINE = Pattern.compile("\\S+ \\[\\d+ (?!lua\\b|\\?:0)\\S+] \"(\\w+)\".*",
			Pattern.DOTALL);

	private static final String MARK = "echo";

	private final Queue<String> lines = new ConcurrentLinkedQueue<>();

	private int marks;

	private final Jedis monitor;

	private final Jedis marker;

	ClientCommands(RedisServers.Server server) {
		this.monitor = server.admin();
		this.marker = server.admin();
		Thread reader = new Thread(this::read, "monitor");
		reader.setDaemon(true);
		reader.start();
	}

	private void read() {
		try {
			this.monitor.monitor(new JedisMonitor() {

				@Override
				public void onCommand(String line) {
					ClientCommands.this.lines.add(line);
				}

			});
		}
		catch (JedisException ex) {
			// Closed.
		}
	}

	/**
	 * Counts what is sent while something runs, without the pulse of a subscription,
	 * which is due once a second whatever runs.
	 * @param action what to run
	 * @return how often each command was sent, by the name in small letters
	 */
	Map<String, Long> stepsDuring(Runnable action) {
		return linesDuring(action).stream()
			.filter((line) -> !line.contains("\"pulse: "))
			.map(LINE::matcher)
			.filter(Matcher::matches)
			.map((matcher) -> matcher.group(1).toLowerCase(Locale.ROOT))
			.filter((command) -> !command.equals(MARK))
			.collect(Collectors.groupingBy((command) -> command, TreeMap::new, Collectors.counting()));
	}

	/**
	 * All that the server runs while something runs, in order.
	 * @param action what to run
	 * @return the lines, those of scripts included
	 */
	List<String> linesDuring(Runnable action) {
		String begin = mark();
		action.run();
		String end = mark();
		return this.lines.stream()
			.dropWhile((line) -> !line.contains(begin))
			.takeWhile((line) -> !line.contains(end))
			.toList();
	}

	// All that came before the mark is there when the mark is.
	private String mark() {
		String mark = "mark " + this.marks++ + " of " + this;
		await().until(() -> {
			this.marker.echo(mark);
			return this.lines.stream().anyMatch((line) -> line.contains(mark));
		});
		return mark;
	}

	@Override
	public void close() {
		this.monitor.close();
		this.marker.close();
	}

}
