package io.github.distributedlock.test;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * A network namespace with a cable to this machine, on which packets can be lost in
 * either direction: nobody is told, as if a switch had failed. Needs root, {@code ip} and
 * the right to add namespaces.
 * <p>
 * Packets are lost by being sent to a hardware address that nobody has. Both ends know
 * each other's address from the beginning, so that nothing has to be found out again when
 * that is over.
 */
public final class Machine implements AutoCloseable {

	private static final String THIS_ADDRESS = "02:00:00:00:00:01";

	private static final String ITS_ADDRESS = "02:00:00:00:00:02";

	private static final String NOBODYS_ADDRESS = "02:00:00:00:00:03";

	private static final String CABLE = "cable";

	private static final Pattern NAME = Pattern.compile("lock-(\\d+)-\\d+");

	private static final Map<String, Machine> PRESENT = new ConcurrentHashMap<>();

	private static final AtomicInteger COUNT = new AtomicInteger();

	static {
		Runtime.getRuntime()
			.addShutdownHook(new Thread(() -> PRESENT.values().forEach(Machine::unplug), "machine-reaper"));
	}

	private final String name;

	private final String end;

	private final String hereHost;

	private final String host;

	private Machine(int number) {
		long process = ProcessHandle.current().pid();
		this.name = "lock-" + process + "-" + number;
		this.end = "lk" + process + "-" + number;
		// Of the range for tests of networks, 198.18.0.0/15, four addresses for each.
		long network = (process * 31 + number) * 4;
		String prefix = "198.18." + (network >> 8 & 0xff) + ".";
		this.hereHost = prefix + ((network & 0xff) + 1);
		this.host = prefix + ((network & 0xff) + 2);
	}

	/**
	 * Adds one, and removes what a test that was killed has left.
	 * @return the machine, to be closed
	 * @throws IOException if this is not possible here
	 */
	public static Machine add() throws IOException {
		removeLeftovers();
		Machine machine = new Machine(COUNT.incrementAndGet());
		try {
			machine.plugIn();
			return machine;
		}
		catch (IOException | RuntimeException ex) {
			machine.close();
			throw ex;
		}
	}

	private void plugIn() throws IOException {
		PRESENT.put(this.name, this);
		run("ip", "netns", "add", this.name);
		run("ip", "link", "add", this.end, "address", THIS_ADDRESS, "type", "veth", "peer", "name", CABLE, "address",
				ITS_ADDRESS, "netns", this.name);
		run("ip", "address", "add", this.hereHost + "/30", "dev", this.end);
		run("ip", "link", "set", this.end, "up");
		run("ip", "-n", this.name, "address", "add", this.host + "/30", "dev", CABLE);
		run("ip", "-n", this.name, "link", "set", CABLE, "up");
		run("ip", "-n", this.name, "link", "set", "lo", "up");
		heal();
	}

	/**
	 * Where a server runs that is on this machine.
	 * @return the site
	 */
	public Site site() {
		return new Site(this.host, List.of("ip", "netns", "exec", this.name));
	}

	/**
	 * Loses what is sent to the machine from now on.
	 */
	public void loseWhatIsSentTo() {
		to(NOBODYS_ADDRESS);
	}

	/**
	 * Loses what the machine sends from now on.
	 */
	public void loseWhatItSends() {
		from(NOBODYS_ADDRESS);
	}

	/**
	 * Loses nothing from now on.
	 */
	public void heal() {
		to(ITS_ADDRESS);
		from(THIS_ADDRESS);
	}

	private void to(String address) {
		runUnchecked("ip", "neighbour", "replace", this.host, "lladdr", address, "dev", this.end, "nud", "permanent");
	}

	private void from(String address) {
		runUnchecked("ip", "-n", this.name, "neighbour", "replace", this.hereHost, "lladdr", address, "dev", CABLE,
				"nud", "permanent");
	}

	/**
	 * Takes it away with all of its connections, so that the other ends are not told, and
	 * puts an equal one in its place. What runs on it must have been ended before.
	 */
	public void replace() {
		loseWhatItSends();
		unplug();
		try {
			plugIn();
		}
		catch (IOException ex) {
			throw new UncheckedIOException(ex);
		}
	}

	@Override
	public void close() {
		unplug();
	}

	private void unplug() {
		PRESENT.remove(this.name);
		remove(this.name);
	}

	// The cable goes with the namespace, at the latest when nothing runs in it any more.
	private static void remove(String namespace) {
		try {
			for (String process : run("ip", "netns", "pids", namespace).split("\\s+")) {
				if (!process.isEmpty()) {
					ProcessHandle.of(Long.parseLong(process)).ifPresent(ProcessHandle::destroyForcibly);
				}
			}
			run("ip", "-n", namespace, "link", "delete", CABLE);
		}
		catch (IOException ex) {
			// There is no such namespace, or no cable.
		}
		try {
			run("ip", "netns", "delete", namespace);
		}
		catch (IOException ex) {
			// There is no such namespace.
		}
	}

	private static void removeLeftovers() throws IOException {
		Matcher names = NAME.matcher(run("ip", "netns", "list"));
		while (names.find()) {
			if (ProcessHandle.of(Long.parseLong(names.group(1))).isEmpty()) {
				remove(names.group());
			}
		}
	}

	private static void runUnchecked(String... command) {
		try {
			run(command);
		}
		catch (IOException ex) {
			throw new UncheckedIOException(ex);
		}
	}

	private static String run(String... command) throws IOException {
		Process process = new ProcessBuilder(command).redirectErrorStream(true).start();
		String said = new String(process.getInputStream().readAllBytes());
		if (Patience.waitFor(process) != 0) {
			throw new IOException(String.join(" ", command) + ": " + said.strip());
		}
		return said;
	}

}
