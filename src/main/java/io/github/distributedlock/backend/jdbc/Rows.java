package io.github.distributedlock.backend.jdbc;

import java.io.Serial;
import java.sql.SQLException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.Function;
import java.util.stream.Collectors;

import io.github.distributedlock.LockBackendException;
import io.github.distributedlock.LockMode;
import io.github.distributedlock.backend.AcquireResult;
import io.github.distributedlock.backend.Claim;
import io.github.distributedlock.backend.Holder.State;
import io.github.distributedlock.backend.KeyState;
import io.github.distributedlock.backend.OptimisticLockBackend;
import io.github.distributedlock.backend.ReleaseNotification;
import org.jspecify.annotations.Nullable;

/**
 * The steps on the rows of the table, on one connection. One statement takes a free key,
 * renews exclusive leases or leaves one to expire, or releases a key that its owner has
 * alone and nobody waits for; on PostgreSQL the release also grants the key to the oldest
 * waiter. Any other step reads a row, and writes the row if nobody has changed the row
 * since. Confined to one thread.
 */
final class Rows extends OptimisticLockBackend {

	/**
	 * How often a waiter asks at least.
	 */
	static final Duration LONGEST_POLL = Duration.ofMillis(750);

	/**
	 * How long a key is reserved: longer than a waiter pauses, so that a waiter that is
	 * not notified comes in time. A waiter that has died costs other waiters this time.
	 */
	private static final Duration RESERVATION = LONGEST_POLL.plusMillis(100);

	/**
	 * How long a question that asks for the same again is not written. With a pulse as
	 * long as a pause, every second question of a waiter is written at least, and every
	 * question where keys are granted. So 100 requests of a JVM that wait for a key make
	 * 3 statements a second, and the last sign of life of a waiter is 1.5 s old at most,
	 * and the last claim 750 ms.
	 */
	private static final Duration PULSE = LONGEST_POLL;

	/**
	 * After how long a silent waiter has died. The value leaves a waiter 500 ms for a
	 * garbage collection or a slow answer. A key is granted to a dead waiter for 1.25 s
	 * after the last question at most.
	 */
	static final Duration SILENCE = Duration.ofSeconds(2);

	/**
	 * The SQLState of a failure after which nobody knows what was carried out.
	 */
	private static final String MAY_BE_CARRIED_OUT = "40003";

	private final Session session;

	/**
	 * The row as read just before a step, which that step need not read again.
	 */
	private @Nullable Read known;

	private Rows(Session session) {
		super(RESERVATION, SILENCE, PULSE);
		this.session = session;
	}

	private static final class Failure extends RuntimeException {

		@Serial
		private static final long serialVersionUID = 1L;

		private final SQLException failure;

		Failure(SQLException failure) {
			super(null, failure, false, false);
			this.failure = failure;
		}

	}

	/**
	 * Runs a step.
	 */
	static <T extends @Nullable Object> T run(Session session, Function<Rows, T> step) throws SQLException {
		try {
			return step.apply(new Rows(session));
		}
		catch (Failure ex) {
			throw ex.failure;
		}
	}

	private <T extends @Nullable Object> T run(Connections.Step<T> statement) {
		try {
			return statement.run(this.session);
		}
		catch (SQLException ex) {
			throw new Failure(ex);
		}
	}

	@Override
	protected Read read(String key) {
		Read read = this.known;
		this.known = null;
		return (read != null) ? read : run((session) -> session.read(key));
	}

	@Override
	protected boolean write(String key, Read before, KeyState after) {
		return run((session) -> session.write(key, before, after));
	}

	@Override
	protected void send(ReleaseNotification notification) {
		if (this.session.sql().platform == Platform.POSTGRESQL) {
			this.session.send(notification);
		}
	}

	@Override
	public AcquireResult acquire(Claim claim) {
		boolean alone = claim.features().isEmpty();
		return (alone && run((session) -> session.acquire(claim))) ? AcquireResult.ACQUIRED : super.acquire(claim);
	}

	@Override
	public boolean release(String key, String owner) {
		try {
			run((session) -> {
				this.known = session.releaseOrRead(key, owner);
				return true;
			});
		}
		catch (IllegalArgumentException ex) {
			return super.release(key, owner); // This call fails with the right message.
		}
		return this.known == null || super.release(key, owner);
	}

	@Override
	public boolean leaveToExpire(String key, String owner, Duration rest) {
		return run((session) -> session.leaveToExpire(key, owner, rest)) || super.leaveToExpire(key, owner, rest);
	}

	/**
	 * Renews leases. Reads the rows afterwards, since the number of changed rows does not
	 * tell which rows were changed, and not every driver knows that number.
	 * @param renewals renewals of the same lease
	 */
	@Override
	public List<Boolean> renew(List<Renewal> renewals) {
		List<Renewal> alone = renewals.stream().filter((each) -> each.mode() == LockMode.EXCLUSIVE).toList();
		run((session) -> {
			if (!alone.isEmpty()) {
				session.renew(alone, alone.get(0).lease());
			}
			return true;
		});
		try {
			return readOrRenew(renewals);
		}
		catch (Failure ex) {
			throw new Failure(new SQLException(ex.failure.getMessage(), MAY_BE_CARRIED_OUT, ex.failure));
		}
		catch (LockBackendException ex) {
			throw new Failure(new SQLException(ex.getMessage(), MAY_BE_CARRIED_OUT, ex));
		}
	}

	private List<Boolean> readOrRenew(List<Renewal> renewals) {
		Set<String> keys = renewals.stream().map(Renewal::key).collect(Collectors.toSet());
		Map<String, Read> reads = run((session) -> session.readAll(keys));
		Map<String, Read> unchanged = new HashMap<>(reads);
		List<Boolean> renewed = new ArrayList<>(renewals.size());
		for (Renewal renewal : renewals) {
			Read read = reads.get(renewal.key());
			if (read == null) {
				renewed.add(false);
			}
			else if (renewal.mode() == LockMode.EXCLUSIVE
					&& read.state().holders().equals(KeyState.exclusiveHolder(renewal.owner(), State.OWNER))) {
				renewed.add(read.state().end() > read.now());
			}
			else {
				this.known = unchanged.remove(renewal.key());
				renewed.addAll(super.renew(List.of(renewal)));
			}
		}
		return renewed;
	}

}
