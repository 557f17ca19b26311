package io.github.distributedlock.backend.jdbc;

import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Proxy;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.AtomicReference;
import java.util.stream.IntStream;

import javax.sql.DataSource;

import com.zaxxer.hikari.HikariDataSource;
import io.github.distributedlock.LockException;
import io.github.distributedlock.LockHandle;
import io.github.distributedlock.LockRequest;
import io.github.distributedlock.backend.Claim;
import io.github.distributedlock.backend.LockBackend.Listening;
import io.github.distributedlock.engine.LockEngine;
import io.github.distributedlock.fixtures.OwnThreads;
import io.github.distributedlock.fixtures.Patience;
import io.github.distributedlock.tck.Ear;
import io.github.distributedlock.tck.History;
import io.github.distributedlock.tck.HistoryChecker;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.api.io.TempDir;
import org.springframework.jdbc.core.JdbcTemplate;
import org.springframework.jdbc.datasource.DelegatingDataSource;
import org.springframework.jdbc.datasource.SingleConnectionDataSource;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * The promises of a table of PostgreSQL while something breaks: no two hold a key at the
 * same time, everybody gets the key in the end, and no lock is left. JVMs that are killed
 * or stopped are in {@code RandomFaultsTests}; {@link JdbcLockBackendTests} shows that a
 * JVM's clock is never asked.
 */
@Tag("faults")
class PostgresFaultsTests {

	private static final Duration LEASE = Duration.ofMinutes(10);

	private static final Duration SHORT_LEASE = Duration.ofSeconds(3);

	/** Longer than a server takes to start again. */
	private static final Duration LONG_LEASE = Duration.ofSeconds(30);

	private static final int ENGINES = 3;

	@RegisterExtension
	final OwnThreads threads = new OwnThreads();

	@TempDir
	private Path directory;

	/**
	 * How often a contender has begun to keep the key until the server is there again.
	 */
	private final AtomicInteger keeping = new AtomicInteger();

	private Postgres server;

	private HikariDataSource pool;

	private JdbcTemplate database;

	@BeforeEach
	void start() {
		this.server = new Postgres();
		this.pool = this.server.pool();
		this.database = new JdbcTemplate(this.pool);
		this.database.execute(Platform.POSTGRESQL.schema("distributed_lock"));
	}

	@AfterEach
	void stop() {
		this.pool.close();
		this.server.close();
	}

	// The server

	@Test
	void aLockOutlivesAServerThatIsKilled() {
		try (JdbcLockBackend store = backend(this.pool); JdbcLockBackend other = backend(this.pool)) {
			Ear ear = new Ear();
			Listening listening = other.listen("b", ear);
			Claim held = claim("b").fenced(true);
			store.acquire(claim("a"));
			other.acquireOrRegister(held);
			store.release("k", "a:1");
			ear.awaitWake("k");
			long token = other.acquireOrRegister(held).fencingToken();
			this.server.killAndRestart();
			Awaitility.await().until(() -> ear.resubscriptions() > 0 && listening.hears());
			Awaitility.await().ignoreExceptions().until(() -> !store.acquire(claim("a")).acquired());
			assertThat(other.release("k", held.owner())).as("still owned").isTrue();
			assertThat(store.acquire(claim("a").fenced(true)).fencingToken()).isGreaterThan(token);
		}
	}

	@Test
	void aGrantOutlivesAServerThatIsKilled() {
		loseWhatDoesNotWaitForTheDisk();
		try (JdbcLockBackend store = backend(this.pool)) {
			Ear ear = new Ear();
			store.listen("b", ear);
			// Again where the machine is so slow that the claim is too old for a grant.
			Awaitility.await("a grant").until(() -> {
				this.database.update("delete from distributed_lock where lock_key = 'k'");
				store.acquire(claim("a"));
				store.acquireOrRegister(claim("b").number(1));
				store.release("k", "a:1");
				ear.awaitWake("k");
				return ear.last().owner() != null;
			});
			this.server.killAndRestart();
			Awaitility.await().ignoreExceptions().until(() -> !store.acquire(claim("c")).acquired());
			assertThat(store.release("k", "b:1")).as("still owned").isTrue();
		}
	}

	/**
	 * The last owner is written in the row again, and nobody else is before the lease of
	 * that one ends.
	 */
	@Test
	void aReleaseThatAKilledServerForgetsKeepsTheKeyUntilTheLeaseEnds() {
		loseWhatDoesNotWaitForTheDisk();
		try (JdbcLockBackend store = backend(this.pool)) {
			long token = 0;
			long end;
			boolean released;
			Duration lease = Duration.ZERO;
			do { // Longer, if a busy machine starts the server late.
				lease = lease.plus(SHORT_LEASE);
				Claim first = Claim.of("k", "a:1", "a", lease).fenced(true);
				AtomicLong acquired = new AtomicLong();
				Awaitility.await().ignoreExceptions().until(() -> {
					acquired.set(store.acquire(first).fencingToken());
					return true;
				});
				assertThat(acquired.get()).isGreaterThan(token);
				token = acquired.get();
				end = this.database.queryForObject("select " + Platform.POSTGRESQL.micros("ends_at")
						+ " from distributed_lock where lock_key = 'k'", Long.class);
				released = store.release("k", first.owner());
				this.server.killAndRestart();
			}
			while (!released || isFree(store));
			Claim next = claim("b").fenced(true);
			AtomicLong later = new AtomicLong();
			Awaitility.await().ignoreExceptions().until(() -> {
				Optional.ofNullable(store.acquire(next).fencingToken()).ifPresent(later::set);
				return later.get() > 0;
			});
			// A token is the time of the server.
			assertThat(later.get()).isGreaterThan(token).isGreaterThanOrEqualTo(end);
		}
	}

	private static boolean isFree(JdbcLockBackend store) {
		AtomicBoolean free = new AtomicBoolean();
		Awaitility.await().ignoreExceptions().until(() -> {
			free.set(store.inspect("k").isFree());
			return true;
		});
		return free.get();
	}

	/**
	 * Every second time while a contender holds the key, else at any time.
	 */
	@Test
	void noKillGivesAKeyTwiceOrAnOlderToken() {
		loseWhatDoesNotWaitForTheDisk();
		AtomicInteger rounds = new AtomicInteger();
		AtomicInteger kept = new AtomicInteger();
		AtomicBoolean keeps = new AtomicBoolean();
		AtomicBoolean over = new AtomicBoolean();
		Path file = this.directory.resolve("history");
		try (History history = History.write(file)) {
			List<CompletableFuture<Void>> contenders = IntStream.range(0, ENGINES)
				.mapToObj((number) -> CompletableFuture.runAsync(() -> {
					try (JdbcLockBackend store = backend(this.pool);
							LockEngine engine = LockEngine.builder(store).watchdogTimeout(LONG_LEASE).build()) {
						while (!over.get()) {
							contendOnce(engine, history, rounds, keeps, kept);
						}
					}
				}, this.threads))
				.toList();
			for (int kills = 1; kills <= 4; kills++) {
				int before = rounds.get() + ThreadLocalRandom.current().nextInt(50);
				Awaitility.await().pollInterval(Duration.ofMillis(1)).until(() -> rounds.get() > before);
				int keeping = this.keeping.get();
				keeps.set(kills % 2 == 0);
				if (keeps.get()) {
					Awaitility.await("a holder that keeps the key").until(() -> this.keeping.get() > keeping);
				}
				this.server.killAndRestart();
				keeps.set(false);
			}
			int before = rounds.get();
			Awaitility.await().until(() -> rounds.get() > before + 2 * ENGINES);
			over.set(true);
			contenders.forEach((contender) -> Patience.get(contender, "the last round"));
		}
		assertThat(kept).as("holders that outlived a kill").hasPositiveValue();
		HistoryChecker.assertExclusive(History.read(file));
		assertThat(HistoryChecker.regressions(History.read(file))).as("tokens that did not grow").isEmpty();
	}

	private void contendOnce(LockEngine engine, History history, AtomicInteger rounds, AtomicBoolean keeps,
			AtomicInteger kept) {
		try (LockHandle handle = engine.acquire(
				LockRequest.of("k").waitTime(Patience.PATIENCE).fenced(ThreadLocalRandom.current().nextBoolean()))) {
			History.Entry entry = history.acquired(handle);
			rounds.incrementAndGet();
			if (keeps.get()) {
				this.keeping.incrementAndGet();
				Awaitility.await().until(() -> !keeps.get() || !handle.isHeld());
				AtomicReference<String> holder = new AtomicReference<>("");
				Awaitility.await().ignoreExceptions().until(() -> {
					holder.set(this.database.queryForObject("select holders from distributed_lock where lock_key = 'k'",
							String.class));
					return true;
				});
				if (handle.isHeld()) {
					assertThat(holder.get()).contains(handle.owner());
					kept.incrementAndGet();
				}
			}
			entry.end();
		}
		catch (LockException ex) {
			// The next round is another attempt.
		}
	}

	private void loseWhatDoesNotWaitForTheDisk() {
		this.database.execute("alter system set wal_writer_delay = '10s'");
		this.database.queryForList("select pg_reload_conf()");
	}

	// Connections

	/**
	 * Each time a statement has run, and nobody learns whether.
	 */
	@Test
	void connectionsAreCutBeforeTheReply() throws IOException {
		try (CuttingRelay relay = new CuttingRelay(this.server.server.getPort());
				HikariDataSource relayed = pool(this.server.server.getJdbcUrl("postgres", "postgres")
					.replace(":" + this.server.server.getPort() + "/", ":" + relay.port() + "/"))) {
			contend(relayed, 60, (rounds) -> {
				while (relay.cuts.get() < 30 && rounds.get() > 0) {
					int before = relay.replies.get();
					Awaitility.await().until(() -> relay.replies.get() > before + 20 || rounds.get() == 0);
					relay.cutsNext = true;
				}
			});
			assertThat(relay.cuts).hasValueGreaterThan(5);
		}
	}

	/**
	 * Each statement may come to another session of the server.
	 */
	@Test
	void aPoolerLendsSessionsForOneStatement() throws SQLException {
		try (Pooler pooler = new Pooler(this.pool)) {
			contend(pooler, 5, (rounds) -> {
			});
			try (JdbcLockBackend store = backend(pooler)) {
				Listening listening = store.listen("b", new Ear());
				Awaitility.await().ignoreExceptions().until(() -> store.acquireOrRegister(claim("b")).acquired());
				assertThat(listening.hears()).isFalse();
			}
		}
	}

	// Statements

	@Test
	void aRequestThatIsTheVictimOfADeadlockTriesAgain() throws SQLException {
		try (Connection foreign = this.pool.getConnection();
				JdbcLockBackend store = backend(this.pool);
				LockEngine engine = LockEngine.builder(store).build()) {
			JdbcTemplate other = new JdbcTemplate(new SingleConnectionDataSource(foreign, true));
			engine.acquire(LockRequest.of("k")).close();
			// Again where the session of the store has looked for a deadlock too soon.
			Awaitility.await("a deadlock").until(() -> {
				foreign.setAutoCommit(false);
				// The session of the store finds the deadlock first, and is the victim.
				other.execute("set local deadlock_timeout = '5min'");
				other.execute("select * from distributed_lock for update");
				CompletableFuture<Boolean> acquired = CompletableFuture.supplyAsync(() -> {
					try (LockHandle handle = engine.acquire(LockRequest.of("k").waitTime(Patience.PATIENCE))) {
						return handle.isHeld();
					}
				}, this.threads);
				Awaitility.await().until(() -> count("pg_locks where not granted") > 0);
				other.execute("lock table distributed_lock in share row exclusive mode");
				foreign.commit();
				foreign.setAutoCommit(true);
				assertThat(Patience.get(acquired, "the lock")).isTrue();
				return count("pg_stat_database where datname = current_database() and deadlocks > 0") > 0;
			});
		}
		awaitNothingLeft();
	}

	// Contenders

	/**
	 * Disturbs the contenders, and learns how many rounds were done so far; 0 as soon as
	 * all are done.
	 */
	private interface Fault {

		void occur(AtomicInteger rounds);

	}

	private void contend(DataSource connections, int each, Fault fault) {
		AtomicInteger rounds = new AtomicInteger(1);
		Path file = this.directory.resolve("history");
		try (History history = History.write(file)) {
			List<CompletableFuture<Void>> contenders = IntStream.range(0, ENGINES)
				.mapToObj((number) -> CompletableFuture.runAsync(() -> contend(connections, each, history, rounds),
						this.threads))
				.toList();
			CompletableFuture<Void> all = CompletableFuture.allOf(contenders.toArray(CompletableFuture[]::new))
				.whenComplete((nothing, failure) -> rounds.set(0));
			fault.occur(rounds);
			Patience.get(all, "all rounds");
		}
		assertThat(History.read(file)).hasSizeGreaterThanOrEqualTo(ENGINES * each);
		HistoryChecker.assertExclusive(History.read(file));
		awaitNothingLeft();
	}

	private static void contend(DataSource connections, int each, History history, AtomicInteger rounds) {
		try (JdbcLockBackend store = backend(connections);
				LockEngine engine = LockEngine.builder(store).watchdogTimeout(SHORT_LEASE).build()) {
			for (int done = 0; done < each;) {
				try (LockHandle handle = engine.acquire(LockRequest.of("k").waitTime(Patience.PATIENCE))) {
					history.acquired(handle).end();
					done++;
					rounds.incrementAndGet();
				}
				catch (LockException ex) {
					// The next round is another attempt.
				}
			}
		}
	}

	private void awaitNothingLeft() {
		Awaitility.await()
			.ignoreExceptions()
			.until(() -> count("distributed_lock where lock_key <> '" + Statements.MARK + "' and (waiters <> '"
					+ Statements.NOBODY + "' or ends_at > " + Platform.POSTGRESQL.now + ")") == 0);
	}

	private int count(String rows) {
		Integer count = this.database.queryForObject("select count(*) from " + rows, Integer.class);
		return (count != null) ? count : 0;
	}

	private static Claim claim(String instance) {
		return Claim.of("k", instance + ":1", instance, LEASE);
	}

	private static JdbcLockBackend backend(DataSource connections) {
		// The pooler ends no statement: only for a notification is waited so long.
		Duration timeout = (connections instanceof Pooler) ? Duration.ofMillis(500) : Patience.COMMAND;
		JdbcLockBackend backend = new JdbcLockBackend(connections, JdbcLockSettings.defaults().commandTimeout(timeout));
		Awaitility.await().ignoreExceptions().until(() -> {
			backend.check();
			return true;
		});
		return backend;
	}

	private static HikariDataSource pool(String url) {
		HikariDataSource pool = new HikariDataSource();
		pool.setJdbcUrl(url);
		pool.setMinimumIdle(1);
		return pool;
	}

	/**
	 * Passes bytes between clients and a server, and now and then ends a connection in
	 * place of a reply.
	 */
	private static final class CuttingRelay implements AutoCloseable {

		private final ServerSocket door = new ServerSocket(0, 50, InetAddress.getLoopbackAddress());

		private final List<Socket> sockets = new ArrayList<>();

		private final AtomicInteger replies = new AtomicInteger();

		private final AtomicInteger cuts = new AtomicInteger();

		private volatile boolean cutsNext;

		CuttingRelay(int server) throws IOException {
			run(() -> {
				while (true) {
					Socket client = open(this.door.accept());
					Socket to = open(new Socket(InetAddress.getLoopbackAddress(), server));
					run(() -> pass(client, to, false));
					run(() -> pass(to, client, true));
				}
			});
		}

		private interface Task {

			void run() throws IOException;

		}

		private static void run(Task task) {
			Thread thread = new Thread(() -> {
				try {
					task.run();
				}
				catch (IOException ex) {
					// Closed.
				}
			}, "cutting-relay");
			thread.setDaemon(true);
			thread.start();
		}

		private synchronized Socket open(Socket socket) {
			this.sockets.add(socket);
			return socket;
		}

		private void pass(Socket from, Socket to, boolean replies) throws IOException {
			try (from; to) {
				InputStream in = from.getInputStream();
				OutputStream out = to.getOutputStream();
				byte[] bytes = new byte[8192];
				for (int count = in.read(bytes); count >= 0; count = in.read(bytes)) {
					if (replies) {
						this.replies.incrementAndGet();
						if (this.cutsNext) {
							this.cutsNext = false;
							this.cuts.incrementAndGet();
							return;
						}
					}
					out.write(bytes, 0, count);
				}
			}
		}

		int port() {
			return this.door.getLocalPort();
		}

		@Override
		public synchronized void close() throws IOException {
			this.door.close();
			for (Socket socket : this.sockets) {
				socket.close();
			}
		}

	}

	/**
	 * Connections of which each transaction goes to another session: a single statement
	 * to the next of a few. As a real pooler does, this one opens a session anew that the
	 * server has ended, and ends the transaction of a client that leaves. On a busy
	 * machine the store has sessions ended whose statements come too late.
	 */
	private static final class Pooler extends DelegatingDataSource implements AutoCloseable {

		private final List<Connection> sessions = new ArrayList<>();

		private int next;

		Pooler(DataSource server) throws SQLException {
			super(server);
			for (int i = 0; i < 8; i++) {
				this.sessions.add(server.getConnection());
			}
		}

		@Override
		public Connection getConnection() {
			AtomicReference<Connection> transaction = new AtomicReference<>();
			return (Connection) Proxy.newProxyInstance(getClass().getClassLoader(), new Class<?>[] { Connection.class },
					(proxy, method, arguments) -> switch (method.getName()) {
						case "setNetworkTimeout" -> null;
						case "close", "abort", "setAutoCommit" -> {
							boolean ends = !"setAutoCommit".equals(method.getName()) || (Boolean) arguments[0];
							Connection before = transaction.getAndSet(ends ? null : super.getConnection());
							if (before != null) {
								before.close();
							}
							if (!ends) {
								transaction.get().setAutoCommit(false);
							}
							yield null;
						}
						default -> {
							Connection session = (transaction.get() != null) ? transaction.get() : next();
							synchronized (session) {
								try {
									yield method.invoke(session, arguments);
								}
								catch (InvocationTargetException ex) {
									throw ex.getCause();
								}
							}
						}
					});
		}

		private synchronized Connection next() throws SQLException {
			int next = this.next++ % this.sessions.size();
			if (this.sessions.get(next).isClosed()) {
				this.sessions.set(next, super.getConnection());
			}
			return this.sessions.get(next);
		}

		@Override
		public void close() throws SQLException {
			for (Connection session : this.sessions) {
				session.close();
			}
		}

	}

}
