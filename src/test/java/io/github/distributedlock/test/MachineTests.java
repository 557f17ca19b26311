package io.github.distributedlock.test;

import java.io.IOException;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;

import org.junit.jupiter.api.Test;
import redis.clients.jedis.Jedis;
import redis.clients.jedis.exceptions.JedisConnectionException;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assumptions.assumeThat;

/**
 * Tests for {@link Machine}.
 */
class MachineTests {

	private static final int TIMEOUT = 200;

	@Test
	void losesWhatIsSentToIt() throws Exception {
		assertCutsOff(Machine::loseWhatIsSentTo);
	}

	@Test
	void losesWhatItSends() throws Exception {
		assertCutsOff(Machine::loseWhatItSends);
	}

	private static void assertCutsOff(Consumer<Machine> lose) {
		try (Machine machine = added();
				RedisServers.Server server = RedisServers.start(RedisServers.EMBEDDED, machine.site());
				Jedis connected = connection(server);
				Jedis late = connection(server)) {
			connected.ping();
			lose.accept(machine);
			assertThatExceptionOfType(JedisConnectionException.class).isThrownBy(connected::ping)
				.withMessageContaining("timed out");
			assertThatExceptionOfType(JedisConnectionException.class).isThrownBy(late::ping);
			machine.heal();
			try (Jedis again = connection(server)) {
				assertThat(again.ping()).isEqualTo("PONG");
			}
		}
	}

	private static Jedis connection(RedisServers.Server server) {
		return new Jedis(server.host(), server.port(), TIMEOUT);
	}

	@Test
	void removesWhatAKilledTestHasLeft() throws Exception {
		added().close();
		Process killed = new ProcessBuilder("true").start();
		Patience.waitFor(killed);
		String left = "lock-" + killed.pid() + "-1";
		run("ip", "netns", "add", left);
		run("ip", "link", "add", "lk" + killed.pid(), "type", "veth", "peer", "name", "cable", "netns", left);
		Process server = new ProcessBuilder("ip", "netns", "exec", left, "sleep", "60").start();
		added().close();
		assertThat(server.waitFor(5, TimeUnit.SECONDS)).as("ended").isTrue();
		assertThat(run("ip", "netns", "list")).doesNotContain(left);
		assertThat(run("ip", "link")).doesNotContain("lk" + killed.pid());
	}

	private static Machine added() {
		try {
			return Machine.add();
		}
		catch (IOException ex) {
			assumeThat(ex).as("why no network namespace can be added").isNull();
			throw new IllegalStateException(ex);
		}
	}

	private static String run(String... command) throws Exception {
		Process process = new ProcessBuilder(command).redirectErrorStream(true).start();
		String said = new String(process.getInputStream().readAllBytes());
		assertThat(Patience.waitFor(process)).as(said).isZero();
		return said;
	}

}
