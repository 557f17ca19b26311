package io.github.distributedlock.backend.redis.connection;

import java.util.Objects;
import java.util.concurrent.TimeUnit;

import io.github.distributedlock.backend.redis.connection.JedisLane.Loan;
import io.github.distributedlock.backend.redis.wire.Command;
import io.github.distributedlock.backend.redis.wire.RedisRefusal;
import org.jspecify.annotations.Nullable;
import redis.clients.jedis.Connection;
import redis.clients.jedis.exceptions.JedisDataException;
import redis.clients.jedis.exceptions.JedisException;

/**
 * A connection that is borrowed from a pool for a long time.
 * <p>
 * States: none; borrowed. It goes back when it fails, when the server says that it is no
 * master any more, when the pool was replaced or leads to another master now, when it was
 * idle for so long that something on the way may have forgotten it, and when it was idle
 * and does not answer any more.
 */
final class JedisWire implements Wire {

	/** After that it is asked whether it is still there, which takes a round trip. */
	private static final long RESTED_NANOS = TimeUnit.SECONDS.toNanos(1);

	private final JedisLane pool;

	private @Nullable Loan loan;

	private long usedAt;

	private boolean refused;

	JedisWire(JedisLane pool) {
		this.pool = pool;
	}

	@Override
	public void open(long deadline) {
		tidy();
		if (this.loan != null && System.nanoTime() - this.usedAt > RESTED_NANOS && !answers(deadline)) {
			abandon();
		}
		if (this.loan == null) {
			this.loan = this.pool.borrow(deadline - System.nanoTime());
			this.refused = false;
			this.usedAt = System.nanoTime();
		}
	}

	// What the server, or something on the way, closed meanwhile shows only when it is
	// used, and a command must not be sent twice. Half of the time is left for another.
	private boolean answers(long deadline) {
		Connection connection = link().connection();
		try {
			limit(connection, (deadline - System.nanoTime()) / 2);
			return connection.ping();
		}
		catch (JedisDataException ex) {
			return true; // Also if the user may not ask.
		}
		catch (JedisException ex) {
			return false;
		}
	}

	@Override
	public void send(Command command) {
		link().send(command);
	}

	@Override
	public @Nullable Object receive(long deadline) {
		JedisLink link = link();
		limit(link.connection(), deadline - System.nanoTime());
		Object reply = link.receive();
		this.refused |= reply instanceof RuntimeException error && RedisRefusal.READONLY.isIn(error);
		return reply;
	}

	// As seldom as possible: in a batch, only a reply that takes its time changes it.
	private static void limit(Connection connection, long nanosLeft) {
		int millis = (int) Math.max(1, TimeUnit.NANOSECONDS.toMillis(nanosLeft + 999_999));
		if (connection.getSoTimeout() != millis) {
			connection.setSoTimeout(millis);
		}
	}

	@Override
	public boolean answered() {
		Loan loan = loan();
		loan.prove();
		this.usedAt = System.nanoTime();
		if (this.refused) {
			abandon();
		}
		return !this.refused && this.pool.isCurrent(loan);
	}

	@Override
	public void abandon() {
		Loan loan = loan();
		this.loan = null;
		this.pool.giveBackBroken(loan);
	}

	@Override
	public void tidy() {
		Loan loan = this.loan;
		if (loan != null
				&& (!this.pool.isCurrent(loan) || System.nanoTime() - this.usedAt > JedisClient.IDLE.toNanos())) {
			this.loan = null;
			this.pool.drop(loan);
		}
	}

	private JedisLink link() {
		return loan().link();
	}

	private Loan loan() {
		return Objects.requireNonNull(this.loan);
	}

}
