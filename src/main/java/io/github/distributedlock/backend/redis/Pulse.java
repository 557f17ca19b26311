package io.github.distributedlock.backend.redis;

import java.util.concurrent.TimeUnit;
import java.util.function.LongSupplier;

import io.github.distributedlock.LockBackendException;
import io.github.distributedlock.backend.redis.internal.Command;
import io.github.distributedlock.backend.redis.internal.Command.Verb;
import io.github.distributedlock.backend.redis.internal.Lane;
import io.github.distributedlock.backend.redis.internal.RedisFailures;
import io.github.distributedlock.backend.redis.internal.RedisRefusal;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Finds out whether a subscription is at the server that commands go to, and alive. After
 * a failover behind a name, the commands follow the name, and a subscription to a server
 * that lives on stays there.
 * <p>
 * Once a second, while requests wait, a command publishes a number on the channel of the
 * subscription. A single server answers how many clients have subscribed there. That
 * answer is necessary, since subscribers of a replica hear the number as well. A node of
 * a cluster counts only its own subscribers, so there the number has to be heard. A
 * subscription that has heard none of three numbers is dead or elsewhere. A number counts
 * once a server has answered the publication: a number that a stalled master never
 * published says nothing about the subscription.
 * <p>
 * A number goes to the node of the registration that follows, so that no other node that
 * stalls delays the registration.
 * <p>
 * Safe for use by many threads.
 */
final class Pulse {

	private static final Logger logger = LoggerFactory.getLogger(Pulse.class);

	private static final long PERIOD_NANOS = TimeUnit.SECONDS.toNanos(1);

	private static final int UNHEARD = 3;

	/**
	 * The beginning of each message of a pulse. The name of no waiter begins like this.
	 */
	private static final String PREFIX = "pulse: ";

	private final Lane commands;

	private final boolean cluster;

	private final String channel;

	private final LongSupplier nanoTime;

	/** How often the server has acknowledged a subscription. */
	private long subscriptions;

	private long sent;

	/** The last number that was heard, or that was given up. */
	private long heard;

	/**
	 * How many numbers were published since the last heard number, as far as servers have
	 * answered.
	 */
	private int unheard;

	/**
	 * {@code true} if the present subscription is known to be at the server of the
	 * commands.
	 */
	private boolean proven;

	private long sentAt;

	/**
	 * Creates a pulse. Sends nothing.
	 * @param commands the lane of the commands
	 * @param cluster whether the commands go to a cluster
	 * @param channel the channel of the subscription
	 */
	Pulse(Lane commands, boolean cluster, String channel, LongSupplier nanoTime) {
		this.commands = commands;
		this.cluster = cluster;
		this.channel = channel;
		this.nanoTime = nanoTime;
	}

	/**
	 * Begins anew, since the server has acknowledged a new subscription.
	 * @param doubted whether the next number is due at once
	 */
	synchronized void subscribed(boolean doubted) {
		this.subscriptions++;
		this.heard = this.sent;
		this.unheard = 0;
		this.proven = false;
		this.sentAt = this.nanoTime.getAsLong() - (doubted ? PERIOD_NANOS : 0);
	}

	/**
	 * Takes a message that is a number.
	 * @return {@code false} if the message is no number of a pulse
	 */
	boolean takes(String message) {
		if (!message.startsWith(PREFIX)) {
			return false;
		}
		try {
			heard(Long.parseLong(message.substring(PREFIX.length())));
		}
		catch (NumberFormatException ex) {
			logger.debug("Ignored a pulse that somebody else has published", ex);
		}
		return true;
	}

	private synchronized void heard(long number) {
		if (number > this.heard && number <= this.sent) {
			this.heard = number;
			this.unheard = 0;
			this.proven |= this.cluster;
		}
	}

	/**
	 * Returns whether the present subscription is known to be at the server of the
	 * commands.
	 */
	synchronized boolean isProven() {
		return this.proven;
	}

	/**
	 * Publishes the next number if the number is due, and waits for the answer of the
	 * server.
	 * @param key a key of the node that is to publish the number
	 * @return why the subscription is of no use, {@code null} if no fault is known
	 * @throws LockBackendException if the server did not answer in time
	 */
	@Nullable String check(byte[] key) {
		long subscription;
		long number;
		synchronized (this) {
			long now = this.nanoTime.getAsLong();
			if (now - this.sentAt < PERIOD_NANOS) {
				return null;
			}
			if (this.unheard >= UNHEARD) {
				this.heard = this.sent;
				this.unheard = 0;
				return "nothing that commands publish arrives by the subscription, so it begins anew";
			}
			this.sentAt = now;
			number = ++this.sent;
			subscription = this.subscriptions;
		}
		Long subscribers = publish(key, number);
		return (subscribers != null) ? answered(number, subscribers, subscription) : null;
	}

	private synchronized @Nullable String answered(long number, long subscribers, long subscription) {
		if (subscription != this.subscriptions) {
			return null;
		}
		if (number > this.heard) {
			this.unheard++;
		}
		if (this.cluster || subscribers < 0) {
			return null;
		}
		this.proven = subscribers > 0;
		return this.proven ? null : "the subscription is at another server than the commands, so it begins anew";
	}

	/**
	 * Publishes a number.
	 * @return how many subscribers the server has told, negative if the server has
	 * refused; {@code null} if the server gave no answer
	 */
	private @Nullable Long publish(byte[] key, long number) {
		Command command = Command.at(key, Verb.PUBLISH, this.channel, PREFIX + number);
		try {
			return this.commands.run((link) -> link.number(command));
		}
		catch (RuntimeException ex) {
			if (RedisFailures.isTimeout(ex)) {
				throw LockBackendException
					.of("Redis was not asked, since it has not answered within the command timeout")
					.retryable(true)
					.withoutEffect(true)
					.cause(ex)
					.build();
			}
			logger.debug("Could not find out where the subscription is", ex);
			return (RedisRefusal.NOPERM.isIn(ex) || RedisRefusal.isError(ex)) ? -1L : null;
		}
	}

}
