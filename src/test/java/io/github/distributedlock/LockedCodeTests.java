package io.github.distributedlock;

import java.io.IOException;
import java.sql.SQLException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.Callable;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.ExecutionException;
import java.util.function.Supplier;

import io.github.distributedlock.backend.memory.InMemoryLockBackend;
import io.github.distributedlock.engine.LockEngine;
import io.github.distributedlock.fixtures.Patience;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;

/**
 * Everything that is written as locked code compiles without a cast or a type argument.
 * The {@code throws} clauses of these tests belong to what is shown: each has the
 * exceptions of the code, no others.
 */
class LockedCodeTests {

	private static final LockRequest REQUEST = LockRequest.of("a", "b");

	private static final Duration NO_WAIT = Duration.ZERO;

	private final LockEngine lock = LockEngine.builder(new InMemoryLockBackend()).build();

	private final List<String> ran = new ArrayList<>();

	@AfterEach
	void close() {
		this.lock.close();
	}

	@Test
	void lambdaWithAValueOrNull() {
		String value = this.lock.execute("k", () -> "value");
		int length = this.lock.execute(REQUEST, () -> {
			assertThat(LockHandle.current()).isPresent();
			return value.length();
		});
		assertThat(length).isEqualTo(5);
		Object nothing = this.lock.execute("k", () -> null);
		assertThat(nothing).isNull();
		assertThat(LockHandle.current()).isEmpty();
	}

	@Test
	void lambdaWithoutAValueOrThatOnlyThrows() {
		this.lock.run("k", () -> {
			assertThat(LockHandle.current()).isPresent();
			this.ran.add("block");
		});
		this.lock.run(REQUEST, () -> this.ran.add("expression"));
		this.lock.run("k", () -> {
		});
		assertThat(this.ran).containsExactly("block", "expression");
		assertThatIllegalStateException().isThrownBy(() -> this.lock.run("k", () -> {
			throw new IllegalStateException("unchecked");
		}));
		assertThatIllegalStateException().isThrownBy(() -> this.lock.execute("k", () -> {
			throw new IllegalStateException("unchecked");
		}));
		assertThat(LockHandle.current()).isEmpty();
	}

	@Test
	void triedCodeRunsUnlessTheKeyIsBusy() throws IOException {
		assertThat(this.lock.tryExecute("k", () -> read("text"), () -> "busy")).isEqualTo("text");
		String nothing = this.lock.tryExecute("k", () -> null, () -> read("busy"));
		assertThat(nothing).isNull();
		assertThat(this.lock.tryRun(REQUEST, () -> this.ran.add(read("task")))).isTrue();
		try (LockHandle other = this.lock.acquire(REQUEST.detached(true))) {
			assertThat(this.lock.tryExecute("a", () -> read("text"), () -> read("busy"))).isEqualTo("busy");
			assertThat(this.lock.tryExecute(REQUEST, () -> this.ran.add("text"), () -> false)).isFalse();
			assertThat(this.lock.tryExecute("a", NO_WAIT, () -> read("text"), () -> "busy")).isEqualTo("busy");
			assertThat(this.lock.tryRun("b", NO_WAIT, this::task)).isFalse();
			assertThat(this.lock.tryRun("b", this::task)).isFalse();
			assertThat(this.lock.tryRun(REQUEST, this::task)).isFalse();
			assertThat(other.isHeld()).isTrue();
		}
		assertThat(this.ran).containsExactly("task");
		assertThat(this.lock.snapshot().holds()).isEmpty();
	}

	@Test
	void codeForABusyKeyRunsInNoLockAndMayThrow() {
		LockHandle other = this.lock.acquire(REQUEST.detached(true));
		assertThat(this.lock.<Boolean, RuntimeException>tryExecute("a", () -> true,
				() -> LockHandle.current().isPresent()))
			.isFalse();
		assertThatExceptionOfType(IOException.class)
			.isThrownBy(() -> this.lock.tryExecute("a", () -> "text", () -> read("")));
		other.close();
	}

	@Test
	void waitTimeIsThatOfTheCall() throws Exception {
		try (LockHandle other = this.lock.acquire(REQUEST.detached(true))) {
			assertThatExceptionOfType(LockNotAcquiredException.class).isThrownBy(() -> this.lock.acquire("a", NO_WAIT))
				.withMessageContaining("waitTime 0 ms");
			assertThatExceptionOfType(LockNotAcquiredException.class)
				.isThrownBy(() -> this.lock.execute("a", NO_WAIT, () -> read("text")));
			assertThatExceptionOfType(LockNotAcquiredException.class)
				.isThrownBy(() -> this.lock.run("a", NO_WAIT, this::task));
			assertThat(this.lock.tryAcquire("a", NO_WAIT)).isEmpty();
			assertThat(this.lock.acquireAsync("a", NO_WAIT)).failsWithin(Patience.PATIENCE)
				.withThrowableOfType(ExecutionException.class)
				.withCauseInstanceOf(LockNotAcquiredException.class);
			assertThat(this.lock.tryAcquireAsync("a")).succeedsWithin(Patience.PATIENCE).isEqualTo(Optional.empty());
			assertThat(this.lock.tryAcquireAsync("a", NO_WAIT)).succeedsWithin(Patience.PATIENCE)
				.isEqualTo(Optional.empty());
			assertThat(this.lock.executeAsync("a", NO_WAIT, () -> stage("text"))).failsWithin(Patience.PATIENCE);
			assertThat(this.lock.tryExecuteAsync("a", () -> stage("text"), () -> stage("busy")))
				.succeedsWithin(Patience.PATIENCE)
				.isEqualTo("busy");
			assertThat(other.isHeld()).isTrue();
		}
		this.lock.acquire("a", NO_WAIT).close();
		this.lock.tryAcquire("a", NO_WAIT).orElseThrow().close();
		Patience.get(this.lock.acquireAsync("a"), "a lock").close();
		Patience.get(this.lock.acquireAsync("a", NO_WAIT), "a lock").close();
		assertThat(this.lock.tryExecuteAsync("a", NO_WAIT, () -> stage("text"), () -> stage("busy")))
			.succeedsWithin(Patience.PATIENCE)
			.isEqualTo("text");
	}

	@Test
	void asynchronousCodeMayThrow() {
		assertThat(this.lock.executeAsync("k", () -> stage(read("text")))).succeedsWithin(Patience.PATIENCE)
			.isEqualTo("text");
		assertThat(this.lock.executeAsync("k", () -> stage(read("")))).failsWithin(Patience.PATIENCE)
			.withThrowableOfType(ExecutionException.class)
			.withCauseInstanceOf(IOException.class);
		LockHandle other = this.lock.acquire(REQUEST.detached(true));
		assertThat(this.lock.tryExecuteAsync(REQUEST, () -> stage("text"), () -> stage(read(""))))
			.failsWithin(Patience.PATIENCE)
			.withThrowableOfType(ExecutionException.class)
			.withCauseInstanceOf(IOException.class);
		assertThat(this.lock.<String>tryExecuteAsync(REQUEST, () -> stage("text"), () -> null))
			.failsWithin(Patience.PATIENCE)
			.withThrowableOfType(ExecutionException.class)
			.withMessageContaining("The code for a busy lock returned null");
		other.close();
	}

	private static CompletionStage<String> stage(String value) {
		return CompletableFuture.completedFuture(value);
	}

	@Test
	void triedCodeThatFailsReleasesTheLock() {
		assertThatExceptionOfType(IOException.class)
			.isThrownBy(() -> this.lock.tryExecute("k", () -> read(""), () -> "busy"));
		assertThatExceptionOfType(IOException.class)
			.isThrownBy(() -> this.lock.tryRun("k", () -> this.ran.add(read(""))));
		assertThat(this.lock.snapshot().holds()).isEmpty();
	}

	@Test
	void checkedExceptionIsCaughtByItsType() {
		try {
			this.lock.run("k", () -> {
				read("");
			});
		}
		catch (IOException ex) {
			this.ran.add(String.valueOf(ex.getMessage()));
		}
		assertThat(this.ran).containsExactly("nothing to read");
		assertThat(this.lock.snapshot().holds()).isEmpty();
	}

	@Test
	void twoCheckedExceptionsHaveTheirCommonType() throws Exception {
		String row = this.lock.execute("k", () -> query(read("row")));
		assertThat(row).isEqualTo("row");
		this.lock.run("k", () -> {
			read("a");
			query("b");
		});
		assertThatExceptionOfType(SQLException.class)
			.isThrownBy(() -> this.lock.run(REQUEST, () -> this.ran.add(query(read("wrong")))));
	}

	@Test
	void methodReference() throws IOException {
		assertThat(this.lock.execute("k", this::value)).isEqualTo("value");
		assertThat(this.lock.execute(REQUEST, this::file)).isEqualTo("file");
		this.lock.run("k", this::task);
		this.lock.run("k", this::value);
		this.lock.run(REQUEST, this::file);
		String overloaded = this.lock.execute("k", this::overloaded);
		assertThat(overloaded).isEqualTo("overloaded");
		this.lock.run(REQUEST, this::overloaded);
		assertThat(this.ran).containsExactly("task");
	}

	@Test
	void otherFunctionalTypes() throws Exception {
		Supplier<String> supplier = () -> "supplied";
		String supplied = this.lock.execute("k", supplier::get);
		Callable<String> callable = () -> "called";
		String called = this.lock.execute(REQUEST, callable::call);
		Runnable runnable = () -> this.ran.add("run");
		this.lock.run("k", runnable::run);
		assertThat(this.ran).containsExactly("run");
		assertThat(List.of(supplied, called)).containsExactly("supplied", "called");
	}

	@Test
	void variablesOfTheirTypes() throws IOException {
		LockedCall<String, IOException> call = () -> read("variable");
		LockedTask<IOException> task = () -> this.ran.add(read("task"));
		assertThat(this.lock.execute("k", call)).isEqualTo("variable");
		this.lock.run("k", task);
		assertThat(this.ran).containsExactly("task");
	}

	@Test
	void genericCallerPassesExceptionsOn() throws SQLException {
		assertThat(locked(() -> query("generic"))).isEqualTo("generic");
		assertThat(locked(() -> "unchecked")).isEqualTo("unchecked");
	}

	private <T, E extends Exception> T locked(LockedCall<T, E> call) throws E {
		return this.lock.execute(REQUEST, call);
	}

	private String value() {
		return "value";
	}

	private String file() throws IOException {
		return read("file");
	}

	private void task() {
		this.ran.add("task");
	}

	private String overloaded() throws IOException {
		return read("overloaded");
	}

	private String overloaded(String argument) throws SQLException {
		return query(argument);
	}

	private static String read(String text) throws IOException {
		if (text.isEmpty()) {
			throw new IOException("nothing to read");
		}
		return text;
	}

	private static String query(String text) throws SQLException {
		if (text.equals("wrong")) {
			throw new SQLException(text);
		}
		return text;
	}

}
