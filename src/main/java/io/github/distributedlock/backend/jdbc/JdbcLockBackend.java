package io.github.distributedlock.backend.jdbc;

import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.stream.Collectors;

import javax.sql.DataSource;

import io.github.distributedlock.LockBackendException;
import io.github.distributedlock.LockException;
import io.github.distributedlock.LockStatus;
import io.github.distributedlock.backend.AcquireResult;
import io.github.distributedlock.backend.Claim;
import io.github.distributedlock.backend.LockBackend;
import io.github.distributedlock.backend.LockFeature;
import io.github.distributedlock.backend.ReleaseListener;
import io.github.distributedlock.backend.Waiter;
import org.jspecify.annotations.Nullable;

public final class JdbcLockBackend implements LockBackend {

	static final Duration LONGEST_POLL = Duration.ofMillis(500);

	private static final int MOST_ATTEMPTS = 100;

	private static final int LONGEST_KEY = 1000;

	private static final Set<LockFeature> FEATURES = Set.of(LockFeature.FENCING, LockFeature.INSPECTION,
			LockFeature.PLACES, LockFeature.HAND_OVER);

	private final JdbcLockSettings settings;

	private final Connections connections;

	public JdbcLockBackend(DataSource dataSource, JdbcLockSettings settings) {
		this.settings = Objects.requireNonNull(settings, "settings");
		this.connections = new Connections(dataSource, settings);
	}

	@Override
	public Set<LockFeature> features() {
		return FEATURES;
	}

	@Override
	public void check() {
		this.connections.run("use the table " + this.settings.table(), (session) -> {
			for (String probe : session.sql().probes()) {
				session.execute(probe);
			}
			return true;
		});
	}

	@Override
	public AcquireResult acquire(Claim claim) {
		return attempt("acquire", claim, false);
	}

	@Override
	public AcquireResult acquireOrRegister(Claim claim) {
		return attempt("acquire", claim, true);
	}

	private AcquireResult attempt(String name, Claim claim, boolean registers) {
		String key = checked(claim.key());
		return this.connections.run(name(name, key), (session) -> {
			if (!registers && !claim.fenced() && session.acquire(claim)) {
				return AcquireResult.ACQUIRED;
			}
			return step(session, key, (row) -> acquire(row, claim, registers)).answer(claim);
		});
	}

	private static Row acquire(Row row, Claim claim, boolean registers) {
		return row.lets(claim) ? row.acquire(claim) : registers ? row.register(claim.instance()) : row;
	}

	@Override
	public boolean release(String key, String owner) {
		checked(key);
		return this.connections.run(name("release", key), (session) -> {
			if (session.release(key, owner)) {
				return true;
			}
			boolean[] owned = new boolean[1];
			step(session, key, (row) -> {
				owned[0] = row.isOwnedBy(owner);
				return row.release(owner);
			});
			return owned[0];
		});
	}

	@Override
	public boolean leaveToExpire(String key, String owner, Duration rest) {
		return this.connections.run(name("leave", key), (session) -> session.leaveToExpire(checked(key), owner, rest));
	}

	@Override
	public List<Boolean> renew(List<Renewal> renewals) {
		Map<Duration, List<Renewal>> leases = renewals.stream()
			.collect(Collectors.groupingBy(Renewal::lease, LinkedHashMap::new, Collectors.toList()));
		Map<Renewal, Boolean> owned = new HashMap<>();
		this.connections.run("renew " + renewals.size() + " locks", (session) -> {
			for (Map.Entry<Duration, List<Renewal>> lease : leases.entrySet()) {
				List<Boolean> answers = session.renew(lease.getValue(), lease.getKey());
				for (int i = 0; i < answers.size(); i++) {
					owned.put(lease.getValue().get(i), answers.get(i));
				}
			}
			return true;
		});
		return renewals.stream().map(owned::get).toList();
	}

	@Override
	public void withdraw(String key, Waiter waiter, Set<String> owners) {
		this.connections.run(name("withdraw from", key),
				(session) -> step(session, checked(key), (row) -> row.withdraw(waiter.instance())));
	}

	@Override
	public HandOverResult pass(String owner, Claim next, boolean yields) {
		String key = checked(next.key());
		return this.connections.run(name("pass on", key), (session) -> {
			boolean[] owned = new boolean[1];
			Row row = step(session, key, (before) -> {
				owned[0] = before.isOwnedBy(owner);
				return acquire(before.pass(owner, next, yields), next, true);
			});
			return HandOverResult.of(owned[0], row.answer(next));
		});
	}

	@Override
	public LockStatus inspect(String key) {
		return this.connections.run(name("inspect", key), (session) -> session.read(checked(key)).describe(key));
	}

	interface Change {

		Row apply(Row row);

	}

	/**
	 * Changes a row, unless another one has changed it meanwhile: then again.
	 * @return the row as it is now
	 */
	private static Row step(Session session, String key, Change change) throws java.sql.SQLException {
		for (int attempt = 0; attempt < MOST_ATTEMPTS; attempt++) {
			Row before = session.read(key);
			Row after = change.apply(before);
			if (after.equals(before) || session.write(key, before, after)) {
				return after;
			}
		}
		throw LockBackendException.of("Row changes all the time").retryable(true).notCarriedOut(true).build();
	}

	private static String name(String step, String key) {
		return step + " lock '" + LockException.printable(key) + "'";
	}

	private static String checked(String key) {
		int length = key.getBytes(StandardCharsets.UTF_8).length;
		if (length > LONGEST_KEY) {
			throw new IllegalArgumentException("too long");
		}
		return key;
	}

}
