package io.github.distributedlock.test;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Map;

import io.github.distributedlock.DistributedLock;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.condition.EnabledOnOs;
import org.junit.jupiter.api.condition.OS;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.awaitility.Awaitility.await;

class JvmProcessTests {

	@Test
	void runsAMainClassOnTheClassPathOfTheTest() {
		try (JvmProcess process = JvmProcess.start(Child.class, Map.of("child.name", "a b"), "hello", "x y")) {
			assertThat(process.awaitLineAfter("property ")).isEqualTo("a b");
			assertThat(process.awaitLineAfter("argument ")).isEqualTo("x y");
			assertThat(process.awaitLineAfter("sees ")).isEqualTo(DistributedLock.class.getName());
			assertThat(process.awaitExit()).isZero();
		}
	}

	@Test
	void tellsEachOtherLines() {
		try (JvmProcess process = JvmProcess.start(Child.class, "echo")) {
			process.send("one");
			process.send("two ⇄");
			assertThat(process.awaitLine("echo two ⇄")).isNotNull();
			process.send("two ⇄");
			process.awaitLine("echo two ⇄");
			assertThat(process.output()).containsExactly("echo one", "echo two ⇄", "echo two ⇄");
		}
	}

	@Test
	void aFailingMainEndsWithItsStackTrace() {
		try (JvmProcess process = JvmProcess.start(Child.class, "fail")) {
			assertThat(process.awaitExit()).isEqualTo(1);
			assertThat(process.output()).contains("java.lang.IllegalStateException: on purpose");
		}
	}

	@Test
	void aLineThatNeverComesFailsAsSoonAsTheProcessHasEnded() {
		try (JvmProcess process = JvmProcess.start(Child.class, "hello", "x")) {
			assertThatExceptionOfType(AssertionError.class)
				.isThrownBy(() -> process.awaitLine("nowhere"::equals, "nowhere", Duration.ofMinutes(5)))
				.withMessageContaining("printed no line nowhere")
				.withMessageContaining("argument x");
		}
	}

	@Test
	void aLineThatDoesNotComeInTimeFailsWithTheOutput() {
		try (JvmProcess process = JvmProcess.start(Child.class, "echo")) {
			process.send("one");
			process.awaitLine("echo one");
			assertThatExceptionOfType(AssertionError.class)
				.isThrownBy(() -> process.awaitLine("nowhere"::equals, "nowhere", Duration.ofMillis(1)))
				.withMessageContaining("printed no line nowhere in PT0.001S")
				.withMessageContaining("echo one");
		}
	}

	@Test
	void killLeavesNoTimeForAShutdownHook() {
		try (JvmProcess process = JvmProcess.start(Child.class, "hook")) {
			process.awaitLine("ready");
			process.kill();
			assertThat(process.isAlive()).isFalse();
			assertThat(process.output()).doesNotContain("hook ran");
		}
	}

	@Test
	void terminateLetsTheShutdownHookRun() {
		try (JvmProcess process = JvmProcess.start(Child.class, "hook")) {
			process.awaitLine("ready");
			process.terminate();
			process.awaitExit();
			assertThat(process.output()).contains("hook ran");
		}
	}

	@Test
	@EnabledOnOs(OS.LINUX)
	void aPausedProcessStandsStillUntilItIsResumed() {
		try (JvmProcess process = JvmProcess.start(Child.class, "echo")) {
			process.send("one");
			process.awaitLine("echo one");
			process.pause();
			await().untilAsserted(() -> assertThat(state(process.pid())).isEqualTo('T'));
			process.send("two");
			assertThat(process.output()).containsExactly("echo one");
			process.resume();
			process.awaitLine("echo two");
		}
	}

	@Test
	void aPausedProcessIsEndedByClose() {
		JvmProcess process = JvmProcess.start(Child.class, "echo");
		process.pause();
		process.close();
		assertThat(ProcessHandle.of(process.pid())).isEmpty();
	}

	@Test
	@EnabledOnOs(OS.LINUX)
	void aProcessEndsWithTheOneThatStartedIt() {
		try (JvmProcess parent = JvmProcess.start(Child.class, "parent")) {
			long pid = Long.parseLong(parent.awaitLineAfter("child "));
			assertThat(ProcessHandle.of(pid)).isPresent();
			parent.kill();
			await().ignoreException(NoSuchFileException.class).until(() -> isGone(pid));
		}
	}

	@Test
	void processesOfOneMachineShareTheClock() {
		try (JvmProcess process = JvmProcess.start(Child.class, "clock")) {
			long before = System.nanoTime();
			process.send("now");
			long there = Long.parseLong(process.awaitLineAfter("nanoTime "));
			assertThat(there).isBetween(before, System.nanoTime());
		}
	}

	// One that nobody has asked for its exit code yet is still listed, as a zombie.
	private static boolean isGone(long pid) throws IOException {
		return ProcessHandle.of(pid).isEmpty() || state(pid) == 'Z';
	}

	private static char state(long pid) throws IOException {
		String stat = Files.readString(Path.of("/proc", String.valueOf(pid), "stat"));
		return stat.charAt(stat.lastIndexOf(')') + 2);
	}

	static final class Child {

		public static void main(String[] arguments) throws Exception {
			switch (arguments[0]) {
				case "hello" -> {
					System.out.println("property " + System.getProperty("child.name"));
					System.out.println("argument " + arguments[1]);
					System.out.println("sees " + DistributedLock.class.getName());
				}
				case "echo" -> {
					while (true) {
						System.out.println("echo " + ChildJvm.awaitLine());
					}
				}
				case "fail" -> throw new IllegalStateException("on purpose");
				case "hook" -> {
					Runtime.getRuntime().addShutdownHook(new Thread(() -> System.out.println("hook ran")));
					System.out.println("ready");
					ChildJvm.awaitLine();
				}
				case "parent" -> {
					System.out.println("child " + JvmProcess.start(Child.class, "echo").pid());
					ChildJvm.awaitLine();
				}
				case "clock" -> {
					ChildJvm.awaitLine();
					System.out.println("nanoTime " + System.nanoTime());
				}
				default -> throw new IllegalArgumentException(arguments[0]);
			}
		}

	}

}
